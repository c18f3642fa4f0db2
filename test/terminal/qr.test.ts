import { encode } from 'uqr';
import { describe, expect, it } from 'vitest';
import { qrLines } from '../../src/terminal/qr.ts';

const ADDRESS = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const matrix = encode(ADDRESS, { border: 4, ecc: 'M' }).data;

describe('a QR code on a terminal', () => {
  it('has every module where the code has it, in half blocks and in ASCII', () => {
    const halves = qrLines(ADDRESS, { columns: 80, unicode: true }) ?? [];
    const read = halves.flatMap(line => {
      const cells = [...line];
      return [cells.map(cell => !'█▀'.includes(cell)), cells.map(cell => !'█▄'.includes(cell))];
    });
    expect(read.slice(0, matrix.length)).toEqual(matrix);
    const ascii = qrLines(ADDRESS, { columns: 80, unicode: false }) ?? [];
    expect(ascii.map(line => (line.match(/../g) ?? []).map(pair => pair === '  '))).toEqual(matrix);
  });

  it('has a quiet zone of four modules', () => {
    const lines = qrLines(ADDRESS, { columns: 80, unicode: true }) ?? [];
    expect(lines.slice(0, 2).every(line => /^█+$/.test(line))).toBe(true);
    expect(lines.every(line => /^[█▀]{4}.*[█▀]{4}$/.test(line))).toBe(true);
  });

  it('is not drawn broken on a narrow screen', () => {
    expect(qrLines(ADDRESS, { columns: matrix.length, unicode: true })).toBeDefined();
    expect(qrLines(ADDRESS, { columns: matrix.length - 1, unicode: true })).toBeUndefined();
    expect(qrLines(ADDRESS, { columns: 2 * matrix.length - 1, unicode: false })).toBeUndefined();
  });
});
