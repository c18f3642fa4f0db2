/** Rows cut out of a page's bytes: the same lines as reading would give, or none at all. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCutter } from '../../src/client/row-slicer.ts';
import { TRANSACTION } from '../../src/contract/resources.ts';
import { mayHoldCardNumber } from '../../src/core/card-numbers.ts';

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
    const [begin, end] = found?.written.ids ?? [];
    expect(Buffer.from(found?.written.bytes ?? []).toString('utf8', begin, end)).toBe('"txn_1"');
  });

  it('holds for every text and every amount', () => {
    const unit = fc.oneof(
      fc.constantFrom(...'"\\/\u0000\n\u001f\u007f\u2028'),
      fc.nat(0xd7ff).map(String.fromCodePoint),
    );
    const text = fc.string({
      unit: fc.oneof(unit, fc.integer({ min: 0xe000, max: 0x10ffff }).map(String.fromCodePoint)),
    });
    const cents = fc.integer({ min: 0, max: 1_000_000_000 });
    const rows = fc.array(fc.record({ merchant: fc.option(text), amount: cents.map(each => each / 100) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(rows, some => {
        const made = some.map((each, index) => row(index, each));
        // A page with what may be a card number is read as usual, and masked there.
        fc.pre(!mayHoldCardNumber(Buffer.from(pageText(made)).toString('latin1')));
        const found = cut(pageText(made));
        expect(found).toBeDefined();
        const lines = Buffer.from(found?.written.lines() ?? []).toString();
        expect(lines).toBe(made.map(each => `${JSON.stringify(each)}\n`).join(''));
        expect(made.map((_, index) => JSON.parse(found?.written.row(index) ?? ''))).toEqual(made);
      }),
    );
  });

  it('keeps numbers as they are written, and every value that is in no contract', () => {
    const cutter = createCutter(TRANSACTION);
    const first = [row(1, { rate: 0.5, tags: ['a'], more: { deep: [1, { b: null }] } })];
    cutter.learn({ data: first }, first);
    const text = JSON.stringify(row(1)).replace('0.01', '1.10').slice(0, -1);
    const line = `${text},"rate":1e400,"tags":[true,"\\u00e9",-0.0],"more":{"x":{"y":""},"":[]}}`;
    const lines = cutter.cut(Buffer.from(`{"data":[${line}]}`))?.written.lines();
    expect(Buffer.from(lines ?? []).toString()).toBe(`${line}\n`);
    expect(cutter.cut(Buffer.from(`{"data":[${text},"rate":1,"tags":[],"more":{"OTP":"123456"}}]}`))).toBeUndefined();
  });

  it('finds the list behind other members, under another name and bare', () => {
    const rows = [row(1), row(2)];
    const text = JSON.stringify(rows);
    for (const [value, page] of [
      [{ items: rows }, `{"meta":{"page":2},"note":"\\"items\\":[","items":${text},"end":true}`],
      [{ transactions: rows, total: 2 }, `{"transactions":${text},"total":2}`],
      [rows, text],
    ] as const) {
      const cutter = createCutter(TRANSACTION);
      cutter.learn(value, rows);
      const lines = cutter.cut(Buffer.from(page))?.written.lines();
      expect(Buffer.from(lines ?? []).toString()).toBe(rows.map(each => `${JSON.stringify(each)}\n`).join(''));
    }
  });

  it('takes white space out first, but not where a number would become another', () => {
    const rows = [row(1), row(2, { merchant: 'a: b, "c"' })];
    const spaced = JSON.stringify({ data: rows, meta: { page: 1 } }, null, 1);
    for (const text of [spaced, spaced.replaceAll(/\n */g, ' '), `\n${spaced}`, JSON.stringify(rows, null, '\t')]) {
      const cutter = createCutter(TRANSACTION);
      cutter.learn(JSON.parse(text), rows);
      const lines = cutter.cut(Buffer.from(text))?.written.lines();
      expect(Buffer.from(lines ?? []).toString()).toBe(rows.map(each => `${JSON.stringify(each)}\n`).join(''));
      for (const odd of ['1e400', '-0', '-0.0', '1E2', '12345678901234567']) {
        expect(cutter.cut(Buffer.from(text.replace('0.01', odd)))).toBeUndefined();
      }
    }
  });

  it('learns that rows leave members out, and in which order the service has them', () => {
    const cutter = createCutter(TRANSACTION);
    const [plain, declined] = [row(1), row(2, { decline_reason: 'x' })];
    cutter.learn({ data: [plain] }, [plain]);
    expect(cutter.cut(Buffer.from(pageText([declined])))).toBeUndefined();
    cutter.learn({ data: [declined] }, [{ decline_reason: 'x', ...declined }]);
    const page = [plain, declined, plain];
    expect(cutter.cut(Buffer.from(pageText(page)))?.written.count).toBe(3);
    expect(cutter.cut(Buffer.from(pageText([{ decline_reason: 'x', ...plain }])))).toBeUndefined();
  });

  it('agrees with the parser on every page of any JSON', () => {
    const bytes = fc.array(fc.constantFrom(...'{}[],:"\\ue1-.0 \n', 'é', 'null'), { maxLength: 6 });
    const edits = fc.array(fc.record({ at: fc.nat(400), cut: fc.nat(3), put: bytes.map(each => each.join('')) }), {
      minLength: 1,
      maxLength: 2,
    });
    const start = pageText([row(1), row(2, { merchant: 'é\\n"' })]);
    const cutter = learnt();
    const check = (text: string) => {
      const found = cutter.cut(Buffer.from(text));
      if (found === undefined) return;
      const value = JSON.parse(text) as { data: unknown[] };
      expect({ ...(found.rest as object), data: value.data }).toEqual(value);
      expect(value.data.map((_, index) => JSON.parse(found.written.row(index)))).toEqual(value.data);
      expect(found.written.count).toBe(value.data.length);
    };
    fc.assert(
      fc.property(edits, some => {
        check(some.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), start));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a page that must be read', () => {
  const one = JSON.stringify(row(1));
  it.each([
    ['another order of members', `{"data":[{"card_id":"c","id":"txn_1"}]}`],
    ['a member more', pageText([row(1, { more: 1 })])],
    ['a member less', pageText([{ id: 'txn_1' }])],
    ['white space and no end', `{ "data":[${one}]`],
    ['white space between rows', `{"data":[${one}, ${one}]}`],
    ['an amount as text', pageText([row(1, { amount: '5.00' })])],
    ['an amount with three decimals', pageText([row(1, { amount: 1.234 })])],
    ['an amount with an exponent', `{"data":[${one.replace('0.01', '1e3')}]}`],
    ['negative zero', `{"data":[${one.replace('0.01', '-0')}]}`],
    ['a leading zero', `{"data":[${one.replace('0.01', '00.01')}]}`],
    ['an amount beyond cents', `{"data":[${one.replace('0.01', '1234567890123')}]}`],
    ['a negative amount, which is read without its sign', pageText([row(1, { amount: -5 })])],
    ['an id with an escape', pageText([row(1, { id: 'txn"1' })])],
    ['a list that is there twice', `{"data":[${one}],"data":[${one}]}`],
    ['more escapes than an expression can go back through', pageText([row(1, { merchant: '\n'.repeat(4_000_000) })])],
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
      [[row(1, { more: [[[1]]] })], [row(1, { more: [[[1]]] })]],
      [
        [{ more: 1 }, row(1)],
        [{ more: 1 }, row(1)],
      ],
      [[row(1, { merchant_name: 'x', merchant: null })], [row(1, { merchant: 'x' })]],
      [[row(1, { amount: '5' })], [row(1, { amount: 5 })]],
    ] as const) {
      const cutter = createCutter(TRANSACTION);
      cutter.learn({ data: raw }, read);
      expect(cutter.cut(Buffer.from(JSON.stringify({ data: raw })))).toBeUndefined();
    }
  });
});
