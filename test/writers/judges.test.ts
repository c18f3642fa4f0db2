import { expect, it } from 'vitest';
import { judgesAgree } from './judges.ts';
import { simulated } from './month.ts';

const { statement, expected, verdict } = simulated(7, 420);

it('a life of some hundred lines is balanced', () => {
  const lines = statement.accounts.reduce((sum, account) => sum + account.lines.length, 0);
  expect({ lines: lines > 250, verdict }).toEqual({ lines: true, verdict: 'balanced' });
});

await judgesAgree({ statement, expected });
