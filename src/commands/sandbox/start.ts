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
    'With --accounts it serves many sandboxes in place of the one on this machine, each in a file below that folder. An account is made when somebody first opens it with the token of the file DIR/admin-token: cardwright sandbox account NAME. Beyond this machine such a server stands behind your own TLS proxy: --bind and --behind-proxy.',
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
    accounts: option(local('folder', 'Folder of accounts to serve; made when missing.'), '<dir>'),
    bind: option(local('address', 'With --accounts and --behind-proxy: listen on this address.'), '<address>'),
    behindProxy: option(local('address', 'With --accounts: the host by which clients name the TLS proxy.'), '<host>'),
    allowRemoteWebhooks: option(flag(ours('Send webhooks to other machines too, over https.'))),
  },
  examples: [
    { does: 'Until Ctrl-C', run: 'sandbox start --port 4010' },
    { does: 'In the background, for this shell', run: 'sandbox start --detach -o env' },
    { does: 'In the background, and look at it', run: 'sandbox start --detach --open' },
    {
      does: 'Accounts of a team',
      run: 'sandbox start --accounts accounts --port 4010',
    },
  ],
  async run(ctx, { detach, open, virtualLimits = false, allowRemoteWebhooks = false, ...asked }) {
    const { noRateLimits = false, cards, transactions, ...rest } = asked;
    if (ctx.dryRun) throw usage('sandbox start sends nothing; it has no dry run');
    if (noRateLimits && virtualLimits) throw usage('--no-rate-limits and --virtual-limits exclude each other');
    const { accounts, bind, behindProxy, ...own } = rest;
    if (accounts !== undefined) {
      const options = { accounts, port: own.port, behind: proxyOf(bind, behindProxy) };
      refuseBeside({ ...own, cards, transactions, detach, open });
      const limits = { rateLimits: !noRateLimits, virtualLimits, allowRemoteWebhooks };
      const { row, serve } = await ctx.servers.startAccounts({ ...options, ...limits });
      return { row, log: undefined, goesOn: serve };
    }
    if ((bind ?? behindProxy) !== undefined) throw usage('--bind and --behind-proxy are for a server with --accounts');
    const size = sizeFor(own.data, { cards, transactions });
    const dialect = spokenDialect(ctx.env, own.dialect);
    const options = { ...own, dialect, size, rateLimits: !noRateLimits, virtualLimits, allowRemoteWebhooks };
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

/** A host as clients send it, perhaps with a port. */
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/;

/** Throws `usage` for one without the other, and for what is no host. */
function proxyOf(bind: string | undefined, host: string | undefined) {
  if (bind === undefined && host === undefined) return undefined;
  if (bind === undefined || host === undefined) throw usage('--bind and --behind-proxy come together');
  if (HOST.test(host)) return { bind, host };
  throw usage(`--behind-proxy: ${JSON.stringify(host)} is not a host such as sandbox.example.com`);
}

/** Throws `usage` for what is of the store of this machine. */
function refuseBeside({ port: _port, data, ...own }: Readonly<Record<string, unknown>>): void {
  const given = Object.entries(own).find(([, value]) => value !== undefined && value !== false);
  // What has a default is given by nobody.
  const name = given?.[0] ?? (data === undefined || data === 'demo' ? undefined : 'data');
  if (name === undefined) return;
  const flag = `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
  throw usage(`${flag} does not go with --accounts`, 'cardwright sandbox start --help');
}
