/** A sandbox that serves other programs: started, stopped, looked at, reset. */

import type { Context, ServerRow } from '../../cli/context.ts';
import { columnsOf, countOf } from '../../cli/listing.ts';
import { type FlagValues, local, maybe, option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import type { ResultOf } from '../../contract/operation.ts';
import {
  ADMIN_OPERATIONS,
  type AdminOperations,
  DATA_SETS,
  type DataSet,
  type LoadSize,
} from '../../contract/sandbox/admin.ts';
import { DIALECT_NAMES, type DialectName } from '../../contract/sandbox/faults.ts';
import { violation } from '../../contract/violation.ts';
import { CliError, notSent, usage } from '../../core/errors.ts';
import { lineBlock } from '../../terminal/view.ts';
import { adminCommand, command } from './admin.ts';
import { openPage } from './open.ts';

/** With these two every command, and every program that reads them, speaks to the server. */
function serverVariables({ url, api_key_file }: ServerRow): Readonly<Record<string, string>> {
  return {
    CARDWRIGHT_BASE_URL: url,
    ...(api_key_file !== undefined && { CARDWRIGHT_API_KEY_FILE: api_key_file }),
  };
}

/** Gives a shell what `serverVariables` holds; ends with a failure where no server is started. */
const TAKE_SERVER = 'vars=$(cardwright sandbox status -o env) && set -a && eval "$vars" && set +a';
/** Takes it away again. */
const UNSET_SERVER = 'unset CARDWRIGHT_BASE_URL CARDWRIGHT_API_KEY_FILE';

/** A server as data. */
const SERVER_ROW = {
  url: tells.text('Address, with the version segment.'),
  pid: tells.count('Process that serves.'),
  started_at: tells.time('When it began.'),
  store: tells.text('Path of the store it serves.'),
  api_key_file: tells.text('File that holds its key.'),
} as const;

const LOG = maybe(tells.text('File of its log, with --detach.'));

const SERVER_COLUMNS = columnsOf({ ...SERVER_ROW, log: LOG }, 'url pid started_at:2 store:2 api_key_file:2 log:3', {
  url: 'ADDRESS',
  api_key_file: { title: 'KEY FILE', unlessEmpty: true },
  log: { screenOnly: true, unlessEmpty: true },
});

/** A server of many accounts as data: each has a key of its own. */
const { api_key_file: _, ...SHARED_ROW } = SERVER_ROW;

type SandboxStatus = ResultOf<AdminOperations['status']>;

const STATUS = {
  ...ADMIN_OPERATIONS.status.returns.shape,
  server: orNull(tells.object(SERVER_ROW, 'The one that serves other programs, if any.')),
} as const;

const STATUS_COLUMNS = columnsOf(
  STATUS,
  'store data_set:2 now:2 bins:3 cards:2 transactions:2 webhooks:3 events:3 wallet_balance ledger_ok server.url server.pid',
  {
    ...{ now: { kind: 'text' }, data_set: 'DATA', wallet_balance: 'WALLET', ledger_ok: 'LEDGER' },
    'server.url': { programOnly: true },
    'server.pid': { programOnly: true },
  },
);

/** What makes a look at it fail. What a timer that failed should have done is not done, and nothing else waits for it. */
function failureOf({ timers_parked, ledger_ok, ledger_faults }: SandboxStatus): CliError | undefined {
  const parked = (timers_parked ?? []).map(each => `${each.kind} of ${each.ref}, due ${each.due_at}: ${each.error}`);
  if (ledger_ok !== false && parked.length === 0) return undefined;
  const message =
    ledger_ok === false
      ? `the ledger does not add up: ${(ledger_faults ?? []).join('; ')}`
      : `${countOf(parked.length, 'timer')} of the sandbox failed: ${parked.join('; ')}`;
  return new CliError('check_failed', { message, hint: 'cardwright sandbox reset' });
}

/** Undefined when nothing was asked. Throws `usage` for a size of another data set. */
export function sizeFor(data: DataSet | undefined, size: LoadSize): LoadSize | undefined {
  if ((size.cards ?? size.transactions) === undefined) return undefined;
  if (data === 'load') return size;
  throw usage('--cards and --transactions are for --data load alone');
}

const VARIABLE = 'CARDWRIGHT_SANDBOX_DIALECT';

/** What a new store is made with, and how it speaks. */
export const STORE_FLAGS = {
  dialect: option(takes.choice(DIALECT_NAMES, 'Speak like another service, to test against its answers.')),
  seed: option(takes.integer('Seed of ids, card numbers and codes, for a new store.', { min: 0 })),
  data: option(takes.choice(DATA_SETS, 'Data set for a new store.', { defaults: 'demo' })),
  cards: option(ADMIN_OPERATIONS.reset.body.cards),
  transactions: option(ADMIN_OPERATIONS.reset.body.transactions),
  noRateLimits: option(takes.flag('Do not limit the number of requests a minute.')),
} as const;

/** What those flags ask for; the environment may name the dialect. Throws `usage` for its word that is none. */
export function storeOptions<Asked extends Partial<FlagValues<typeof STORE_FLAGS>>>(ctx: Context, asked: Asked) {
  const { noRateLimits, cards, transactions, dialect = ctx.env[VARIABLE] || undefined, ...rest } = asked;
  const wrong = dialect && violation(takes.choice(DIALECT_NAMES, VARIABLE), dialect);
  if (wrong) throw usage(`${VARIABLE} ${JSON.stringify(dialect)} ${wrong}`);
  const size = sizeFor(rest.data, { cards, transactions });
  return { ...rest, dialect: dialect as DialectName | undefined, size, rateLimits: noRateLimits !== true };
}

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
  answers: [{ one: { ...SERVER_ROW, log: LOG } }, { one: SHARED_ROW }],
  about: [
    'Listens only on 127.0.0.1. Serves the same store as --sandbox; both can be used at the same time. For the journal they are two accounts: one intent buys once through --sandbox and once through the address. Files and ledger are checked first; a damaged store is not served (exit 15).',
    `Address and key for other programs of a shell: ${TAKE_SERVER}. After sandbox stop: ${UNSET_SERVER}. The key is in a file that only you can read, and stays the same at every start. The address stays the same with --port.`,
    'With --accounts it serves many sandboxes in place of the one on this machine, each in a file below that folder. An account is made when somebody first opens it with the token of the file DIR/admin-token: cardwright sandbox account NAME. Beyond this machine such a server stands behind your own TLS proxy: --bind and --behind-proxy.',
    'Runs in the foreground until Ctrl-C, SIGTERM or sandbox stop, and finishes running requests before it ends. With --detach it runs in the background.',
  ],
  flags: {
    port: option(takes.integer('Port of 127.0.0.1; 0 for any free one.', { min: 0, max: 65_535, defaults: 0 })),
    detach: option(takes.flag('Serve from a background process; return when it is ready.')),
    ...STORE_FLAGS,
    open: option(takes.flag('Open the inspector in a browser too.')),
    readyFile: option(local('file', 'File for the address (one line) while it serves.'), '<file>'),
    accounts: option(local('folder', 'Folder of accounts to serve; made when missing.'), {
      placeholder: '<dir>',
      conflicts: [...Object.keys(STORE_FLAGS).filter(key => key !== 'noRateLimits'), 'detach', 'open', 'readyFile'],
    }),
    bind: option(local('address', 'With --accounts and --behind-proxy: listen on this address.'), '<address>'),
    behindProxy: option(local('address', 'With --accounts: the host by which clients name the TLS proxy.'), '<host>'),
    allowRemoteWebhooks: option(takes.flag('Send webhooks to other machines too, over https.')),
  },
  examples: {
    'Until Ctrl-C': 'sandbox start --port 4010',
    'In the background, for this shell': 'sandbox start --detach -o env',
    'In the background, and look at it': 'sandbox start --detach --open',
    'Accounts of a team': 'sandbox start --accounts accounts --port 4010',
  },
  async run(ctx, { detach, open, accounts, bind, behindProxy, allowRemoteWebhooks = false, ...asked }) {
    const servers = await ctx.sandbox.servers();
    const options = { ...storeOptions(ctx, asked), allowRemoteWebhooks };
    if (accounts !== undefined) {
      const { row, serve } = await servers.startAccounts({ ...options, accounts, behind: proxyOf(bind, behindProxy) });
      return { row, log: undefined, goesOn: serve };
    }
    if ((bind ?? behindProxy) !== undefined) throw usage('--bind and --behind-proxy are for a server with --accounts');
    if (detach) {
      const { log, ...row } = await servers.detach(options);
      if (open) await (await openStarted(ctx)).redeemed;
      return { row, log, goesOn: undefined };
    }
    const { row, serve } = await servers.start(options);
    // Whoever serves is not ended by a browser that nobody looks at.
    if (open) (await openStarted(ctx)).redeemed.catch((error: unknown) => ctx.ui.notice((error as Error).message));
    return { row, log: undefined, goesOn: serve };
  },
  noun: 'server',
  idField: 'url',
  columns: SERVER_COLUMNS,
  show: ({ row, log, goesOn }) => ({
    data: { ...row, ...(log !== undefined && { log }) },
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
  const admin = await (await ctx.sandbox.servers()).control();
  if (admin !== undefined) return openPage(ctx, admin, { access: 'full', place: '/' });
  throw notSent('unreachable', 'the sandbox ended before its page could be opened', 'cardwright sandbox start --open');
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

export const stopSandbox = command({
  path: 'sandbox stop',
  summary: 'Stop the started sandbox after its running requests',
  effect: 'reversible',
  reach: 'service',
  ends: {
    wait_expired: 'It is still there after 20 s.',
    unreachable: 'None is started.',
  },
  answers: {
    one: {
      ...SERVER_ROW,
      started_at: maybe(SERVER_ROW.started_at),
      store: maybe(SERVER_ROW.store),
      api_key_file: maybe(SERVER_ROW.api_key_file),
    },
  },
  about:
    'Stops the sandbox that serves the store of --sandbox, or the one elsewhere that CARDWRIGHT_SANDBOX_URL or the profile names. A server of many accounts cannot be ended from an account. Store and key stay. A shell that has its address in the environment keeps it: unset CARDWRIGHT_BASE_URL CARDWRIGHT_API_KEY_FILE. If no sandbox is started, that is exit 12.',
  examples: { 'End it': 'sandbox stop' },
  async run(ctx) {
    const elsewhere = await ctx.sandbox.elsewhere();
    if (elsewhere === undefined) {
      const stopped = await (await ctx.sandbox.servers()).stop();
      if (ctx.env['CARDWRIGHT_BASE_URL'] === stopped.url) ctx.ui.notice(`This shell still names it: ${UNSET_SERVER}`);
      return stopped;
    }
    const { pid } = (await (await ctx.sandbox.admin()).send('stop', {})).result;
    return { url: `${elsewhere.origin}/v1`, pid };
  },
  noun: 'server',
  idField: 'url',
  columns: SERVER_COLUMNS,
  show: row => ({ data: { ...row }, blocks: [lineBlock(`Stopped: ${row.url} (process ${row.pid}).`)] }),
});

export const sandboxAccount = adminCommand({
  path: 'sandbox account',
  summary: 'Open an account of a server of many; it is made on first use',
  about: [
    'For a server that was started with cardwright sandbox start --accounts DIR. Its address and the token of the file DIR/admin-token come from CARDWRIGHT_SANDBOX_URL and CARDWRIGHT_SANDBOX_TOKEN_FILE.',
    'Prints the API key and the admin token of the account. They are the same each time.',
  ],
  operation: 'accounts.open',
  effectSays: 'makes an account on first use; one that is there stays as it is',
  args: ['name'],
  examples: {
    'For a colleague': 'sandbox account ana',
    'For one job, with the same ids each time': 'sandbox account job-17 --seed 7 --data empty --json',
  },
  columns: 'name api_key admin_token',
  noun: 'account',
  idField: 'name',
  show: ({ name, api_key, admin_token }) => ({
    data: { name, api_key: api_key.expose(), admin_token: admin_token.expose() },
  }),
});

export const sandboxStatus = command({
  path: 'sandbox status',
  summary: 'Show what the sandbox holds and whether its ledger balances',
  answers: { one: STATUS },
  operation: 'status',
  ends: { check_failed: 'The ledger does not add up, or a timer failed.' },
  about: [
    'Up to 10,000 transactions and events the ledger is checked every time; sandbox check checks files and ledger, whatever their size.',
    '-o env prints the address and the key file of the started sandbox as CARDWRIGHT_BASE_URL and CARDWRIGHT_API_KEY_FILE. If no sandbox is started, that is exit 12.',
  ],
  examples: {
    'In words': 'sandbox status',
    'For other programs of this shell': 'sandbox status -o env',
  },
  async run(ctx) {
    const { result: status } = await (await ctx.sandbox.admin()).send('status', {});
    const elsewhere = await ctx.sandbox.elsewhere();
    return {
      status,
      elsewhere,
      server: elsewhere === undefined ? await (await ctx.sandbox.servers()).running() : undefined,
    };
  },
  noun: 'sandbox',
  idField: 'store',
  columns: STATUS_COLUMNS,
  show: ({ status, server, elsewhere }) => ({
    data: { ...status, server: server ?? null },
    notes: [
      server === undefined
        ? 'It is not started: cardwright sandbox start'
        : `It serves ${server.url}, process ${server.pid}`,
    ],
    variables: () => {
      if (server !== undefined) return serverVariables(server);
      throw notSent(
        'unreachable',
        elsewhere
          ? `${elsewhere.namedBy} names a sandbox elsewhere, whose key stands in no file known here`
          : 'no sandbox is started for this store',
        'cardwright sandbox start',
      );
    },
    failure: failureOf(status),
  }),
});

export const resetSandbox = command({
  path: 'sandbox reset',
  summary: 'Reset the sandbox to a data set',
  answers: {
    one: {
      ...ADMIN_OPERATIONS.reset.returns.shape,
      moved_aside: maybe(tells.texts('Files of the store before, with --hard.')),
    },
  },
  about: [
    'Data sets: empty has BINs and an empty wallet; demo is six weeks of a small team; load has as many cards and transactions as you ask for (--cards, --transactions).',
    'A clock that was moved or set stays as it is. Back to the real time: cardwright sandbox clock set real',
    'The local copy of the built-in sandbox is deleted, its checkpoints with it: books sync makes a new one.',
    '--hard replaces a damaged store: its files are moved aside without being read, and a new store is made.',
  ],
  operation: 'reset',
  dryRun: false,
  flags: {
    data: 'body.data',
    seed: 'body.seed',
    cards: 'body.cards',
    transactions: 'body.transactions',
    hard: option(takes.flag('Move the store aside and make a new one.')),
  },
  examples: {
    'Back to the demo data': 'sandbox reset --yes',
    'Empty, with fixed ids': 'sandbox reset --data empty --seed 7 --yes',
    'For a load test': 'sandbox reset --data load --cards 200 --transactions 1000 --yes',
  },
  async run(ctx, { hard, ...asked }) {
    sizeFor(asked.data, asked);
    const elsewhere = await ctx.sandbox.elsewhere();
    if (hard && elsewhere !== undefined) {
      throw usage(`--hard moves files of this machine; ${elsewhere.namedBy} names a sandbox elsewhere`);
    }
    const intent = hard
      ? 'Move the store of the sandbox aside and make a new one'
      : `Replace everything in ${await ctx.sandbox.named()}`;
    await ctx.ui.confirmed(intent);
    const moved = hard ? await (await ctx.sandbox.servers()).moveAside() : [];
    // One that is started knows then that everything was replaced.
    const admin = (await (await ctx.sandbox.servers()).control()) ?? (await ctx.sandbox.admin());
    const { result } = await admin.send('reset', asked);
    await (await ctx.journal.admin()).setAsideSandbox();
    const clock = ctx.ui.forPeople ? (await admin.send('clock.show', {})).result : undefined;
    return { status: result, moved, clock };
  },
  noun: 'sandbox',
  idField: 'store',
  columns: STATUS_COLUMNS.filter(({ programOnly }) => programOnly !== true),
  show: ({ status, moved, clock }) => ({
    data: moved.length === 0 ? status : { ...status, moved_aside: moved },
    notes: [
      ...moved.map(file => `Moved aside: ${file}`),
      ...(clock === undefined || clock.mode === 'real'
        ? []
        : [`The clock stays as it was set (${clock.now}). Back to the real time: cardwright sandbox clock set real`]),
    ],
  }),
});
