/**
 * Everything the sandbox holds, kept under a name or in one file, and put back
 * (docs/design/sandbox.md, sections 4 and 7).
 */
import { choice, flag, integer, list, money, must, nullable, text, time } from '../field.ts';
import { listOf, nothing, one, operation } from '../operation.ts';
import { change, look, ours, said, THOROUGH } from './basis.ts';

/** What a snapshot may be called. */
export const SNAPSHOT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

const NAME = must(text({ ...said('Name of the snapshot: lower-case letters, digits, - and _.'), maxLength: 64 }));

export const SNAPSHOT = {
  name: NAME,
  whole: must(flag(said('Its manifest is as it was written; the rest is checked when it is restored.'))),
  made_at: nullable(time(said('When, on the clock of the sandbox.'))),
  data_set: nullable(text(said('Data set the sandbox was seeded with.'))),
  seed: nullable(integer(said('Seed of ids, card numbers and codes.'))),
  clock: nullable(choice(['real', 'offset', 'frozen', 'scaled'], said('How the clock went.'))),
  cards: nullable(integer(said('Cards.'))),
  transactions: nullable(integer(said('Transaction records.'))),
  bytes: nullable(integer(said('Size of its files.'))),
} as const;

/** What came of putting something back. */
export const RESTORED = {
  restored: must(flag(said('It stands in place of what was there; otherwise nothing changed.'))),
  problems: must(list(text(said('What is damaged.')), said('Why it was not restored.'))),
  made_at: time(said('When it was taken, on the clock of the sandbox.')),
  now: time(said('What the clock shows.')),
  data_set: text(said('Data set it was seeded with.')),
  cards: integer(said('Cards.')),
  transactions: integer(said('Transaction records.')),
  wallet_balance: money(said('Balance of the wallet, USD.')),
  ledger_ok: flag(said('The ledger invariants hold.')),
  ledger_faults: list(text(said('Broken invariant.')), said('What does not hold.')),
} as const;

export const SNAPSHOT_OPERATIONS = {
  snapshots: operation({
    ...look,
    summary: 'List snapshots by name',
    path: '/snapshots',
    returns: listOf(SNAPSHOT, ours),
  }),
  'snapshots.save': operation({
    ...change,
    ...THOROUGH,
    summary: 'Save the whole state of the sandbox under a name; an older one of that name is replaced',
    path: '/snapshots',
    body: { name: NAME },
    returns: one(SNAPSHOT, ours, 201),
  }),
  'snapshots.restore': operation({
    ...change,
    ...THOROUGH,
    summary: 'Replace the whole state of the sandbox with a snapshot',
    path: '/snapshots/{name}/restore',
    effect: 'irreversible',
    params: { name: NAME },
    returns: one(RESTORED, ours),
  }),
  'snapshots.remove': operation({
    ...change,
    summary: 'Remove a snapshot',
    method: 'DELETE',
    path: '/snapshots/{name}',
    effect: 'irreversible',
    params: { name: NAME },
    returns: nothing(ours),
  }),
} as const;

const FORMAT = 'cardwright sandbox snapshot';

/** How every manifest begins, and with it every exported file: what does not is somebody else's. */
export const SNAPSHOT_MARK = `{"format":"${FORMAT}"`;

/** The same as one file, too large for a JSON body: lines of JSON that are streamed. */
export const SNAPSHOT_FILE = { format: FORMAT, contentType: 'application/x-ndjson' } as const;

/** Operations that hand such a file out or take one in: rows for routes and documents, not for calls of JSON. */
export const TRANSFERS = {
  export: operation({
    ...look,
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
