/** The commands under every dialect; `paths-other` is reached with overrides. */
import { beforeAll, describe, expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import { LINES, type Told, told } from './commands.ts';
import { differing } from './compare.ts';

let usual: readonly Told[] = [];
beforeAll(async () => {
  usual = await told('default');
});

it('the story does what it tells, as usual', () => {
  expect(usual).toHaveLength(LINES.length);
  const codes = usual.map(({ facts }) => (facts as { code: number }).code);
  // Enough of it succeeds, and enough is refused, for a comparison to mean something.
  expect(codes.filter(code => code === 0).length).toBeGreaterThan(40);
  expect(new Set(codes)).toEqual(new Set([0, 2, 5, 6, 9, 10]));
});

describe.each(DIALECT_NAMES)('%s', dialect => {
  it('tells a script the same', async () => differing(dialect, usual, await told(dialect)));
});
