import fc from 'fast-check';
import { expect, test } from 'vitest';
import { notJson, walkJson } from '../../src/core/json-position.ts';

test.each([
  ['', 1, 1],
  ['{', 1, 2],
  ['[1,]', 1, 4],
  ['{"a": 1,}', 1, 9],
  ['{"a" 1}', 1, 6],
  ['{\n  "match": {}\n  "times": 1\n}', 3, 3],
  ['{"a": tru}', 1, 7],
  ['{"ä😀": x}', 1, 8],
  ['[1] 2', 1, 5],
  ['{"a": "line\nbreak"}', 1, 7],
  ["{'a': 1}", 1, 2],
])('%j is broken at line %i, column %i', (text, line, column) => {
  expect(notJson(text)).toBe(`line ${line}, column ${column}: not JSON`);
});

test('it says of a text what the parser says', () => {
  const pieces = fc.array(
    fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', '-0.5e3', 'true', ' ', '\n', '"\\x"', '01'),
  );
  const json = fc.json().map(text => [text]);
  fc.assert(
    fc.property(fc.oneof(pieces, json), parts => {
      const text = parts.join('');
      expect(walkJson(text, () => undefined) === undefined).toBe(parses(text));
    }),
    { numRuns: 2_000 },
  );
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
