import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CsvRecord, csvRecords } from '../../src/bulk/input.ts';

const read = (text: string): CsvRecord[] => [...csvRecords(text)];

function texts(records: readonly CsvRecord[]): string[][] {
  return records.map(record => {
    if (record.fault !== undefined) throw new Error(`line ${record.fault.line}: ${record.fault.text}`);
    return record.fields.map(({ text }) => text);
  });
}

function faults(text: string): string[] {
  return read(text).flatMap(({ fault }) =>
    fault === undefined ? [] : [`${fault.line}:${fault.column} ${fault.text}`],
  );
}

const CELL = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.stringMatching(/^[",\r\n; a😀é]{0,8}$/u));

describe('the CSV reader', () => {
  it('reads back what the writer wrote', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 5 })
          .chain(width => fc.array(fc.array(CELL, { minLength: width, maxLength: width }), { maxLength: 8 })),
        fc.constantFrom('\n', '\r\n'),
        (rows, newline) => {
          // One empty cell alone is an empty line unless it is quoted.
          const text = stringify(rows, {
            record_delimiter: newline,
            quoted_match: /[\r\n]/,
            quoted_empty: true,
          });
          expect(texts(read(text))).toEqual(rows);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('tells every field its line and column in code points', () => {
    fc.assert(
      fc.property(fc.array(fc.array(CELL, { minLength: 2, maxLength: 2 }), { maxLength: 6 }), rows => {
        const text = stringify(rows, { quoted: true, quoted_empty: true });
        const lines = text.split('\n').map(line => [...line]);
        for (const record of read(text)) {
          for (const { line, column } of record.fields ?? []) expect(lines[line - 1]?.[column - 1]).toBe('"');
        }
      }),
    );
  });

  it('never loses or makes a record, whatever the bytes: each is one of the fields or a fault', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a",\r\n]{0,40}$/), text => {
        for (const { line, fault } of read(text)) {
          expect(line).toBeLessThanOrEqual(text.split('\n').length);
          if (fault !== undefined) expect(fault.line).toBeGreaterThanOrEqual(1);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['a,b\n"c"d,e\nf,g\n', ['2:4 there is text after a closing quote; quote the whole field']],
    ['a\nx"y\n', ['2:2 a quote inside a field without quotes; quote the field and double the quote']],
    ['a\n"open\nand on\n', ['2:1 a quote is opened here and never closed']],
    ['a\rb\r', ['1:2 a carriage return alone; lines end with LF or CRLF']],
    ['a\n1\n2\r', ['3:2 a carriage return alone; lines end with LF or CRLF']],
    [
      'a\n😀é"\nx"\n',
      [
        '2:3 a quote inside a field without quotes; quote the field and double the quote',
        '3:2 a quote inside a field without quotes; quote the field and double the quote',
      ],
    ],
  ])('names the place of what is wrong in %j', (text, expected) => {
    expect(faults(text)).toEqual(expected);
  });

  it('leaves empty lines out and keeps a quoted empty field', () => {
    expect(texts(read('a\r\n\r\n\n""\r\nb'))).toEqual([['a'], [''], ['b']]);
  });

  it('gives up a field that is too long', () => {
    expect(faults(`a\n"${'x'.repeat(1_000_001)}"\n`)).toEqual(['2:1 a field is longer than 1,000,000 characters']);
  });
});
