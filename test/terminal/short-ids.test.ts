import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TRANSACTION_COLUMNS } from '../../src/commands/tx/transactions.ts';
import { shortIds } from '../../src/terminal/cells.ts';
import { inBatches, show, TERMINAL } from './cards.ts';

const id = fc
  .tuple(fc.constantFrom('card_', 'txn_', 'op_', ''), fc.stringMatching(/^[a-d]{1,26}$/))
  .map(([prefix, rest]) => prefix + rest);

describe('ids in tables', () => {
  it('are cut to six characters behind their prefix, with a sign that more follows', () => {
    const short = shortIds(['card_4akk2ccxswjujkcfr4he2tdf', 'card_sg3yszr6qotxmslmx5kaw7xu'], 6, '…');
    expect([...short.values()]).toEqual(['card_4akk2c…', 'card_sg3ysz…']);
  });

  it('are longer where that does not tell them apart', () => {
    const short = shortIds(['card_4akk2ccxswjujkcfr4he2tdf', 'card_4akk2ccxzzzzzzzzzzzzzzzz'], 6, '...');
    expect([...short.values()]).toEqual(['card_4akk2ccxs...', 'card_4akk2ccxz...']);
  });

  it('stay as they are where little is saved, and where they are no plain word', () => {
    expect([...shortIds(['card_1', 'card_12', '-', 'karte_株式会社東京広告株式会社東京広告'], 6, '…')]).toEqual([]);
  });

  it('each is the beginning of one alone', () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 30, size: 'max' }), ids => {
        for (const [whole, short] of shortIds(ids, 6, '…')) {
          const begin = short.slice(0, -1);
          expect(new Set(ids.filter(other => other.startsWith(begin)))).toEqual(new Set([whole]));
        }
      }),
    );
  });
});

describe('a list of transactions', () => {
  const rows = ['株式会社東京広告', 'שלום', 'Acme Ltd'].map((merchant, index) => ({
    id: `txn_${index}psaka6fk76mr3w2mfm3i5av`,
    card_id: `card_${index}g3yszr6qotxmslmx5kaw7xu`,
    type: 'authorization',
    status: 'pending',
    amount: 75,
    merchant,
    created_at: '2026-11-20T14:03:11Z',
  }));
  const listed = async (terminal: Parameters<typeof show>[1]) =>
    (
      await show(
        { noun: 'transaction', columns: TRANSACTION_COLUMNS, listing: { batches: inBatches(rows), page: () => ({}) } },
        terminal,
      )
    ).out;

  it.each([
    [60, 'ID CARD STATUS AMOUNT MERCHANT WHEN'],
    [100, 'ID CARD TYPE STATUS AMOUNT MERCHANT WHEN'],
    [140, 'ID CARD TYPE STATUS AMOUNT MERCHANT WHEN'],
  ])('says its own id, which card, where and how much, %i columns wide', async (columns, titles) => {
    const [head = '', first = ''] = (await listed({ ...TERMINAL, columns })).split('\n');
    expect(head.split(/ +/)).toEqual(titles.split(' '));
    expect(first).toContain(columns < 140 ? 'card_0g3ysz…' : 'card_0g3yszr6qotxmslmx5kaw7xu');
  });

  it('holds whole ids in a pipe', async () => {
    expect(await listed({})).toContain('txn_0psaka6fk76mr3w2mfm3i5av\tcard_0g3yszr6qotxmslmx5kaw7xu');
  });
});
