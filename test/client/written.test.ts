/** Rows cut out of a page's bytes: the same lines as reading would give, or none at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCutter } from '../../src/client/written.ts';
import { TRANSACTION } from '../../src/contract/resources.ts';

const row = (index: number, more: object = {}) => ({
  id: `txn_${index}`,
  card_id: 'card_1',
  type: 'authorization',
  amount: index / 100,
  merchant: 'Shop',
  created_at: '2026-11-20T14:03:11Z',
  ...more,
});
const pageText = (rows: readonly object[]) => JSON.stringify({ data: rows, meta: { page: 1, total: rows.length } });

function learnt() {
  const cutter = createCutter(TRANSACTION);
  const rows = [row(1), row(2)];
  cutter.learn({ data: rows }, rows);
  return cutter;
}

const cut = (text: string) => learnt().cut(Buffer.from(text));

describe('a page like the one that was learnt from', () => {
  it('gives its rows byte for byte, a line each, and the rest as JSON', () => {
    const text =
      '{"data":[{"id":"txn_1","card_id":"card_1","type":"refund","amount":5.00,"merchant":"A},{B","created_at":null}],"meta":{"total":1}}';
    const found = cut(text);
    expect(Buffer.from(found?.written.lines() ?? []).toString()).toBe(
      '{"id":"txn_1","card_id":"card_1","type":"refund","amount":5.00,"merchant":"A},{B","created_at":null}\n',
    );
    expect(found?.rest).toEqual({ data: [], meta: { total: 1 } });
    expect(found?.written.id(0)).toBe('"txn_1"');
  });

  it('holds for every text and every amount', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 }).filter(each => each.isWellFormed());
    const cents = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }).filter(each => each !== 0);
    const rows = fc.array(fc.record({ merchant: fc.option(text), amount: cents.map(each => each / 100) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(rows, some => {
        const made = some.map((each, index) => row(index, each));
        const found = cut(pageText(made));
        expect(found).toBeDefined();
        const lines = Buffer.from(found?.written.lines() ?? []).toString();
        expect(lines).toBe(made.map(each => `${JSON.stringify(each)}\n`).join(''));
        expect(made.map((_, index) => JSON.parse(found?.written.row(index) ?? ''))).toEqual(made);
      }),
    );
  });

  it('knows where every value stands, for plain text only', () => {
    const { text, places } = cut(pageText([row(1), row(2)]))?.written.spans() ?? { text: '', places: new Int32Array() };
    expect(text.slice(places[12], places[13])).toBe('"txn_2"');
    expect(text.slice(places[18], places[19])).toBe('0.02');
    expect(cut(pageText([row(1, { merchant: 'é' })]))?.written.spans()).toBeUndefined();
    expect(cut(pageText([row(1, { merchant: '"' })]))?.written.spans()).toBeUndefined();
  });
});

describe('a page that must be read', () => {
  const one = JSON.stringify(row(1));
  it.each([
    ['another order of members', `{"data":[{"card_id":"c","id":"txn_1"}]}`],
    ['a member more', pageText([row(1, { more: 1 })])],
    ['a member less', pageText([{ id: 'txn_1' }])],
    ['white space', JSON.stringify({ data: [row(1)] }, null, 1)],
    ['white space between rows', `{"data":[${one}, ${one}]}`],
    ['an amount as text', pageText([row(1, { amount: '5.00' })])],
    ['an amount with three decimals', pageText([row(1, { amount: 1.234 })])],
    ['an amount with an exponent', `{"data":[${one.replace('0.01', '1e3')}]}`],
    ['negative zero', `{"data":[${one.replace('0.01', '-0')}]}`],
    ['a leading zero', `{"data":[${one.replace('0.01', '00.01')}]}`],
    ['an amount beyond cents', `{"data":[${one.replace('0.01', '1234567890123')}]}`],
    ['null where there must be a value', pageText([row(1, { id: null })])],
    ['an empty text where there must be one', pageText([row(1, { id: '' })])],
    ['an object', pageText([row(1, { merchant: { name: 'A' } })])],
    ['a line break in a text', `{"data":[${one.replace('Shop', 'a\nb')}]}`],
    ['a wrong escape', `{"data":[${one.replace('Shop', '\\x')}]}`],
    ['a cut escape', `{"data":[${one.replace('Shop', '\\u12')}]}`],
    ['a comma too many', `{"data":[${one},]}`],
    ['a row that ends too soon', `{"data":[${one.slice(0, -1)}`],
    ['no end', `{"data":[${one}`],
    ['something behind', `{"data":[${one}]} x`],
    ['another wrapper', `{"items":[${one}]}`],
  ])('%s', (_, text) => {
    expect(cut(text)).toBeUndefined();
  });

  it('is not UTF-8', () => {
    const bytes = Buffer.from(pageText([row(1, { merchant: 'XX' })]));
    bytes[bytes.indexOf('XX')] = 0xff;
    expect(learnt().cut(bytes)).toBeUndefined();
  });

  it('comes from rows that reading changes, or that hold more than plain values', () => {
    for (const [raw, read] of [
      [[{ txn: 1 }], [{ id: 1 }]],
      [[row(1, { metadata: {} })], [row(1, { metadata: {} })]],
      [[row(1, { amount: '5' })], [row(1, { amount: 5 })]],
    ] as const) {
      const cutter = createCutter(TRANSACTION);
      cutter.learn({ data: raw }, read);
      expect(cutter.cut(Buffer.from(JSON.stringify({ data: raw })))).toBeUndefined();
    }
  });
});
