import { maybe, tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { local, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { choice, flag, integer } from '../../contract/field.ts';
import { ADMIN_OPERATIONS, DATA_SETS } from '../../contract/sandbox/admin.ts';
import { DIALECT_NAMES } from '../../contract/sandbox/faults.ts';
import { CliError } from '../../core/errors.ts';
import { sizeFor } from './load-size.ts';
import { openPage } from './opening.ts';
import {
  SERVER_COLUMNS,
  SERVER_ROW,
  SHARED_ROW,
  serverPairs,
  serverVariables,
  TAKE_SERVER,
  UNSET_SERVER,
} from './server.ts';
import { refuseShared, sharedOptions } from './shared-options.ts';
import { spokenDialect } from './spoken.ts';

const ours = (doc: string) => ({ doc, basis: OURS });

/** Serves the sandbox's store to other programs, until it is stopped. */
export const startSandbox = command({
  path: 'sandbox start',
  summary: 'Serve the sandbox to other programs, with timers and webhooks',
  effect: 'reversible',
  reach: 'service',
  ends: {
    unreachable: 'The port is taken, it did not start, or with --open no browser could be started.',
    wait_expired: 'With --open and --detach: no browser used the address within a minute. The sandbox is started.',
    check_failed: 'Files or books are not whole; nothing is served.',
  },
  answers: {
    either: [
      { one: { ...SERVER_ROW, log: maybe(tells.text('File of its log, with --detach.')) } },
      { one: SHARED_ROW },
    ],
  },
  about: [
    'Listens only on 127.0.0.1, with --ipv6 also on ::1. Serves the same store as --sandbox; both can be used at the same time. Files and ledger are checked first; a damaged store is not served (exit 15).',
    `Address and key for other programs of a shell: ${TAKE_SERVER}. After sandbox stop: ${UNSET_SERVER}. The key is in a file that only you can read, and stays the same at every start. The address stays the same with --port.`,
    'With --store it serves the accounts of a PostgreSQL database in place of the one on this machine, beside any number of other servers of it. Accounts and their keys: cardwright sandbox accounts create. The control surface is served with --admin alone. A password for the database is read from the file that CARDWRIGHT_STORE_PASSWORD_FILE names.',
    'Runs in the foreground until Ctrl-C, SIGTERM or sandbox stop, and finishes running requests before it ends. With --detach it runs in the background.',
  ],
  flags: {
    port: option(integer({ ...ours('Port of 127.0.0.1; 0 for any free one.'), min: 0, max: 65_535, defaults: 0 })),
    ipv6: option(flag(ours('Listen on the same port of ::1 too.'))),
    detach: option(flag(ours('Serve from a background process; return when it is ready.'))),
    dialect: option(choice(DIALECT_NAMES, ours('Speak like another service, to test against its answers.'))),
    seed: option(integer({ ...ours('Seed of ids, card numbers and codes, for a new store.'), min: 0 })),
    data: option(choice(DATA_SETS, { ...ours('Data set for a new store.'), defaults: 'demo' })),
    cards: option(ADMIN_OPERATIONS.reset.body.cards),
    transactions: option(ADMIN_OPERATIONS.reset.body.transactions),
    open: option(flag(ours('Open the inspector in a browser too.'))),
    readyFile: option(local('file', 'File for the address (one line) while it serves.'), '<file>'),
    noRateLimits: option(flag(ours('Do not limit the number of requests a minute.'))),
    virtualLimits: option(flag(ours('Count rate limits on the clock of the sandbox.'))),
    store: option(local('address', 'Address of a database whose accounts to serve.'), '<postgres-url>'),
    migrate: option(flag(ours('With --store: make or change the tables of the database where that is needed.'))),
    admin: option(flag(ours('With --store: serve the control surface of each account, for its admin token.'))),
    bind: option(local('address', 'With --store and --behind-proxy: listen on this address.'), '<address>'),
    behindProxy: option(
      local('address', 'With --store: the host by which clients name the TLS proxy in front.'),
      '<host>',
    ),
    allowRemoteWebhooks: option(flag(ours('Send webhooks to other machines too, over https.'))),
  },
  examples: [
    { does: 'Until Ctrl-C', run: 'sandbox start --port 4010' },
    { does: 'In the background, for this shell', run: 'sandbox start --detach -o env' },
    { does: 'In the background, and look at it', run: 'sandbox start --detach --open' },
    {
      does: 'Accounts of a team, from a database of this machine',
      run: 'sandbox start --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox --migrate --port 4010',
    },
  ],
  async run(ctx, { detach, open, virtualLimits = false, allowRemoteWebhooks = false, ...asked }) {
    const { noRateLimits = false, cards, transactions, ...rest } = asked;
    if (ctx.dryRun) throw usage('sandbox start sends nothing; it has no dry run');
    if (rest.store !== undefined) {
      const shared = sharedOptions({ ...asked, detach, open });
      const { row, serve } = await ctx.servers.startShared({
        ...shared,
        rateLimits: !noRateLimits,
        virtualLimits,
        allowRemoteWebhooks,
      });
      return { row, log: undefined, goesOn: serve };
    }
    refuseShared(asked);
    if (noRateLimits && virtualLimits) throw usage('--no-rate-limits and --virtual-limits exclude each other');
    const size = sizeFor(rest.data, { cards, transactions });
    const dialect = spokenDialect(ctx.env, rest.dialect);
    const options = { ...rest, dialect, size, rateLimits: !noRateLimits, virtualLimits, allowRemoteWebhooks };
    if (detach) {
      const { log, ...row } = await ctx.servers.detach(options);
      if (open) await (await openStarted(ctx)).redeemed;
      return { row, log, goesOn: undefined };
    }
    const { row, serve } = await ctx.servers.start(options);
    // Whoever serves is not ended by a browser that nobody looks at.
    if (open) (await openStarted(ctx)).redeemed.catch((error: unknown) => ctx.notice((error as Error).message));
    return { row, log: undefined, goesOn: serve };
  },
  show: ({ row, log, goesOn }) => ({
    data: { ...row, ...(log !== undefined && { log }) },
    noun: 'server',
    idField: 'url',
    columns: SERVER_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: [...serverPairs(row), ...(log === undefined ? [] : [['Log', log] as const])] }],
    notes: [
      ...(row.api_key_file === undefined ? [] : [`For other programs: ${TAKE_SERVER}`]),
      goesOn === undefined
        ? `Stop it with cardwright sandbox stop. In a shell where you set its variables: ${UNSET_SERVER}`
        : 'Ctrl-C ends it.',
    ],
    variables: () => serverVariables(row),
    ...(goesOn !== undefined && { goesOn }),
  }),
});

async function openStarted(ctx: Context) {
  const admin = await ctx.servers.control();
  if (admin !== undefined) return openPage(ctx, admin, { access: 'full', place: '/' });
  throw new CliError('unreachable', {
    message: 'the sandbox ended before its page could be opened',
    hint: 'cardwright sandbox start --open',
    outcome: 'not_sent',
  });
}
