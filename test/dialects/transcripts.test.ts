/**
 * Stories under another way of speaking. On every change: `minimal`, which says least, with the first story of each
 * folder and the first for each reason to tell one otherwise; `transcripts.full.ts` has all stories and all dialects.
 */
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIFFERENCES, expectSame, transcripts } from './transcripts.ts';

const names = await transcripts();
const firstOfFolder = names.filter((name, at) => at === 0 || dirname(name) !== dirname(names[at - 1] ?? ''));
const reasons = Object.entries(DIFFERENCES.minimal);
const firstOfReason = reasons.filter(([, reason], at) => reasons.findIndex(([, other]) => other === reason) === at);
const chosen = new Set([...firstOfFolder, ...firstOfReason.map(([name]) => name)]);

describe('minimal', () => {
  it.each([...chosen])('%s', name => expectSame(name, 'minimal'));
});

it('the table of differences names stories there are', () => {
  const told = Object.values(DIFFERENCES).flatMap(reasons => Object.keys(reasons));
  expect(told.filter(name => !names.includes(name))).toEqual([]);
});
