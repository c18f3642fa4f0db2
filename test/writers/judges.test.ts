import { expect, it } from 'vitest';
import { statementOf } from '../../src/books/statement.ts';
import { judgesAgree, monthsGoTogether } from './judges.ts';
import { kept, simulated } from './month.ts';

const { statement, expected, verdict } = simulated(7, 420);

it('a life of some hundred lines is balanced', () => {
  const lines = statement.accounts.reduce((sum, account) => sum + account.lines.length, 0);
  expect({ lines: lines > 250, verdict }).toEqual({ lines: true, verdict: 'balanced' });
});

await judgesAgree({ statement, expected });

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const life = simulated(7, 420, () => undefined, 2 * HOUR);

it('a life of some weeks is balanced', () => {
  expect({ verdict: life.verdict, weeks: life.input.period.to - life.input.period.from > 20 * DAY }).toEqual({
    verdict: 'balanced',
    weeks: true,
  });
});

const { from, to } = life.input.period;
// The books begin with money on cards.
const ends = [from + 5 * DAY, from + 12 * DAY, from + 19 * DAY, to];
const months = ends.slice(1).map((end, nth) => {
  const period = { name: `part ${nth}`, from: ends[nth] ?? from, to: end };
  return kept(statementOf({ ...life.input, period }));
});
await monthsGoTogether({ months, expected: life.expected });
