/** What a statement reads of a copy: exact checkpoints, records and own rows; and what exports were made of it. */

import type { Period } from '../books/period.ts';
import { before, isChangingRecord, spentBy } from '../books/records.ts';
import type { ExportRow, MoveRow, TxChangeRow, TxRow, WalletRow } from '../books/rows.ts';
import type { PostedRow, StatementCard, StatementInput, StatementRecords } from '../books/statement-lines.ts';
import { addTo } from '../core/objects.ts';
import { newestReport } from './account-rows.ts';
import type { KeptCheckpoint, MirrorDatabase } from './file.ts';
import { checkpointOf, unprovedCheckpoint } from './reconcile.ts';
import { leftOut } from './record-sums.ts';
import { IS_IN_OTHER_CURRENCY, IS_OF_UNKNOWN_TYPE, IS_PENDING } from './schema.ts';

/** What a statement is asked for. */
interface Asked {
  /** All there is, where no exact checkpoint proves the end of the period. */
  readonly unreconciled?: boolean | undefined;
  /** The open authorizations of the period, too. */
  readonly pending?: boolean | undefined;
}

/** Of the newest exact checkpoint and what came before it; later rows are not proved yet. */
export function statementRows(db: MirrorDatabase, period: Period, { unreconciled, pending }: Asked = {}) {
  const { from, to } = period;
  const kept = db.all<KeptCheckpoint>('select * from checkpoint where exact = 1 order by sync, at_ms');
  const newest = kept.at(-1);
  // The last one before the period, for what was derived since; none before it: the account began within.
  const first = Math.max(
    0,
    kept.findLastIndex(checkpoint => checkpoint.at_ms < from),
  );
  const checkpoints = kept.slice(first).map(checkpoint => checkpointOf(db, checkpoint));
  const unproved = unreconciled && (newest?.at_ms ?? 0) < to ? unprovedCheckpoint(db) : undefined;
  const end = unproved?.checkpoint.at_ms ?? newest?.at_ms ?? 0;
  // From the first checkpoint on: each account is held against it, and what began before the period may end in it.
  const span = { from: Math.min(from, checkpoints[0]?.checkpoint.at_ms ?? from), to };
  return {
    period,
    checkpoints,
    ...(unproved !== undefined && { unproved }),
    heldOpen: heldOpenSince(db, to),
    cards: db.all<StatementCard>(
      'select card_id, last4, label, metadata, created_ms from cards order by created_ms, card_id',
    ),
    records: recordsOf(
      db,
      { ...span, begin: from },
      unproved === undefined && newest !== undefined ? newest : ALL_THERE_IS,
    ),
    moves: db.all<MoveRow>(`select * from (${MOVES}) where at_ms <= ? order by sent_ms, op, row`, end),
    deposits: db.all<WalletRow>(`select * from (${READINGS}) where at_ms <= ? order by nth`, end),
    pending: pending ? pendingRows(db, period) : [],
    leftOut: leftOut(db, '+at_ms >= ? and +at_ms < ?', from, to),
  };
}

/** What keeps the last reconcile at or after that instant provisional, with its cards. */
function heldOpenSince(db: MirrorDatabase, at: number): readonly string[] {
  const last = newestReport(db);
  if (last === undefined || last.verdict !== 'provisional' || last.at_ms < at) return [];
  type Kept = { readonly provisional: boolean; readonly candidates: readonly string[]; readonly text: string };
  const { findings } = JSON.parse(last.report) as { readonly findings: readonly Kept[] };
  return findings
    .filter(({ provisional }) => provisional)
    .map(({ candidates, text }) => `${candidates.slice(0, 3).join(', ')}: ${text}`);
}

/**
 * Own rows. One that was sent again after an exact checkpoint had counted it as done was done when it was first sent, or else by
 * then.
 */
const MOVES = `select v.op, v.row, v.operation, v.card_id, v.cents, v.outcome, v.purpose, v.at_ms as sent_ms,
  case when v.at_ms > counted.at_ms then min(m.first_ms, counted.at_ms) else v.at_ms end as at_ms
  from moves v join move m on m.op = v.op and m.row = v.row left join (
    select named.key as name, min(c.at_ms) as at_ms from checkpoint c, json_each(c.counted_rows) named
      where c.exact = 1 group by named.key
  ) counted on counted.name = v.op || '.' || v.row`;

/** Readings of the wallet. One that came before another is dated no later, also where a clock went back. */
const READINGS = `select rowid as nth, total_deposited_cents,
  min(at_ms) over (order by rowid rows between current row and unbounded following) as at_ms from wallet_state`;

const ALL_THERE_IS: Closing = { sync: Number.MAX_SAFE_INTEGER, changes: Number.MAX_SAFE_INTEGER };

/** A purchase that is one changing record does not show when it was settled. */
const MAY_HOLD = `select 1 from record r where r.card_id = ? and r.first_sync <= ? and r.gone_at is null and r.at_ms <= ?
    and (r.authorization_id = r.tx_id
      or r.at_ms > ? and r.type = 'authorization' and lower(coalesce(r.status, '')) <> 'settled') limit 1`;

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
    of: postedRecords(db, from, closing),
    mayHold: (card, { since, end }) => db.get(MAY_HOLD, card, sync, end, since) !== undefined,
    unknownTypes: db.all<TxRow>(
      `select * from tx where ${IS_OF_UNKNOWN_TYPE} and gone_at is null and card_id is not null and ${IS_IN_DOLLARS}
        and (select first_sync from record r where r.tx_id = tx.tx_id) <= ?`,
      sync,
    ),
    pendingCards: new Set(pending.map(({ card_id }) => card_id)),
  };
}

/** Authorizations of the period that are pending, oldest first, each with what its settlements have left. */
function pendingRows(db: MirrorDatabase, { from, to }: Period): NonNullable<StatementInput['pending']> {
  return db.all<NonNullable<StatementInput['pending']>[number]>(
    `select tx_id, at_ms, card_id, merchant, cents - coalesce((
        select sum(s.cents) from record s where s.authorization_id = tx.tx_id and s.card_id = tx.card_id
          and s.type = 'settlement' and s.gone_at is null and s.at_ms >= tx.at_ms and ${IS_IN_DOLLARS}
      ), 0) as held from tx
      where ${IS_PENDING} and gone_at is null and card_id is not null and ${IS_IN_DOLLARS}
        and at_ms >= ? and at_ms < ? order by at_ms, tx_id`,
    ...[from, to],
  );
}

// Settlements and refunds of a card as they stood when a statement closes

/** What a statement closes by: the last sync of it, and the number of the last change that its checkpoint knew. */
interface Closing {
  readonly sync: number;
  readonly changes: number;
}

/** What nobody can count in dollars is no line. */
const IS_IN_DOLLARS = `(${IS_IN_OTHER_CURRENCY}) is not true`;

/** So many cards are looked up; for more, every record of the time is read in one pass. */
const MOST_LOOKED_UP = 100;

/** Rows of a card as one JSON text: to hand them over column by column costs half as much again. Cards come in their order. */
const posted = (which: string) => `select card_id, posted from (
    select r.card_id, json_group_array(json_object('tx_id', r.tx_id, 'type', r.type, 'status', r.status, 'cents', r.cents,
      'merchant', (select name from merchant where id = r.merchant), 'mcc', r.mcc, 'merchant_country', r.merchant_country,
      'authorization_id', r.authorization_id, 'at_ms', r.at_ms)) as posted
    from record r where ${which} and r.type in ('settlement', 'refund') and r.at_ms >= ?2
      and r.first_sync <= ?3 and r.gone_at is null and ${IS_IN_DOLLARS} group by +r.card_id
  ) join card using (card_id) where +card_id in (select value from json_each(?1)) order by created_ms, card_id`;

/** Reads them card by card, so that those of one card at a time are in memory. */
function postedRecords(db: MirrorDatabase, from: number, closing: Closing): StatementRecords['of'] {
  const changed = changedRecords(db, from, closing);
  return function* (cards) {
    const which = cards.length > MOST_LOOKED_UP ? 'true' : 'r.card_id in (select value from json_each(?1))';
    const ids = JSON.stringify(cards.map(({ card_id }) => card_id));
    const read = db.each<{ card_id: string; posted: string }>(posted(which), ids, from, closing.sync);
    let next = read.next();
    for (const card of cards) {
      const rows = [...(changed.rows.get(card.card_id) ?? [])];
      if (next.value?.card_id === card.card_id) {
        for (const row of JSON.parse(next.value.posted) as PostedRow[]) if (!changed.ids.has(row.tx_id)) rows.push(row);
        next = read.next();
      }
      yield [card, rows];
    }
    if (next.done !== true) throw new RangeError('the records of a card were passed over');
  };
}

type Change = TxChangeRow & { readonly number: number };

/** Changes that bear on a line; of the state of an authorization nothing does. */
const FIELDS = ['type', 'cents', 'card_id', 'authorization_id', 'currency', 'at_ms', 'gone_at'];

/**
 * Records that changed after the checkpoint, as they were before, and purchases in one changing record, which may have
 * changed within the period whenever they began.
 */
function changedRecords(db: MirrorDatabase, from: number, { sync, changes }: Closing) {
  const isSingle = db.fact('single') !== undefined;
  const bearing = `select rowid as number, * from record_change where field in ('${FIELDS.join("', '")}')`;
  // What came after the checkpoint stands at the end of the table: of most services nothing else is read.
  const all = isSingle
    ? db.all<Change>(
        `${bearing} and tx_id in (select tx_id from record_change where rowid > ? or seen >= ?) order by rowid`,
        ...[changes, from],
      )
    : db.all<Change>(`${bearing} and rowid > ? order by rowid`, changes);
  const changesOf = new Map<string, Change[]>();
  for (const change of all) {
    addTo(changesOf, change.tx_id, change);
  }
  const checkpoints = db.all<KeptCheckpoint>(
    'select at_ms, changes from checkpoint where exact = 1 order by sync, at_ms',
  );
  /** The record as it was, and of a purchase in one changing record a row each time that it was seen to change. */
  function rowsAsOf(now: TxRow, all: readonly Change[]): (TxRow & PostedRow)[] {
    const known = all.filter(({ number }) => number <= changes);
    const was = before(now, all.slice(known.length));
    if (!isChangingRecord(was)) return [was];
    const rows: (TxRow & PostedRow)[] = [];
    let total = 0;
    const step = (spent: number, at_ms = was.at_ms, since?: number) => {
      if (spent === total) return;
      // An amount under a known id stays.
      const tx_id = rows.length === 0 ? was.tx_id : `${was.tx_id}-${rows.length + 1}`;
      rows.push({ ...was, tx_id, at_ms, spent: spent - total, ...(since !== undefined && { since }) });
      total = spent;
    };
    step(spentBy(before(now, all)));
    for (const [index, { seen, number }] of known.entries()) {
      const next = known[index + 1];
      const checkpoint = checkpoints.findLast(each => each.changes < number);
      // One reading shows several fields at once.
      if (next?.seen === seen && checkpoint === checkpoints.findLast(each => each.changes < next.number)) continue;
      const spent = spentBy(before(now, all.slice(index + 1)));
      const since = Math.max(was.at_ms, checkpoint?.at_ms ?? 0);
      // What no exact checkpoint shows unsettled is of the day of the purchase, the only one that the service tells.
      if (rows.length === 0 && since === was.at_ms) step(spent);
      else step(spent, Math.max(was.at_ms, seen), since);
    }
    return rows;
  }

  const rows = new Map<string, PostedRow[]>();
  for (const [tx_id, each] of changesOf) {
    const now = db.get<TxRow>(
      'select * from tx where tx_id = ? and exists (select 1 from record r where r.tx_id = tx.tx_id and r.first_sync <= ?)',
      ...[tx_id, sync],
    );
    if (now === undefined) continue;
    for (const row of rowsAsOf(now, each))
      if (row.card_id !== null && row.gone_at === null && row.at_ms >= from) addTo(rows, row.card_id, row);
  }
  // Ids of those that are not as a plain reading gives them, and what they were, a card.
  return { ids: new Set(changesOf.keys()), rows };
}

// Exports that were made of an account, kept to tell later what has come since.

/** Keeps it where it is not the same as the newest one of its period, format and account; resolves to that one. */
export function keepExport(db: MirrorDatabase, row: ExportRow): ExportRow | undefined {
  return db.commit(() => {
    const before = db.get<ExportRow>(
      `select period, format, account, lines, sha256, at_ms from export
        where period = ? and format = ? and account = ? order by rowid desc limit 1`,
      ...[row.period, row.format, row.account],
    );
    if (before?.sha256 !== row.sha256) db.insert('export', { ...row });
    return before;
  });
}
