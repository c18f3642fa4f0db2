/**
 * Every transcript under another dialect. Request numbers differ wherever the client reads once more; everything else
 * must be byte for byte the same, but for what this table says a dialect cannot tell, or tells otherwise.
 */
import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DialectName } from '../../src/contract/sandbox/faults.ts';
import { runTranscript } from '../support/transcript.ts';

const folder = join(import.meta.dirname, '..', 'transcripts');

type Reasons = Readonly<Record<string, string>>;

const NO_PAGES = 'no page numbers and totals are told';
const FEWER_PAGES: Reasons = {
  'cards/hostile-label.md': NO_PAGES,
  'cards/list.md': NO_PAGES,
  'sandbox/3ds-ends.md': NO_PAGES,
  'sandbox/purchase.md': NO_PAGES,
  'tx/list.md': NO_PAGES,
};
const NO_REQUEST_ID = 'successes carry no request id';
const OTHER_STATUS = 'refusals have another status, which the message shows';
const STAYS_LISTED = 'finished challenges are listed';
const ONE_RECORD = 'a purchase is one record';
const HOLDS_INSIDE = 'balances include holds';
const AS_IT_CAME = 'api shows the answer as it came';

/** Why a transcript differs, by dialect. A name that is not here must not differ, one that is must. */
export const DIFFERENCES: Readonly<Record<DialectName, Reasons>> = {
  default: {},
  minimal: {
    ...FEWER_PAGES,
    'cards/edges.md': 'no totals are told',
    'tx/service-clock.md': 'no totals are told',
    'bulk/again.md': NO_REQUEST_ID,
    'bulk/asked.md': NO_REQUEST_ID,
    'bulk/create.md': NO_REQUEST_ID,
    'bulk/idle.md': NO_REQUEST_ID,
    'bulk/money.md': NO_REQUEST_ID,
    'bulk/ops.md': NO_REQUEST_ID,
    'bulk/round-trip.md': NO_REQUEST_ID,
    'bulk/select.md': NO_REQUEST_ID,
    'fleet/at-a-terminal.md': NO_REQUEST_ID,
    'fleet/changed-fields.md': NO_REQUEST_ID,
    'fleet/first-cards.md': NO_REQUEST_ID,
    'fleet/lost-answer.md': NO_REQUEST_ID,
    'fleet/retired.md': NO_REQUEST_ID,
    'fleet/top-up.md': NO_REQUEST_ID,
    'policy/idle-cards.md': NO_REQUEST_ID,
    'cards/fund.md': 'balances of a withdrawal are read again, and that is said',
    'books/a-month-of-life.md': 'a list that tells no totals is read otherwise, which the number of requests shows',
    'run/short-ids.md': 'a list that tells no count is read up to an empty page',
    'webhooks/life.md': 'a generated secret is not shown',
  },
  'envelope-items': {
    ...FEWER_PAGES,
    'api/raw-requests.md': AS_IT_CAME,
    'wallet/wallet.md': 'a plain list tells pages',
  },
  'envelope-more': { ...FEWER_PAGES, 'wallet/wallet.md': 'a plain list tells pages' },
  'envelope-wrapped': { 'api/raw-requests.md': AS_IT_CAME },
  'names-stripe': {
    'api/raw-requests.md': AS_IT_CAME,
    'cards/fund.md': 'card and wallet are objects, and kept',
    'sandbox/auto-freeze.md': 'card and wallet are objects, and kept',
    'sandbox/golden.md': 'card and wallet are objects, and kept',
  },
  'names-increase': {},
  'strict-422': {
    'cards/create-refused.md': OTHER_STATUS,
    'cards/edges.md': OTHER_STATUS,
    'cards/terminate.md': OTHER_STATUS,
  },
  'noop-200': {},
  'tds-terminal': { '3ds/challenge.md': STAYS_LISTED, 'sandbox/3ds-ends.md': STAYS_LISTED },
  'auth-single': {
    'books/month.md': ONE_RECORD,
    'books/month-end.md': ONE_RECORD,
    'cards/list.md': ONE_RECORD,
    'books/first-copy.md': ONE_RECORD,
    'sandbox/golden.md': ONE_RECORD,
    'sandbox/load.md': ONE_RECORD,
    'sandbox/purchase.md': ONE_RECORD,
    'tx/list.md': ONE_RECORD,
    'tx/summary.md': ONE_RECORD,
  },
  'ledger-balance': {
    'books/month.md': HOLDS_INSIDE,
    'books/month-end.md': HOLDS_INSIDE,
    'cards/edges.md': HOLDS_INSIDE,
    'fleet/top-up.md': HOLDS_INSIDE,
    'books/first-copy.md': HOLDS_INSIDE,
    'run/asked-for.md': HOLDS_INSIDE,
    'sandbox/auto-freeze.md': HOLDS_INSIDE,
    'sandbox/golden.md': HOLDS_INSIDE,
    'sandbox/purchase.md': HOLDS_INSIDE,
    'tx/list.md': HOLDS_INSIDE,
    'wait/until.md': HOLDS_INSIDE,
  },
  'strict-freeze': {
    'sandbox/auto-freeze.md': 'a settlement on a frozen card waits',
    'sandbox/purchase.md': 'a settlement on a frozen card waits',
  },
  'sig-prefixed': {},
  'keys-ignored': { 'fleet/lost-answer.md': 'a top-up without an answer is for a person to decide' },
  'paths-other': {},
};

export async function transcripts(): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.md')).sort();
}

/** Bytes of a transcript. */
export const lengthOf = (name: string): number => statSync(join(folder, name)).size;

/** Runs one transcript under a dialect and compares what must be equal. */
export async function expectSame(name: string, dialect: DialectName): Promise<void> {
  const problems = await runTranscript(join(folder, name), { update: false, dialect, anyRequest: true });
  // A transcript that is wrong anyway is told by its own test.
  const usual =
    problems.length === 0 ? [] : await runTranscript(join(folder, name), { update: false, anyRequest: true });
  const own = problems.filter(problem => !usual.includes(problem));
  const reason = DIFFERENCES[dialect][name];
  if (reason === undefined) expect(own).toEqual([]);
  else expect(own, `${name} no longer differs under ${dialect} (${reason})`).not.toEqual([]);
}
