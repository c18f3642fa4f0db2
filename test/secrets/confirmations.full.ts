/** Every line of every command that writes x modes x places x what was said, against what the effect column demands. */
import { describe, expect, it } from 'vitest';
import { closesStages, everyCommand, freezings, MODES, SAIDS, WHERES, walk, writes } from './guard-cases.ts';

closesStages();

const examples = (await everyCommand(true)).filter(writes);
const told = new Set(examples.map(({ line }) => line));
const writing = [...examples, ...(await freezings()).filter(({ line }) => !told.has(line))];

describe.each(MODES)('with a key of mode %s', mode => {
  it.each(writing.map(one => [one.line, one] as const))('%s', async (_, one) => {
    expect(await walk(one, { mode, wheres: WHERES, saids: SAIDS })).toBe(WHERES.length * SAIDS.length);
  });
});
