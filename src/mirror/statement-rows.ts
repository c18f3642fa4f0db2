/** What a statement reads of a copy: exact cuts, records and own rows from the beginning of its period on. */
import type { Period } from '../books/period.ts';
import type { CardRow, CutCardRow, CutRow, MoveRow, TxRow, WalletRow } from '../books/rows.ts';
import type { ExactCut, StatementInput } from '../books/statement.ts';
import type { MirrorDatabase } from './database.ts';

type StatementRows = Pick<StatementInput, 'cuts' | 'cards' | 'records' | 'moves' | 'deposits'>;

/** Of the newest exact cut and what came before it; later rows are not proved yet. */
export function statementRows(db: MirrorDatabase, { from }: Period): StatementRows {
  const kept = db.all<CutRow & { readonly sync: number }>('select * from cut where exact = 1 order by sync, at_ms');
  const newest = kept.at(-1);
  // The last one before the period, for what was derived since; none before it: the account began within.
  const first = Math.max(
    0,
    kept.findLastIndex(cut => cut.at_ms < from),
  );
  const cuts = kept
    .slice(first)
    .map(
      (cut): ExactCut => ({ cut, cards: db.all<CutCardRow>('select * from cut_card where cut_id = ?', cut.cut_id) }),
    );
  const end = newest?.at_ms ?? 0;
  return {
    cuts,
    cards: db.all<CardRow>('select * from cards order by created_ms, card_id'),
    records: db.each<TxRow>(
      `select tx.* from tx join record r on r.tx_id = tx.tx_id
        where r.first_sync <= ? and tx.at_ms >= ? and tx.gone_at is null and tx.type <> 'decline'`,
      newest?.sync ?? 0,
      from,
    ),
    moves: db.all<MoveRow>('select * from moves where at_ms >= ? and at_ms <= ? order by at_ms, op, row', from, end),
    deposits: db.all<WalletRow>('select * from wallet_observations where at_ms <= ? order by at_ms', end),
  };
}
