/**
 * The sandbox's own control surface below `/_sandbox/v1`: not part of the service, never below `/v1`, with a token of
 * its own. The same kind of rows, so that client, flags and routes are derived from them too
 * (docs/design/sandbox.md, section 4).
 */
import type { NameIn } from '../calls.ts';
import { must, nullable } from '../field.ts';
import { LIMITS } from '../limits.ts';
import { choice, flag, integer, list, money, object, text, time } from '../own-field.ts';
import type { ServiceOf } from '../service.ts';
import { DELIVERY_OPERATIONS } from './deliveries.ts';
import { DIALECT_NAMES, type DialectName, FAULT_OPERATIONS } from './faults.ts';
import { INSPECTOR_OPERATIONS } from './inspector.ts';
import { PAGE_OPERATIONS } from './page.ts';
import { change, one, reading, THOROUGH, TIMED } from './row.ts';
import { SCENARIO_OPERATIONS } from './scenarios.ts';
import { SIMULATIONS } from './simulations.ts';
import { SNAPSHOT_OPERATIONS } from './snapshots.ts';
import { CLOCK_OPERATIONS, HOLDING_OPERATIONS, LEDGER_OPERATIONS, SERVER_OPERATIONS } from './state.ts';

export const DATA_SETS = ['empty', 'demo', 'load'] as const;
export type DataSet = (typeof DATA_SETS)[number];
/** How much the data set `load` holds when nothing else is asked for. */
export const LOAD_SIZE = { cards: 100_000, transactions: 1_000_000 } as const;
export type LoadSize = { readonly [Name in keyof typeof LOAD_SIZE]?: number | undefined };
/** How a sandbox is started for other programs. */
export interface ServerOptions {
  /** 0 or none: any free one. */
  readonly port?: number | undefined;
  readonly dialect?: DialectName | undefined;
  /** Of a store made now. One that is there must have them already. */
  readonly seed?: number | undefined;
  readonly data?: DataSet | undefined;
  readonly size?: LoadSize | undefined;
  readonly rateLimits: boolean;
  readonly allowRemoteWebhooks: boolean;
  /** Path of the file that says where it is while it serves. */
  readonly readyFile?: string | undefined;
}

/** Of a server of many accounts. */
export interface AccountsServerOptions extends Pick<ServerOptions, 'port' | 'rateLimits' | 'allowRemoteWebhooks'> {
  /** Folder of their stores, made 0700 when missing. */
  readonly accounts: string;
  /** For a proxy in front: the address it finds the server at, and the host that clients name. */
  readonly behind?: { readonly bind: string; readonly host: string } | undefined;
}

// Options of `startSandbox()`, the sandbox for test suites and other programs: their types and their check are made from these.

const START_CLOCK = { mode: must(choice(['real', 'frozen'], 'How it goes.')), at: time('Where it stands.') } as const;

export const START_OPTIONS = {
  store: text('`memory`, or the path of a file that is kept, made with mode 0600.', { defaults: 'memory' }),
  listen: choice(['tcp', 'socket'], 'A port of 127.0.0.1, or a private socket, for clients that can be given one.', {
    defaults: 'tcp',
  }),
  port: integer('For `tcp`; any free one when left out or 0.', { min: 0, max: 65_535 }),
  seed: integer('Fixes ids, card numbers and codes, so that two runs are alike.', { min: 0, defaults: 1 }),
  ids: choice(['derived', 'counted'], '`card_` and 24 characters as the service has them, or `card_1`, `req_2`.', {
    defaults: 'derived',
  }),
  data: choice(['empty', 'demo'], '`empty` has eight BINs, `demo` also cards, transactions and a webhook.', {
    defaults: 'empty',
  }),
  wallet: money('USD in the wallet of data set `empty`, and of no other.', { min: 0, defaults: 0 }),
  dialect: choice(DIALECT_NAMES, 'How the sandbox speaks.', { defaults: 'default' }),
  clock: object(START_CLOCK, 'Real time, or frozen at an ISO 8601 time until `advance` moves it.', {
    defaults: 'real',
  }),
  rateLimits: flag(
    `${LIMITS.detailsRate.max} reads of card details and ${LIMITS.generalRate.max} other requests a minute, as the service limits them.`,
    { defaults: 'true' },
  ),
  timers: choice(['live', 'on-request'], 'Expiries happen by themselves, or at the next request or `advance`.', {
    defaults: 'live',
  }),
  deliveries: choice(['live', 'on-deliver'], 'Webhooks are sent as they become due, or when `deliver` is called.', {
    defaults: 'live',
  }),
  allowRemoteWebhooks: flag('Webhooks may go to other machines, over https.'),
  webhookSecret: text('Signing secret of subscriptions that name none; generated when left out.', {
    secret: true,
    minLength: LIMITS.webhookSecret.min,
    printable: true,
  }),
} as const;

const PARKED = { ...TIMED, error: must(text('Why it could not happen.')) } as const;

const STATUS = {
  version: must(text('Version of cardwright that serves it.')),
  store: must(text('Path of the store, or memory.')),
  data_set: text('Data set it was seeded with.'),
  now: must(time('Clock of the sandbox.')),
  bins: must(integer('BINs.')),
  cards: must(integer('Cards.')),
  transactions: must(integer('Transaction records.')),
  webhooks: must(integer('Subscriptions.')),
  events: must(integer('Events recorded.')),
  wallet_balance: must(money('Balance of the wallet, USD.')),
  ledger_ok: nullable(
    flag(
      'The ledger invariants hold; null of more than 10,000 transactions and events, which are looked through by ledger/check.',
    ),
  ),
  ledger_faults: list(text('Broken invariant.'), 'What does not hold.'),
  timers_parked: list(object(PARKED, 'One of them.'), 'Timers that failed and are out of the way.'),
} as const;

export const ADMIN_OPERATIONS = {
  status: reading('Show what the sandbox holds and whether its ledger balances', 'GET /status', {
    ...THOROUGH,
    returns: one(STATUS),
  }),
  reset: change('Start over with a data set', 'POST /reset', {
    ...THOROUGH,
    effect: 'irreversible',
    body: {
      data: choice(DATA_SETS, 'Data set to load; the one it was started with when left out.'),
      seed: integer('Seed of ids, card numbers and codes.', { min: 0 }),
      cards: integer('Cards of the data set load.', { min: 1, max: 1_000_000, defaults: LOAD_SIZE.cards }),
      transactions: integer('Transaction records of the data set load.', {
        min: 0,
        max: 10_000_000,
        defaults: LOAD_SIZE.transactions,
      }),
    },
    returns: one(STATUS),
  }),
  ...SERVER_OPERATIONS,
  ...SIMULATIONS,
  ...CLOCK_OPERATIONS,
  ...LEDGER_OPERATIONS,
  ...DELIVERY_OPERATIONS,
  ...FAULT_OPERATIONS,
  ...SNAPSHOT_OPERATIONS,
  ...INSPECTOR_OPERATIONS,
  ...HOLDING_OPERATIONS,
  ...PAGE_OPERATIONS,
  ...SCENARIO_OPERATIONS,
  openapi: reading('The service as an OpenAPI document', 'GET /openapi.json', { returns: one({}) }),
  'openapi.sandbox': reading('This control surface as an OpenAPI document', 'GET /openapi-sandbox.json', {
    returns: one({}),
  }),
} as const;

// Types of its calls.

export type AdminOperations = typeof ADMIN_OPERATIONS;
export type AdminName = NameIn<AdminOperations>;
/** The sandbox's control surface. */
export type SandboxAdmin = ServiceOf<AdminOperations>;
