/** The judge of concurrent transactions is judged: by hand-made histories, by serial ones, and by faults planted in those. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anomalies } from '../../support/list-append/check.ts';
import type { History, Step, Transaction } from '../../support/list-append/history.ts';
import { FAULTS, planted, serialHistories } from '../../support/list-append/serial-histories.ts';

/**
 * `x+1` appends 1 to x, `x=1,2` read both, `x=` read an empty list. In front `undone` or `unknown`. Those on one side of a
 * `|` are under way at once, and a `long` one from the first to the last.
 */
function history(text: string): History {
  return text.split('|').flatMap((era, nth) =>
    era
      .trim()
      .split(/\s*;\s*/)
      .map((line): Transaction => {
        const [, word = 'committed', rest = ''] = /^(?:(undone|unknown|long) )?(.*)$/.exec(line) ?? [];
        const isLong = word === 'long';
        return {
          steps: rest.split(' ').map(stepOf),
          outcome: isLong ? 'committed' : (word as Transaction['outcome']),
          began: isLong ? -1 : 2 * nth,
          ended: isLong ? Number.POSITIVE_INFINITY : 2 * nth + 1,
        };
      }),
  );
}

function stepOf(text: string): Step {
  const [, key = '', sign, values = ''] = /^(\w)([+=])(.*)$/.exec(text) ?? [];
  if (sign === '+') return { append: key, value: Number(values) };
  return { read: key, list: values === '' ? [] : values.split(',').map(Number) };
}

/** For each: what is in it, a history that has it, and one beside it that has nothing. */
const JUDGED: readonly (readonly [names: string, bad: string, good: string])[] = [
  ['G0', 'x+1 y+1; x+2 y+2; x=1,2; y=2,1', 'x+1 y+1; x+2 y+2; x=1,2; y=1,2'],
  ['G1a', 'undone x+1; x+2; x=1,2', 'undone x+1; unknown x+2; x=2'],
  ['G1b, G-single', 'x+1 x+2; x=1', 'x+1 x+2; x=1,2; x='],
  ['G1c', 'x+1 y=1; y+1 x=1', 'x+1 y=1; y+1 x='],
  ['G-single', 'x+1 y+1; x=1 y=; x=1 y=1', 'x+1 y+1; x= y=; x=1 y=1'],
  ['lost update, G-single', 'x= x+1; x= x+2; x=1,2', 'x= x+1; x=1 x+2; x=1,2'],
  ['G2-item', 'x= y+1; y= x+1; x=1; y=1', 'x= y+1; y=1 x+1; x=1; y=1'],
  ['internal', 'x+1 x=', 'x+1 x=1'],
  ['incompatible order', 'x+1; x+2; x=1,2; x=2,1', 'x+1; x+2; x=1,2; x=1'],
  ['duplicate', 'x+1; x=1,1', 'x+1; x=1'],
  ['unknown value', 'x+1; x=1,2', 'x+1; unknown x+2; x=1,2'],
  ['G-single-realtime', 'x+1 | x= ; x=1', 'x+1 ; x= | x=1'],
  // An append that was answered, and that nobody ever sees.
  ['G0-realtime', 'x+1 | x+2 | x=2', 'x+1 | x+2 | x=1,2'],
  ['G1c-realtime', 'x=1 | x+1', 'x=1; x+1'],
  ['G0-realtime', 'x+1 | x+2 | x=2,1', 'x+1; x+2 | x=2,1'],
  ['G2-item-realtime', 'y+1; long x+1 y= | x=', 'y+1; long x+1 y= ; x='],
];

describe('a history by hand', () => {
  it('shows at least twelve anomalies', () => expect(new Set(JUDGED.map(([names]) => names)).size).toBeGreaterThan(12));

  it.each(JUDGED)('%s: %s, and not: %s', (names, bad, good) => {
    const found = anomalies(history(bad));
    expect(found.map(({ name }) => name).join(', ')).toBe(names);
    expect(anomalies(history(good))).toEqual([]);
  });
});

it('has nothing against what ran one after the other, however the calls overlapped', () => {
  fc.assert(
    fc.property(serialHistories, made => {
      expect(anomalies(made)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

describe('a fault in what ran one after the other', () => {
  it.each(Object.keys(FAULTS) as (keyof typeof FAULTS)[])('%s is found', kind => {
    let count = 0;
    fc.assert(
      fc.property(serialHistories, fc.nat(), (made, chance) => {
        const bad = planted(made, kind, chance);
        // Not every history has room for it.
        if (bad === undefined) return;
        count += 1;
        expect(anomalies(bad).map(({ name }) => name)).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
    expect(count).toBeGreaterThan(50);
  });
});
