/** What is counted of an op as its lines are written is what a reader of all of them says. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countsOf } from '../../src/journal/runs/run.ts';
import { decodeLines, encodeLines } from '../../src/journal/wal/codec.ts';
import { JOURNAL_VERSION, type JournalRecord } from '../../src/journal/wal/records.ts';
import { historyOf, stateOf } from '../../src/journal/wal/replay.ts';
import { createStanding } from '../../src/team/standing.ts';
import { freshOp } from './test-account.ts';

const WRITERS = ['aaaaaaaa', 'bbbbbbbb'] as const;
const row = fc.integer({ min: 1, max: 4 });
const at = fc.integer({ min: 1, max: 99 });
const error = { kind: 'insufficient_funds', message: 'no' } as const;
const item = (n: number) => ({ t: 'ITEM', row: n, operation: 'cards.fund', input: {}, amount: 100 });

/** Records of a run in any order, each by one of two processes. */
const records = fc.array(
  fc.tuple(
    fc.constantFrom(...WRITERS),
    fc.oneof(
      fc.record({ t: fc.constant('RUN'), pid: fc.constant(1), start: fc.constant('1'), boot: fc.constant('b'), at }),
      fc.record({ t: fc.constant('SENT'), row, attempt: fc.constant(1), at }),
      fc.record({ t: fc.constantFrom('ACK', 'AMBIG'), row, at }),
      fc.record({ t: fc.constant('DONE'), row, id: fc.constant('card_1'), via: fc.constant('answer'), at }),
      fc.record({ t: fc.constantFrom('FAILED', 'NOTSENT'), row, at }).map(each => ({ ...error, ...each })),
      fc.record({ t: fc.constantFrom('LOOKED', 'ABSENT'), row, at }),
      fc.record({ t: fc.constant('DUPLICATE'), row, ids: fc.constant([]), at }),
      fc.record({ t: fc.constant('RESOLVED'), row, as: fc.constantFrom('done', 'not-done'), at }),
      fc.record({ t: fc.constant('APPROVED'), persons: fc.constant([]), envelopes: fc.constant([]), at }),
      fc.record({ t: fc.constant('DENIED'), why: fc.constant('rejected'), note: fc.constant(''), at }),
      fc.record({ t: fc.constant('END'), done: fc.constant(0), cents: fc.constant(0), at }),
    ),
  ),
  { maxLength: 30, size: 'max' },
);

it('in any order of records, by two processes, with and without a request', () => {
  const plans = fc.record({ bulk: fc.boolean(), isHeld: fc.boolean(), isWhole: fc.boolean(), at });
  fc.assert(
    fc.property(
      plans,
      records,
      fc.integer({ min: 1, max: 200 }),
      ({ bulk, isHeld, isWhole, at: began }, more, part) => {
        const op = freshOp();
        const plan = {
          t: 'PLAN',
          version: JOURNAL_VERSION,
          op,
          bulk,
          rows: 4,
          at: began,
          ...(isHeld && { approval: '{}' }),
        };
        const written = [plan, ...[1, 2, 3, 4].map(item), ...(isWhole ? [{ t: 'PLANNED' }] : [])].map(
          record => [WRITERS[0], record] as const,
        );
        const counts = new Map<string, number>();
        const lines = [...written, ...more].map(([by, record]) => {
          const seq = counts.get(by) ?? 0;
          counts.set(by, seq + 1);
          return encodeLines(by, seq, [record as unknown as JournalRecord]);
        });
        const bytes = Buffer.concat(lines);
        const standing = createStanding();
        for (let from = 0; from < bytes.length; from += part) standing.read(bytes.subarray(from, from + part));
        const history = historyOf(decodeLines(bytes, op).written);
        if (history === undefined) throw new Error('a history begins with its plan');
        expect(standing.shown()).toEqual({
          state: stateOf(history),
          at: history.latest,
          counts: countsOf([...history.rows.values()]),
        });
      },
    ),
    { numRuns: 500 },
  );
});
