import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortIds } from '../../src/terminal/cells.ts';

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
