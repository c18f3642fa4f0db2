/**
 * Stories under another way of speaking. On every change: `minimal`, which says least, with the shortest story for each
 * reason to tell one otherwise, where one is short; `transcripts.full.ts` has all stories and all dialects.
 */
import { describe, expect, it } from 'vitest';
import { DIFFERENCES, expectSame, lengthOf, transcripts } from './transcripts.ts';

const names = await transcripts();
const SHORT_BYTES = 5_000;
const shortestFirst = names.filter(name => lengthOf(name) < SHORT_BYTES).toSorted((a, b) => lengthOf(a) - lengthOf(b));
const shortestOfEach = (keyOf: (name: string) => string | undefined) =>
  shortestFirst.filter((name, at) => {
    const key = keyOf(name);
    return key !== undefined && shortestFirst.findIndex(other => keyOf(other) === key) === at;
  });
const chosen = new Set(shortestOfEach(name => DIFFERENCES.minimal[name]));

describe('minimal', () => {
  it.each([...chosen])('%s', name => expectSame(name, 'minimal'));
});

it('the table of differences names stories there are', () => {
  const told = Object.values(DIFFERENCES).flatMap(reasons => Object.keys(reasons));
  expect(told.filter(name => !names.includes(name))).toEqual([]);
});
