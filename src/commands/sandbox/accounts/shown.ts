/** How an account of a sandbox on a database is named and shown. */
import { orNull, tells } from '../../../cli/answer-fields.ts';
import { argument, local, needs } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { DIALECT_NAMES } from '../../../contract/sandbox/faults.ts';
import { DAY, durationOf } from '../../../core/durations.ts';
import type { Column } from '../../../terminal/view.ts';

export const ACCOUNT_ROW = {
  account: tells.text('Its id.'),
  name: tells.text('Its name.'),
  seed: tells.count('Seed of ids, card numbers and codes.'),
  ids: tells.word('Form of ids.', ['derived', 'counted']),
  dialect: tells.word('How it speaks.', DIALECT_NAMES),
  created_at: tells.time('When it was made.'),
  expires_at: orNull(tells.time('When it expires and is removed; null for an account without an end.')),
} as const;

export const ACCOUNT_COLUMNS: readonly Column[] = [
  { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
  { field: 'account', title: 'ACCOUNT', kind: 'text', priority: 1 },
  { field: 'dialect', title: 'DIALECT', kind: 'text', priority: 2 },
  { field: 'seed', title: 'SEED', kind: 'integer', priority: 3 },
  { field: 'created_at', title: 'CREATED', kind: 'time', priority: 2 },
  { field: 'expires_at', title: 'EXPIRES', kind: 'time', priority: 2 },
];

export const accountName = argument(
  // The name of a job has the many digits of its run.
  local('setting', 'Name: up to 63 lower-case letters, digits and dashes.'),
);

export const storeFlag = needs(local('address', 'Address of the database, without a password.'), '<postgres-url>');

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Throws `usage` for what is no name. */
export function checkedName(given: string): string {
  if (NAME.test(given)) return given;
  throw usage(`${JSON.stringify(given)} is no name of an account: up to 63 lower-case letters, digits and dashes`);
}

/** How long an account with an end lasts at most: one that is to last longer needs none. */
const LONGEST = 365 * DAY;

/** ms of the value of `--expires`. Throws `usage`. */
export function checkedLifetime(given: string): number {
  const ms = durationOf(given);
  if (ms !== undefined && ms <= LONGEST) return ms;
  throw usage(`--expires ${JSON.stringify(given)} is not a span of time such as 2h, 90m or 1d12h, up to 365d`);
}

const ADDRESS = /^https?:\/\/[A-Za-z0-9.:[\]-]+(?:\/[\w./-]*)?$/;

/** As `--base-url` takes it, without a version; a word in its place where none is given. Throws `usage` for what is no address. */
export function checkedAddress(given: string | undefined): string {
  if (given === undefined) return '<address>';
  if (ADDRESS.test(given)) return given.replace(/\/(?:v1\/?)?$/, '');
  throw usage(`--url: ${JSON.stringify(given)} is not an address such as https://sandbox.example.com`);
}
