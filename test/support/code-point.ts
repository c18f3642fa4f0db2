/**
 * Any one character but a lone surrogate, as the unit of a string: what `unit: 'binary'` of fast-check gives, which
 * makes a table of the million of them first, a second of work in every process.
 */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

export const codePoint: fc.Arbitrary<string> = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map(nth => String.fromCodePoint(nth < SURROGATES.first ? nth : nth + SURROGATES.count), numberOf);

/** Throws for what is not one of them, as fast-check wants it. */
function numberOf(text: unknown): number {
  const point = typeof text === 'string' ? text.codePointAt(0) : undefined;
  if (point === undefined || text !== String.fromCodePoint(point) || /[\ud800-\udfff]/u.test(text))
    throw new Error('not one character');
  return point < SURROGATES.first ? point : point - SURROGATES.count;
}
