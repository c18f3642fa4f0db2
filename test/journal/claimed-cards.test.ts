/** What the records of rows say of cards, and which cards deny it. */
import { expect, it } from 'vitest';
import { claimsOf, contradict, createClaimedCards } from '../../src/journal/runs/claimed-cards.ts';
import { JOURNAL_VERSION, type StoredRecord } from '../../src/journal/wal/records.ts';
import { type History, historyOf } from '../../src/journal/wal/replay.ts';

const OP = `op_${'0'.repeat(26)}`;
const MARK = `${OP}.1`;
const AT = Date.parse('2026-11-20T14:03:11Z');

/** A create of one row, and what came of it. */
function created(
  records: readonly object[],
  { op = OP, key }: { readonly op?: string; readonly key?: string } = {},
): History {
  const plan = { t: 'PLAN', version: JOURNAL_VERSION, op, bulk: false, rows: 1, at: AT };
  const item = { t: 'ITEM', row: 1, operation: 'cards.create', input: {}, key: key ?? `${op}.1.1`, amount: 500 };
  const all = [plan, item, { t: 'PLANNED' }, { t: 'RUN', pid: 1, start: '1', boot: 'b', at: AT }, ...records];
  const history = historyOf(all.map(record => ({ by: 'aaaaaaaa', record }) as unknown as StoredRecord));
  if (history === undefined) throw new Error('a history begins with its plan');
  return history;
}

const sent = { t: 'SENT', row: 1, attempt: 1, at: AT };
const end = { t: 'END', done: 0, refused: 0, not_sent: 1, cents: 0, at: AT };
const resolved = (as: string, card?: string) => ({
  t: 'RESOLVED',
  row: 1,
  as,
  card,
  note: 'why',
  who: 'ana@desk',
  at: AT,
});
const done = (id: string, made_at?: number) => ({
  t: 'DONE',
  row: 1,
  via: 'answer',
  changed: true,
  id,
  made_at,
  at: AT,
});

it.each([
  [
    'not done, by hand',
    [sent, resolved('not-done'), end],
    'which ana@desk has recorded at 2026-11-20T14:03:11Z as not done',
  ],
  ['done with another card, by hand', [sent, resolved('done', 'card_9'), end], 'as done with card_9'],
  [
    'refused',
    [sent, { t: 'FAILED', row: 1, kind: 'refused', message: 'no', at: AT }, end],
    'which is refused by the journal',
  ],
  [
    'not sent',
    [{ t: 'NOTSENT', row: 1, kind: 'unreachable', message: 'no', at: AT }, end],
    'which is not sent by the journal',
  ],
  [
    'rejected',
    [{ t: 'DENIED', why: 'rejected', note: 'no', who: 'bob', at: AT }, end],
    'whose request came to nothing',
  ],
])('a card with the mark of a row that is %s', (_, records, says) => {
  const claimed = createClaimedCards();
  claimed.add(created(records));
  expect(claimed.objection(MARK, 'card_1')).toContain(`made by row 1 of ${OP}, `);
  expect(claimed.objection(MARK, 'card_1')).toContain(says);
  expect(claimed.objection(`${OP}.2`, 'card_1')).toBeUndefined();
});

it.each([
  ['done', [sent, done('card_1'), end]],
  ['done with it, by hand', [sent, resolved('done', 'card_1'), end]],
  ['done without a card, by hand', [sent, resolved('done'), end]],
  ['unknown', [sent]],
  ['answered after it was recorded as not done', [sent, resolved('not-done'), end, done('card_1')]],
  ['answered after it was recorded with another card', [sent, resolved('done', 'card_9'), end, done('card_1')]],
  [
    'refused, and may be taken up again',
    [sent, { t: 'FAILED', row: 1, kind: 'insufficient_funds', message: 'no', at: AT }],
  ],
])('nothing is wrong with a card whose row is %s', (_, records) => {
  const claimed = createClaimedCards();
  claimed.add(created(records));
  expect(claimed.objection(MARK, 'card_1')).toBeUndefined();
});

it('a card of several rows is told, but where they asked for the same one or it is another one under its id', () => {
  const other = `op_${'1'.repeat(26)}`;
  const [one] = claimsOf(created([sent, done('card_1', AT), end]));
  const [byHand] = claimsOf(created([sent, resolved('done', 'card_1'), end], { op: other }));
  const [sameKey] = claimsOf(created([sent, done('card_1', AT), end], { op: other, key: `${OP}.1.1` }));
  const [afterReset] = claimsOf(created([sent, done('card_1', AT + 60_000), end], { op: other }));
  if (!one || !byHand || !sameKey || !afterReset) throw new Error('each names its card');
  expect([byHand, sameKey, afterReset, one].map(each => contradict(one, each))).toEqual([true, false, false, false]);
  const claimed = createClaimedCards();
  claimed.add(created([sent, done('card_1', AT), end]));
  claimed.add(created([sent, resolved('done', 'card_1'), end], { op: other }));
  expect([...claimed.several()]).toEqual([
    { card: 'card_1', op: OP, text: `claimed by row 1 of ${OP} and row 1 of ${other}` },
  ]);
});
