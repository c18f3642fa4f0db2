/** CSV from the text of a page beside CSV from its parsed rows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCutter } from '../../src/client/row-slicer.ts';
import { TRANSACTION_COLUMNS } from '../../src/commands/tx/columns.ts';
import { TRANSACTION } from '../../src/contract/resources.ts';
import type { RawRows } from '../../src/core/raw-rows.ts';
import { csvLines } from '../../src/terminal/delimited.ts';
import { rawCsv } from '../../src/terminal/raw-rows.ts';
import type { Row } from '../../src/terminal/view.ts';

const row = (more: object) => ({
  id: 'txn_1',
  card_id: 'card_1',
  type: 'refund',
  amount: 5,
  merchant: 'A',
  mcc: null,
  created_at: '2026-11-20T14:03:11Z',
  ...more,
});

function cut(rows: readonly object[], text = JSON.stringify(rows)): RawRows {
  const cutter = createCutter(TRANSACTION);
  cutter.learn({ data: [row({})] }, [row({})]);
  const written = cutter.cut(Buffer.from(`{"data":${text}}`))?.written;
  if (written === undefined) throw new Error(`not cut: ${text}`);
  return written;
}

async function both(written: RawRows, rows: readonly object[], raw = false) {
  const style = { columns: TRANSACTION_COLUMNS, raw };
  const fast = await rawCsv(style).lines(written);
  return [Buffer.from(fast).toString(), await csvLines(rows as Row[], { ...style, terminal: false })];
}

describe('CSV of a page that was not parsed', () => {
  it.each([
    ['a comma', { merchant: 'Shop, Inc.' }],
    ['a quote', { merchant: 'A "B", C' }],
    ['a formula', { merchant: '=1+1,2' }],
    ['what looks guarded', { merchant: "'@x" }],
    ['a line break', { merchant: 'a\r\nb' }],
    ['letters of more than a byte', { merchant: 'Café 東京 😀' }],
    ['a time with a fraction', { created_at: '2026-11-20T14:03:11.500Z' }],
    ['a time of another zone', { created_at: '2026-11-20T14:03:11+02:00' }],
    ['no time at all', { created_at: 'yesterday' }],
    ['a full-width formula', { merchant: '＝1+1' }],
    ['a blank before a formula', { merchant: '\u3000=1' }],
    ['control and direction characters', { merchant: 'a\u202eb\x9b\x7f\u200b' }],
    ['marks that stay', { merchant: 'Joe’s — 👩‍👩‍👧' }],
    ['null', { merchant: null, created_at: null }],
  ])('is the same with %s', async (_, more) => {
    const rows = [row({}), row(more), row(more), row({ id: 'txn_2' })];
    for (const raw of [false, true]) {
      const [fast, parsed] = await both(cut(rows), rows, raw);
      expect(fast).toBe(parsed);
    }
  });

  it('has two decimals in every amount', async () => {
    const text = '[1,0.5,1.10,12345678901.2]';
    const rows = (JSON.parse(text) as number[]).map(amount => row({ amount }));
    const written = text.slice(1, -1).split(',');
    const page = written.map(amount => JSON.stringify(row({ amount: 0 })).replace(':0,', `:${amount},`));
    const [fast, parsed] = await both(cut(rows, `[${page.join(',')}]`), rows);
    expect(fast).toBe(parsed);
    expect(fast).toContain(',1.10,');
  });

  it('is the same for every text', async () => {
    const text = fc.string({
      unit: fc.constantFrom(...'=+-@＝,"\'\\a;é\t\n\r \u0000\u3000\u0085\u202e'),
      maxLength: 6,
    });
    const rows = fc.array(fc.record({ merchant: fc.option(text), mcc: fc.option(text) }), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(rows, fc.boolean(), async (some, raw) => {
        const made = some.map(row);
        const [fast, parsed] = await both(cut(made), made, raw);
        expect(fast).toBe(parsed);
      }),
    );
  });
});
