/** What a statement reads of a copy: exact checkpoints, records and own rows from the beginning of its period on. */

import { isPending } from '../books/effect.ts';
import type { Period } from '../books/period.ts';
import { rowName } from '../books/position.ts';
import type { CardRow, CheckpointCardRow, MoveRow, TxRow, WalletRow } from '../books/rows.ts';
import type { Checkpoint, StatementInput, StatementRecords } from '../books/statement-lines.ts';
import type { MirrorDatabase } from './database.ts';
import { refuseOlder } from './fold.ts';
import type { KeptCheckpoint } from './kept-checkpoint.ts';
import { type Closing, IS_IN_DOLLARS, postedRecords } from './posted-records.ts';
import { unprovedCheckpoint } from './reconcile.ts';
import { IS_OF_UNKNOWN_TYPE, IS_PENDING } from './schema.ts';

type StatementRows = Pick<StatementInput, 'checkpoints' | 'unproved' | 'cards' | 'records' | 'moves' | 'deposits'>;

/**
 * Of the newest exact checkpoint and what came before it; later rows are not proved yet. With `unreconciled` all there is, where
 * no exact checkpoint proves the end of the period. Throws `check_failed` for a period that begins before the kept records.
 */
export function statementRows(
  db: MirrorDatabase,
  { name, from, to }: Period,
  { unreconciled = false }: { readonly unreconciled?: boolean } = {},
): StatementRows {
  refuseOlder(db, from, name);
  const kept = db.all<KeptCheckpoint>('select * from checkpoint where exact = 1 order by sync, at_ms');
  const newest = kept.at(-1);
  // The last one before the period, for what was derived since; none before it: the account began within.
  const first = Math.max(
    0,
    kept.findLastIndex(checkpoint => checkpoint.at_ms < from),
  );
  const checkpoints = kept.slice(first).map(
    (checkpoint): Checkpoint => ({
      checkpoint,
      cards: db.all<CheckpointCardRow>('select * from checkpoint_card where cut_id = ?', checkpoint.cut_id),
    }),
  );
  const unproved = unreconciled && (newest?.at_ms ?? 0) < to ? unprovedCheckpoint(db) : undefined;
  const end = unproved?.checkpoint.at_ms ?? newest?.at_ms ?? 0;
  // From the first checkpoint on: each account is held against it, and what began before the period may end in it.
  const span = { from: Math.min(from, checkpoints[0]?.checkpoint.at_ms ?? from), to };
  return {
    checkpoints,
    ...(unproved !== undefined && { unproved }),
    cards: db.all<CardRow>('select * from cards order by created_ms, card_id'),
    records: recordsOf(
      db,
      { ...span, begin: from },
      unproved === undefined && newest !== undefined ? newest : ALL_THERE_IS,
    ),
    moves: movesUpTo(db, end, kept),
    deposits: readingsUpTo(db, end),
  };
}

/**
 * Own rows in their order. One that was sent again after an exact checkpoint had counted it as done was done when it was first
 * sent, or else by then.
 */
function movesUpTo(db: MirrorDatabase, end: number, exact: readonly KeptCheckpoint[]): readonly MoveRow[] {
  const counted = new Map<string, number>();
  for (const { counted_rows, at_ms } of exact) {
    for (const row of Object.keys(JSON.parse(counted_rows) as object)) {
      if (!counted.has(row)) counted.set(row, at_ms);
    }
  }
  return db
    .all<MoveRow & { readonly first_ms: number }>(
      'select v.*, m.first_ms from moves v join move m on m.op = v.op and m.row = v.row order by v.at_ms, v.op, v.row',
    )
    .map(({ first_ms, ...row }) => {
      const by = counted.get(rowName(row));
      return by === undefined || row.at_ms <= by ? row : { ...row, at_ms: Math.min(first_ms, by) };
    })
    .filter(({ at_ms }) => at_ms <= end);
}

/** Readings of the wallet in their order. One that came before another is dated no later, also where a clock went back. */
function readingsUpTo(db: MirrorDatabase, end: number): readonly WalletRow[] {
  return db
    .all<WalletRow>('select * from wallet_state order by rowid desc')
    .reduce<WalletRow[]>((later, row) => {
      later.push({ ...row, at_ms: Math.min(row.at_ms, later.at(-1)?.at_ms ?? row.at_ms) });
      return later;
    }, [])
    .filter(({ at_ms }) => at_ms <= end)
    .reverse();
}

const ALL_THERE_IS: Closing = { sync: Number.MAX_SAFE_INTEGER, changes: Number.MAX_SAFE_INTEGER };

const FROM = 'from record r left join merchant m on m.id = r.merchant';

const COLUMNS = `r.card_id, r.currency, r.decline_reason, r.created_at, r.first_seen, r.gone_at, r.tx_id, r.type, r.status,
  r.cents, m.name as merchant, r.mcc, r.merchant_country, r.authorization_id, r.at_ms ${FROM}`;

/** A purchase that is one changing record does not show when it was settled. */
const WENT_LATER = `select 1 from record r where r.card_id = ? and r.first_sync <= ? and r.gone_at is null and (
    r.at_ms > ? and r.at_ms <= ? and r.type in ('settlement', 'refund')
    or r.at_ms <= ? and (r.authorization_id = r.tx_id
      or r.at_ms > ? and r.type = 'authorization' and lower(coalesce(r.status, '')) <> 'settled')) limit 1`;

function recordsOf(
  db: MirrorDatabase,
  { begin, from, to }: Pick<Period, 'from' | 'to'> & { readonly begin: number },
  closing: Closing,
): StatementRecords {
  const { sync } = closing;
  const pending = db.all<{ card_id: string }>(
    `select distinct card_id from record where ${IS_PENDING}
      and gone_at is null and card_id is not null and ${IS_IN_DOLLARS} and at_ms >= ? and at_ms < ? and first_sync <= ?`,
    ...[begin, to, sync],
  );
  return {
    of: postedRecords(db, { from }, closing),
    wentLater: (card, { since, end, until }) => db.get(WENT_LATER, card, sync, end, until, end, since) !== undefined,
    unknownTypes: db.all<TxRow>(
      `select ${COLUMNS} where ${IS_OF_UNKNOWN_TYPE}
        and r.first_sync <= ? and r.gone_at is null and r.card_id is not null and ${IS_IN_DOLLARS}`,
      sync,
    ),
    pendingCards: new Set(pending.map(({ card_id }) => card_id)),
  };
}

/** Authorizations of the period that are pending, oldest first, each with what its settlements have left. */
export function pendingRows(db: MirrorDatabase, { from, to }: Period): NonNullable<StatementInput['pending']> {
  const rows = db.all<TxRow>(
    `select * from tx where ${IS_PENDING} and gone_at is null and ${IS_IN_DOLLARS}
      and at_ms >= ? and at_ms < ? order by at_ms, tx_id`,
    ...[from, to],
  );
  return rows.filter(isPending).map(record => {
    const settled = db.get<{ cents: number | null }>(
      `select sum(cents) as cents from tx where card_id = ? and type = 'settlement' and gone_at is null
        and authorization_id = ? and at_ms >= ? and ${IS_IN_DOLLARS}`,
      ...[record.card_id, record.tx_id, record.at_ms],
    );
    return { record, held: record.cents - (settled?.cents ?? 0) };
  });
}
