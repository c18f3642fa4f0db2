/** Records on disk: what a crash leaves is cut, what anything else leaves is refused (B1, B2). */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checksum, decodeLines, encodeLines } from '../../src/journal/wal/codec.ts';
import type { JournalRecord } from '../../src/journal/wal/records.ts';
import { codePoint } from '../support/code-point.ts';

const records: JournalRecord[] = [
  { t: 'PLANNED' },
  { t: 'SENT', row: 1, attempt: 1, at: 1_700_000_000_000 },
  { t: 'AMBIG', row: 1, reason: 'no answer: "…" \u2028 € \\n', request_id: 'req_1', at: 1_700_000_000_001 },
];
const lines = records.map((record, seq) => encodeLines('0123abcd', seq, [record]));
const whole = Buffer.concat(lines);
const before = (lines[0]?.length ?? 0) + (lines[1]?.length ?? 0);

test('the checksum is CRC-32', () => {
  expect(checksum(Buffer.from('123456789'))).toBe('cbf43926');
});

test('what was written is read', () => {
  const read = decodeLines(whole, 'op');
  expect(read.written.map(({ record }) => record)).toEqual(records);
  expect(read.whole).toBe(whole.length);
});

test('every truncation of the last line is cut off, and only that line', () => {
  for (let end = before; end < whole.length; end += 1) {
    const read = decodeLines(whole.subarray(0, end), 'op');
    expect(read.written).toHaveLength(2);
    expect(read.whole).toBe(before);
  }
});

test('every flipped byte is refused', () => {
  for (let at = 0; at < whole.length; at += 1) {
    for (const mask of [0x01, 0x20, 0xff]) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ mask;
      expect(() => decodeLines(damaged, 'op'), `byte ${at} ^ ${mask}`).toThrow(/damaged/);
    }
  }
});

test('a line that is missing in the middle, or stands twice, is refused', () => {
  const [one, two, three] = lines as [Uint8Array, Uint8Array, Uint8Array];
  for (const order of [
    [one, three],
    [two, three],
    [one, one, two],
    [one, three, two],
  ]) {
    expect(() => decodeLines(Buffer.concat(order), 'op')).toThrow(/damaged/);
  }
});

test('two writers count for themselves', () => {
  const other = encodeLines('ffffffff', 0, [{ t: 'PLANNED' }]);
  expect(decodeLines(Buffer.concat([...lines, other]), 'op').written).toHaveLength(4);
});

test('any text survives', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), fc.nat(), (text, seq) => {
      const record: JournalRecord = { t: 'LOOKED', row: 1, found: text.toWellFormed(), at: seq };
      expect(decodeLines(encodeLines('aaaaaaaa', 0, [record]), 'op').written[0]?.record).toEqual(record);
    }),
  );
});
