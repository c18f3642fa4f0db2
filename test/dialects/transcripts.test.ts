/**
 * Stories under another way of speaking. On every change: `minimal`, which says least, with the first story of each
 * folder and every one that it is known to tell otherwise; `transcripts.full.ts` has all stories and all dialects.
 */
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIFFERENCES, expectSame, transcripts } from './transcripts.ts';

const names = await transcripts();
const firstOfFolder = names.filter((name, at) => at === 0 || dirname(name) !== dirname(names[at - 1] ?? ''));
const chosen = names.filter(name => firstOfFolder.includes(name) || name in DIFFERENCES.minimal);

describe('minimal', () => {
  it.each(chosen)('%s', name => expectSame(name, 'minimal'));
});

it('the table of differences names stories there are', () => {
  const told = Object.values(DIFFERENCES).flatMap(reasons => Object.keys(reasons));
  expect(told.filter(name => !names.includes(name))).toEqual([]);
});
