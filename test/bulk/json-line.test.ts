import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonLine } from '../../src/bulk/input.ts';
import { codePoint } from '../support/code-point.ts';

const VALUE = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
);

function faultOf(line: string): string {
  const { fault } = readJsonLine(line);
  return fault === undefined ? 'none' : `${fault.column} ${fault.text}`;
}

describe('one line of NDJSON', () => {
  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), VALUE, { maxKeys: 5 }),
        fc.constantFrom(undefined, 1, ' '),
        (row, space) => {
          const line = JSON.stringify(row, null, space).replaceAll('\n', ' ');
          const { members } = readJsonLine(line);
          const read = Object.fromEntries([...(members ?? [])].map(([name, { value }]) => [name, value]));
          expect(read).toEqual(JSON.parse(line));
        },
      ),
    );
  });

  it('is refused where JSON.parse refuses it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\{["a:,\d.eE+\-[\]{} \\u]{0,14}\}?$/), line => {
        let parses = true;
        try {
          JSON.parse(line);
        } catch {
          parses = false;
        }
        const { fault } = readJsonLine(line);
        if (!parses) expect(fault).toBeDefined();
        else if (fault !== undefined) expect(fault.text).toMatch(/second time|too deep/);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['[1]', '1 a list; NDJSON has one object a line'],
    ['5', '1 not a JSON object'],
    ['{"a":1} x', '9 there is text behind the end'],
    ['{"a":1,"a":2}', '8 "a" is given a second time'],
    ['{"é😀":01}', '7 a value was expected here'],
    ["{'a':1}", '2 a name in quotes was expected here'],
    ['{"a":}', '6 a value was expected here'],
    ['{"a":"b}', '6 a text in quotes is not closed, or has a wrong escape'],
    ['{"a":"\\x"}', '6 a text in quotes is not closed, or has a wrong escape'],
    ['{"a":{"b":{"c":{"d":{}}}}}', '21 too deep'],
  ])('%j: %s', (line, expected) => {
    expect(faultOf(line)).toBe(expected);
  });

  it('keeps a member called __proto__ a member', () => {
    const { members } = readJsonLine('{"metadata":{"__proto__":"x"}}');
    const value = members?.get('metadata')?.value;
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});
