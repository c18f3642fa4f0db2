/** A copy as it stood at a checkpoint that was kept, put together from what the copy knows now and what has changed since. */
import { addUp, before, type RecordSums } from '../books/purchases.ts';
import {
  type CardRow,
  type CheckpointCardRow,
  type MoveRow,
  purchaseOf,
  type SummedRow,
  type TxChangeRow,
  type WalletRow,
} from '../books/rows.ts';
import { CliError } from '../core/errors.ts';
import type { MirrorDatabase } from './database.ts';
import type { KeptCheckpoint } from './kept-checkpoint.ts';
import { allRows, foldedSums } from './record-sums.ts';

/** The wallet as that checkpoint saw it. */
export function walletAt(db: MirrorDatabase, to: KeptCheckpoint): WalletRow {
  const seen = db.get<WalletRow>(
    `select * from wallet_state where balance_cents = ? and total_deposited_cents = ? and total_spent_cents = ?
      order by at_ms <= ? desc, rowid desc limit 1`,
    ...[to.wallet_cents, to.total_deposited_cents, to.total_spent_cents, to.at_ms],
  );
  if (seen !== undefined) return seen;
  throw new CliError('check_failed', { message: `the mirror no longer holds the wallet of ${to.cut_id}` });
}

/** Cards that were listed then, with their state and balance of then. */
export function cardsAt(db: MirrorDatabase, to: KeptCheckpoint): CardRow[] {
  const then = new Map(
    db
      .all<CheckpointCardRow>('select * from checkpoint_card where cut_id = ?', to.cut_id)
      .filter(({ status }) => status !== 'unlisted')
      .map(row => [row.card_id, row]),
  );
  return db.all<CardRow>('select * from cards').flatMap(card => {
    const was = then.get(card.card_id);
    if (was === undefined) return [];
    return [{ ...card, status: was.status, balance_cents: was.balance_cents, gone_at: null }];
  });
}

/** Own rows that were known then, with what was known of them. */
export function movesAt(db: MirrorDatabase, to: KeptCheckpoint): MoveRow[] {
  const counted = JSON.parse(to.counted_rows) as Readonly<Record<string, string>>;
  const rows = db.all<MoveRow & { readonly done_sync: number | null }>(
    `select op, row, operation, card_id, cents, outcome, at_ms, done_sync from move where first_sync <= ?
      order by at_ms, op, row`,
    to.sync,
  );
  return rows.map(({ done_sync, ...row }) => {
    const wasDone = row.outcome === 'done' && done_sync !== null && done_sync <= to.sync;
    // A row that the sums showed to be done was unknown then, whatever was said of it later.
    const wasUnknown = `${row.op}.${row.row}` in counted || row.outcome === 'done';
    return { ...row, outcome: wasDone ? 'done' : wasUnknown ? 'unknown' : row.outcome };
  });
}

interface Span {
  readonly from: KeptCheckpoint | undefined;
  readonly to: KeptCheckpoint;
  readonly terminated: ReadonlySet<string>;
}

/** Records that were known at `to`, as they were, compared with `from`. */
export function recordSumsAt(db: MirrorDatabase, { from, to, terminated }: Span): RecordSums {
  const changes = from === undefined ? [] : changesBetween(db, from, to);
  const totals = { cards: foldedSums(db), hasRows: false };
  return addUp(rowsAt(db, from, to), { since: from?.at_ms, changes, terminated, totals });
}

function changesBetween(db: MirrorDatabase, from: KeptCheckpoint, to: KeptCheckpoint): TxChangeRow[] {
  return db.all<TxChangeRow>(
    `select tx_id, field, old, new, max(seen, ? + 1) as seen from record_change where rowid > ? and rowid <= ?
      order by rowid`,
    ...[from.at_ms, from.changes, to.changes],
  );
}

function rowsAt(db: MirrorDatabase, from: KeptCheckpoint | undefined, to: KeptCheckpoint): Iterable<SummedRow> {
  const later = new Map<string, TxChangeRow[]>();
  const changes = db.all<TxChangeRow>('select * from record_change where rowid > ? order by rowid', to.changes);
  for (const change of changes) later.set(change.tx_id, [...(later.get(change.tx_id) ?? []), change]);
  const rows = thenRows(allRows(db, from, to.sync), later, from?.at_ms ?? 0);
  // A record that was of another purchase then stands in another place now.
  const hasMoved = changes.some(({ field }) => field === 'authorization_id');
  return hasMoved ? [...rows].sort((a, b) => byPurchase(a, b)) : rows;
}

function* thenRows(
  rows: Iterable<SummedRow>,
  later: ReadonlyMap<string, readonly TxChangeRow[]>,
  since: number,
): Generator<SummedRow> {
  for (const row of rows) {
    const changes = later.get(row.tx_id);
    if (changes === undefined) yield row;
    else {
      const was = before(row, changes);
      // When it went, told as `allRows` tells it.
      yield { ...was, gone_at: was.gone_at !== null && was.gone_at >= since ? since + 1 : was.gone_at };
    }
  }
}

function byPurchase(a: SummedRow, b: SummedRow): number {
  const order = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
  return order(purchaseOf(a), purchaseOf(b)) || a.at_ms - b.at_ms || order(a.tx_id, b.tx_id);
}
