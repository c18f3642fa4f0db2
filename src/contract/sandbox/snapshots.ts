/**
 * Everything the sandbox holds, kept under a name or in one file, and put back
 * (docs/design/sandbox.md, sections 4 and 7).
 */
import { must, nullable } from '../field.ts';
import { choice, flag, integer, list, money, text, time } from '../own-field.ts';
import { CLOCK_MODES, IMPORT_PATH } from './basis.ts';
import { change, listOf, look, nothing, one, reading, THOROUGH } from './row.ts';

/** What a snapshot may be called. */
export const SNAPSHOT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const SNAPSHOT_NAME_FIELD = must(
  text('Name of the snapshot: lower-case letters, digits, - and _.', {
    maxLength: 64,
    form: {
      holds: name => SNAPSHOT_NAME.test(name),
      says: 'must have lower-case letters, digits, - and _, at most 64 of them',
    },
  }),
);

export const SNAPSHOT = {
  name: SNAPSHOT_NAME_FIELD,
  whole: must(
    flag(
      'Its first line is as it was written, and the file has its length. Every byte is checked when it is restored.',
    ),
  ),
  made_at: nullable(time('When, on the clock of the sandbox.')),
  data_set: nullable(text('Data set the sandbox was seeded with.')),
  seed: nullable(integer('Seed of ids, card numbers and codes.')),
  clock: nullable(choice(CLOCK_MODES, 'How the clock went.')),
  cards: nullable(integer('Cards.')),
  transactions: nullable(integer('Transaction records.')),
  bytes: nullable(integer('Size of its file.')),
} as const;

/** What came of putting something back. */
export const RESTORED = {
  restored: must(flag('It stands in place of what was there; otherwise nothing changed.')),
  problems: must(list(text('What is damaged.'), 'Why it was not restored.')),
  made_at: time('When it was taken, on the clock of the sandbox.'),
  now: time('What the clock shows.'),
  data_set: text('Data set it was seeded with.'),
  cards: integer('Cards.'),
  transactions: integer('Transaction records.'),
  webhooks_active: integer('Subscriptions that came with it and are active: the sandbox delivers to their addresses.'),
  wallet_balance: money('Balance of the wallet, USD.'),
} as const;

export const SNAPSHOT_OPERATIONS = {
  snapshots: look('List snapshots by name', 'GET /snapshots', { returns: listOf(SNAPSHOT) }),
  'snapshots.save': change(
    'Save the whole state of the sandbox under a name; an older one of that name is replaced',
    'POST /snapshots',
    {
      ...THOROUGH,
      body: { name: SNAPSHOT_NAME_FIELD },
      returns: one(SNAPSHOT, 201),
    },
  ),
  'snapshots.restore': change(
    'Replace the whole state of the sandbox with a snapshot',
    'POST /snapshots/{name}/restore',
    {
      ...THOROUGH,
      effect: 'irreversible',
      params: { name: SNAPSHOT_NAME_FIELD },
      returns: one(RESTORED),
    },
  ),
  'snapshots.remove': change('Remove a snapshot', 'DELETE /snapshots/{name}', {
    effect: 'irreversible',
    params: { name: SNAPSHOT_NAME_FIELD },
    returns: nothing(),
  }),
} as const;

const FORMAT = 'cardwright sandbox snapshot';

/** How every snapshot begins: what does not is somebody else's. */
export const SNAPSHOT_MARK = `{"format":"${FORMAT}"`;

/** A snapshot as one file, too large for a JSON body: streamed. */
export const SNAPSHOT_FILE = { format: FORMAT, contentType: 'application/octet-stream' } as const;

/** Operations that hand such a file out or take one in: rows for routes and documents, not for calls of JSON. */
export const TRANSFERS = {
  export: reading('Everything the sandbox holds as one file', 'GET /export', {
    returns: { ...one({}), contentType: SNAPSHOT_FILE.contentType },
  }),
  import: change('Put such a file in place of everything the sandbox holds', `POST ${IMPORT_PATH}`, {
    effect: 'irreversible',
    takes: SNAPSHOT_FILE.contentType,
    returns: one(RESTORED),
  }),
} as const;
export type Transfer = keyof typeof TRANSFERS;
