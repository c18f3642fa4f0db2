/** The stories under another way of speaking; `minimal` stands for all on every change, `transcripts.full.ts` has the rest. */
import { describe, expect, it } from 'vitest';
import { DIFFERENCES, expectSame, transcripts } from './transcripts.ts';

const names = await transcripts();

describe('minimal', () => {
  it.each(names)('%s', name => expectSame(name, 'minimal'));
});

it('the table of differences names stories there are', () => {
  const told = Object.values(DIFFERENCES).flatMap(reasons => Object.keys(reasons));
  expect(told.filter(name => !names.includes(name))).toEqual([]);
});
