import { expect, it } from 'vitest';
import { alarms, LIVES } from './false-alarms.ts';

const BLOCK = 10_000;

it.each(
  Object.keys(LIVES).flatMap(life =>
    life === 'default' ? Array.from({ length: 10 }, (_, at) => ({ life, at })) : [{ life, at: 0 }],
  ),
)(
  'no alarm: $life, block $at of 10,000 histories',
  ({ life, at }) => {
    const found = alarms(life, BLOCK, 1 + at * BLOCK);
    expect(found.wrong).toEqual([]);
    expect(found.checkpoints).toBe(3 * BLOCK);
  },
  600_000,
);
