/**
 * The sandbox's own control surface below `/_sandbox/v1`: not part of the service, never below `/v1`, with a token of
 * its own. The same kind of rows, so that client, flags and routes are derived from them too
 * (docs/design/sandbox.md, section 4).
 */
import type { NameIn } from '../calls.ts';
import { choice, flag, integer, list, money, must, nullable, object, text, time } from '../field.ts';
import { one, operation } from '../operation.ts';
import type { ServiceOf } from '../service.ts';
import { change, described, ours, reading, THOROUGH } from './basis.ts';
import { DELIVERY_OPERATIONS } from './deliveries.ts';
import { FAULT_OPERATIONS } from './faults.ts';
import { INSPECTOR_OPERATIONS } from './inspector.ts';
import { PAGE_OPERATIONS } from './page.ts';
import { SCENARIO_OPERATIONS } from './scenarios.ts';
import { SIMULATIONS } from './simulations.ts';
import { SNAPSHOT_OPERATIONS } from './snapshots.ts';
import { CLOCK_OPERATIONS, HOLDING_OPERATIONS, KEY_OPERATIONS, LEDGER_OPERATIONS, SERVER_OPERATIONS } from './state.ts';

export const DATA_SETS = ['empty', 'demo', 'load'] as const;
export type DataSet = (typeof DATA_SETS)[number];
/** How much the data set `load` holds when nothing else is asked for. */
export const LOAD_SIZE = { cards: 100_000, transactions: 1_000_000 } as const;
/** The size that was asked for, the rest as usual. */
export function loadSize({ cards = LOAD_SIZE.cards, transactions = LOAD_SIZE.transactions }: LoadSize) {
  return { cards, transactions };
}
export interface LoadSize {
  readonly cards?: number | undefined;
  readonly transactions?: number | undefined;
}
/** What a reset may leave as it is. */
export const KEPT = ['bins', 'keys', 'faults'] as const;

const PARKED = {
  kind: must(text(described('What should have happened.'))),
  ref: must(text(described('What it should have happened to.'))),
  due_at: must(time(described('When it was due.'))),
  error: must(text(described('Why it could not happen.'))),
} as const;

const STATUS = {
  version: must(text(described('Version of cardwright that serves it.'))),
  store: must(text(described('Path of the store, or memory.'))),
  data_set: text(described('Data set it was seeded with.')),
  now: must(time(described('Clock of the sandbox.'))),
  bins: must(integer(described('BINs.'))),
  cards: must(integer(described('Cards.'))),
  transactions: must(integer(described('Transaction records.'))),
  webhooks: must(integer(described('Subscriptions.'))),
  events: must(integer(described('Events recorded.'))),
  wallet_balance: must(money(described('Balance of the wallet, USD.'))),
  ledger_ok: must(flag(described('The ledger invariants held when they were last looked at.'))),
  ledger_faults: list(text(described('Broken invariant.')), described('What does not hold.')),
  ledger_checked_at: time(described('When they were last looked at.')),
  timers_parked: list(
    object(PARKED, described('One of them.')),
    described('Timers that failed and are out of the way.'),
  ),
} as const;

/** Of many records nobody may have looked at the books yet, and a question does not begin to. */
const STATUS_ANY_TIME = {
  ...STATUS,
  ledger_ok: nullable(
    flag(described('The ledger invariants held when they were last looked at; null when nobody did.')),
  ),
  ledger_checked_at: nullable(
    time(described('When they were last looked at: now, unless there are more than 10,000 transactions and events.')),
  ),
} as const;

const DOCUMENTS = {
  openapi: operation({
    ...reading,
    summary: 'The service as an OpenAPI document',
    path: '/openapi.json',
    returns: one({}, ours),
  }),
  'openapi.sandbox': operation({
    ...reading,
    summary: 'This control surface as an OpenAPI document',
    path: '/openapi-sandbox.json',
    returns: one({}, ours),
  }),
} as const;

export const ADMIN_OPERATIONS = {
  status: operation({
    summary: 'Show what the sandbox holds and whether its ledger balances',
    section: 'sandbox',
    method: 'GET',
    path: '/status',
    basis: ours,
    effect: 'read',
    repeat: 'freely',
    ...THOROUGH,
    returns: one(STATUS_ANY_TIME, ours),
  }),
  reset: operation({
    ...change,
    ...THOROUGH,
    summary: 'Start over with a data set',
    path: '/reset',
    effect: 'irreversible',
    body: {
      data: choice(DATA_SETS, described('Data set to load; the one it was started with when left out.')),
      seed: integer({ ...described('Seed of ids, card numbers and codes.'), min: 0 }),
      cards: integer({
        ...described('Cards of the data set load.'),
        min: 1,
        max: 1_000_000,
        defaults: LOAD_SIZE.cards,
      }),
      transactions: integer({
        ...described('Transaction records of the data set load.'),
        min: 0,
        max: 10_000_000,
        defaults: LOAD_SIZE.transactions,
      }),
      keep: list(choice(KEPT, described('One of them.')), described('What to keep: BINs, keys, fault rules.')),
    },
    returns: one(STATUS, ours),
  }),
  ...SERVER_OPERATIONS,
  ...SIMULATIONS,
  ...CLOCK_OPERATIONS,
  ...LEDGER_OPERATIONS,
  ...DELIVERY_OPERATIONS,
  ...FAULT_OPERATIONS,
  ...SNAPSHOT_OPERATIONS,
  ...KEY_OPERATIONS,
  ...INSPECTOR_OPERATIONS,
  ...HOLDING_OPERATIONS,
  ...PAGE_OPERATIONS,
  ...SCENARIO_OPERATIONS,
  ...DOCUMENTS,
} as const;

// Types of its calls.

export type AdminOperations = typeof ADMIN_OPERATIONS;
export type AdminName = NameIn<AdminOperations>;
/** The sandbox's control surface. */
export type SandboxAdmin = ServiceOf<AdminOperations>;
