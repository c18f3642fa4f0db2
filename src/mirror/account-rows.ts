/** What the books ask of a copy for an overview and a policy: its cards, what its records say of their use. */
import { Activities, type ActivityRecord, oldestCounted } from '../books/activity.ts';
import type { CardRow, MoveRow, ReportRow, TxRow, WalletRow } from '../books/rows.ts';
import type { Spending } from '../books/spending.ts';
import { isInDollars } from '../contract/resources.ts';
import type { MirrorDatabase } from './file.ts';

type UseRecord = ActivityRecord & Pick<TxRow, 'merchant'>;

/** `now` is the instant of the copy, ms UTC. `spending` is given the records of its span. */
export function accountRows(db: MirrorDatabase, now: number, spending?: Spending) {
  const open = db.get<{ to_ms: number | null }>('select max(to_ms) as to_ms from open_window');
  const known = new Activities(now, open?.to_ms ?? Number.NEGATIVE_INFINITY);
  const since = oldestCounted(now);
  const uses = db.each<{ card_id: string | null; at_ms: number }>(
    `select card_id, max(at_ms) as at_ms from tx where gone_at is null
      and (type in ('authorization', 'settlement') or authorization_id = tx_id) and at_ms <= ? group by card_id`,
    now,
  );
  for (const { card_id, at_ms } of uses) if (card_id !== null) known.useAt(card_id, at_ms);
  const records = db.each<UseRecord>(
    `select tx_id, card_id, type, status, cents, authorization_id, at_ms, merchant, currency from tx
      where gone_at is null and at_ms >= ?`,
    Math.min(since, spending?.oldestCounted ?? since),
  );
  let leftOut = 0;
  for (const record of records) {
    if (record.at_ms >= since) known.add(record);
    if (isInDollars(record)) spending?.add(record);
    else leftOut += 1;
  }
  return {
    /** Oldest first, also those that ended or are gone. */
    cards: db.all<CardRow>('select * from cards order by created_ms, card_id'),
    known,
    /** Records of the counted time in another currency than USD: their amounts are in no sum. */
    leftOut,
  };
}

/** The wallet as it was last read. Not the one with the latest time: the clock of a service may go back. */
export function newestWallet(db: MirrorDatabase): WalletRow | undefined {
  return db.get<WalletRow>('select * from wallet_state order by rowid desc limit 1');
}

/** Own rows that move money, from `since` on (ms UTC). */
export function movesSince(db: MirrorDatabase, since: number): Iterable<MoveRow> {
  return db.each<MoveRow>('select * from moves where at_ms >= ?', since);
}

/** The newest reconciliation; undefined while there was none. */
export function newestReport(db: MirrorDatabase): ReportRow | undefined {
  return db.get<ReportRow>(
    `select r.* from reports r join checkpoint c on c.cut_id = r.to_cut order by c.sync desc, r.at_ms desc limit 1`,
  );
}
