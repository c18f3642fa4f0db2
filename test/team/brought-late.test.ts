/** The shortest orders of brought-late.ts, and which lines of a copy can be brought; brought-late.full.ts has them all. */
import { describe, expect, it } from 'vitest';
import { linesLacking } from '../../src/team/import-op.ts';
import { broughtLate, FILE, PUSHED, SINGLE } from './brought-late.ts';
import { done, linesOf, sent } from './test-account.ts';

broughtLate([
  { line: SINGLE, steps: ['ana pushes', 'failover', ...PUSHED] },
  { line: FILE, steps: ['the standby is cut off', 'ben takes it over', 'ana pushes', 'failover', ...PUSHED] },
]);

describe('what of a copy can be written behind what the database has', () => {
  const lines = (by: string, ...records: Parameters<typeof linesOf>[1][]) =>
    Buffer.from(linesOf(by, ...records))
      .toString('latin1')
      .match(/[^\n]*\n/g) ?? [];
  const [run, late, end, other] = lines('97c7d7d0', sent(1), done(1), sent(2), sent(3));
  const [taken, more] = lines('0b0b0b0b', sent(4), sent(5));
  const [changed] = lines('97c7d7d0', sent(9));
  const some = (...each: (string | undefined)[]) => each.map(String);

  it.each([
    ['what is not there', some(run), [], some(run, late, end), some(late, end)],
    ['nothing, where all is there', some(run, late), [], some(run, late), []],
    ['nothing behind a line of its writer that came late', some(run), some(late), some(run, late, end), []],
    ['what another process wrote behind that', some(run), some(late), some(run, late, taken), some(taken)],
    [
      'what another process wrote, beside lines that it had not read',
      some(run, late, end, other),
      [],
      some(run, taken),
      some(taken),
    ],
    ['nothing where another process has gone on with it', some(run, taken), [], some(run, late), undefined],
    ['nothing where it is there with other bytes', some(changed), [], some(run, late), undefined],
    ['the rest of several', some(run, taken), [], some(run, late, taken, more), some(late, more)],
  ])('%s', (_, there, before, own, lacking) => {
    expect(linesLacking({ there, late: before, own })).toEqual(lacking);
  });
});
