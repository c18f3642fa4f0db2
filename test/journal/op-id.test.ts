import { expect, test } from 'vitest';
import { containsSecret } from '../../src/core/card-numbers.ts';
import { markerOf } from '../../src/journal/execution/marker.ts';
import { isOp, keyOf, newOp } from '../../src/journal/wal/op-id.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The bytes that an op is made of. */
function bytesOf(op: string): Uint8Array {
  const bits = [...op.replace('op_', '')].reduce((sum, char) => (sum << 5n) | BigInt(ALPHABET.indexOf(char)), 0n);
  return Buffer.from(bits.toString(16).padStart(34, '0'), 'hex');
}

/** Chance gives these one after the other. */
function drawn(...ops: readonly string[]) {
  const left = ops.map(bytesOf);
  return { bytes: () => left.shift() ?? new Uint8Array(17), fraction: () => 0 };
}

const PLAIN = 'op_7zq2w4xk5m6n3p2r7t4v5y6z2k';

test('is what was drawn', () => {
  expect(newOp(drawn(PLAIN))).toBe(PLAIN);
  expect(isOp(PLAIN)).toBe(true);
});

// The service would be sent its marker in metadata, where no card number may stand, and a reading would hide it.
test.each([
  ['op_abc4242424242424242abcdefg', 1],
  ['op_abcdefghjkmnpqr42424242424', 242],
  ['op_abcdefghjkmnpqrstvwx424242', 4_242_424],
])('%s could be a card number in a marker, and another one is drawn', (op, row) => {
  expect([containsSecret(markerOf(op, row)), containsSecret(keyOf(op, row, 242))]).toContain(true);
  expect(newOp(drawn(op, PLAIN))).toBe(PLAIN);
});
