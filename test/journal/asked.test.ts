/** What was asked for tells twins, and not what was chosen for the caller. */
import { expect, test } from 'vitest';
import { digestInOrder, inputDigest } from '../../src/journal/wal/op-id.ts';

const create = (bin: string, asked?: string) => ({
  operation: 'cards.create',
  input: { bin_id: bin, amount: 2500 },
  ...(asked !== undefined && { asked: { bin_id: asked } }),
});

test('another BIN that was the best one is the same change', () => {
  expect(inputDigest([create('bin_1', 'auto')])).toBe(inputDigest([create('bin_2', 'auto')]));
  expect(inputDigest([create('bin_1', 'auto')])).not.toBe(inputDigest([create('bin_1')]));
  expect(inputDigest([create('bin_1')])).not.toBe(inputDigest([create('bin_2')]));
});

test('runs that an older release left are found by what they sent', () => {
  expect(digestInOrder([create('bin_1', 'auto')])).toBe(digestInOrder([create('bin_1')]));
});
