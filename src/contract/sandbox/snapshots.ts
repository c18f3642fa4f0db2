/**
 * Everything the sandbox holds, kept under a name or in one file, and put back
 * (docs/design/sandbox.md, sections 4 and 7).
 */
import { choice, flag, integer, list, money, must, nullable, text, time } from '../field.ts';
import { listOf, nothing, one, operation } from '../operation.ts';
import { change, described, ours, reading, THOROUGH, traceless } from './basis.ts';

/** What a snapshot may be called. */
export const SNAPSHOT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const SNAPSHOT_NAME_FIELD = must(
  text({ ...described('Name of the snapshot: lower-case letters, digits, - and _.'), maxLength: 64 }),
);

export const SNAPSHOT = {
  name: SNAPSHOT_NAME_FIELD,
  whole: must(
    flag(
      described(
        'Its first line is as it was written, and the file has its length. Every byte is checked when it is compared or restored.',
      ),
    ),
  ),
  made_at: nullable(time(described('When, on the clock of the sandbox.'))),
  data_set: nullable(text(described('Data set the sandbox was seeded with.'))),
  seed: nullable(integer(described('Seed of ids, card numbers and codes.'))),
  clock: nullable(choice(['real', 'offset', 'frozen', 'scaled'], described('How the clock went.'))),
  cards: nullable(integer(described('Cards.'))),
  transactions: nullable(integer(described('Transaction records.'))),
  bytes: nullable(integer(described('Size of its file.'))),
} as const;

/** What came of putting something back. */
export const RESTORED = {
  restored: must(flag(described('It stands in place of what was there; otherwise nothing changed.'))),
  problems: must(list(text(described('What is damaged.')), described('Why it was not restored.'))),
  made_at: time(described('When it was taken, on the clock of the sandbox.')),
  now: time(described('What the clock shows.')),
  data_set: text(described('Data set it was seeded with.')),
  cards: integer(described('Cards.')),
  transactions: integer(described('Transaction records.')),
  webhooks_active: integer(
    described('Subscriptions that came with it and are active: the sandbox delivers to their addresses.'),
  ),
  wallet_balance: money(described('Balance of the wallet, USD.')),
  ledger_ok: flag(described('The ledger invariants hold.')),
  ledger_faults: list(text(described('Broken invariant.')), described('What does not hold.')),
} as const;

export const SNAPSHOT_OPERATIONS = {
  snapshots: operation({
    ...traceless,
    summary: 'List snapshots by name',
    path: '/snapshots',
    returns: listOf(SNAPSHOT, ours),
  }),
  'snapshots.save': operation({
    ...change,
    ...THOROUGH,
    summary: 'Save the whole state of the sandbox under a name; an older one of that name is replaced',
    path: '/snapshots',
    body: { name: SNAPSHOT_NAME_FIELD },
    returns: one(SNAPSHOT, ours, 201),
  }),
  'snapshots.restore': operation({
    ...change,
    ...THOROUGH,
    summary: 'Replace the whole state of the sandbox with a snapshot',
    path: '/snapshots/{name}/restore',
    effect: 'irreversible',
    params: { name: SNAPSHOT_NAME_FIELD },
    returns: one(RESTORED, ours),
  }),
  'snapshots.remove': operation({
    ...change,
    summary: 'Remove a snapshot',
    method: 'DELETE',
    path: '/snapshots/{name}',
    effect: 'irreversible',
    params: { name: SNAPSHOT_NAME_FIELD },
    returns: nothing(ours),
  }),
} as const;

const FORMAT = 'cardwright sandbox snapshot';

/** How every snapshot begins: what does not is somebody else's. */
export const SNAPSHOT_MARK = `{"format":"${FORMAT}"`;

/** A snapshot as one file, too large for a JSON body: streamed. */
export const SNAPSHOT_FILE = { format: FORMAT, contentType: 'application/octet-stream' } as const;

/** Operations that hand such a file out or take one in: rows for routes and documents, not for calls of JSON. */
export const TRANSFERS = {
  export: operation({
    ...reading,
    summary: 'Everything the sandbox holds as one file',
    path: '/export',
    returns: { ...one({}, ours), contentType: SNAPSHOT_FILE.contentType },
  }),
  import: operation({
    ...change,
    summary: 'Put such a file in place of everything the sandbox holds',
    path: '/import',
    effect: 'irreversible',
    takes: SNAPSHOT_FILE.contentType,
    returns: one(RESTORED, ours),
  }),
} as const;
export type Transfer = keyof typeof TRANSFERS;
