import { expect, test } from 'vitest';
import { withoutCardNumbers } from '../../src/core/card-numbers.ts';
import { randomName } from '../../src/core/names.ts';

test('a random name is never taken for a card number, as its hexadecimal digits may be', () => {
  const bytes = Buffer.from('4242424242424242', 'hex');
  expect(withoutCardNumbers(`http://127.0.0.1:3000/${bytes.toString('hex')}`)).not.toContain('4242');
  const name = randomName(bytes);
  expect(withoutCardNumbers(`http://127.0.0.1:3000/${name}`)).toBe(`http://127.0.0.1:3000/${name}`);
  expect(name).toMatch(/^[a-p]{16}$/);
});

test('different bytes have different names', () => {
  const names = Array.from({ length: 256 }, (_, byte) => randomName(Uint8Array.of(byte)));
  expect(new Set(names).size).toBe(256);
});
