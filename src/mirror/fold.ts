/**
 * Leaves out what is older than a profile wants to keep. Records of closed purchases are added to sums a card, which the
 * books go on from; what they were one by one is gone from this machine.
 */
import { effectOf } from '../books/records.ts';
import { isoTime } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { MirrorDatabase } from './file.ts';
import { IS_IN_OTHER_CURRENCY, IS_PENDING } from './schema.ts';

export interface Folding {
  /** ms UTC of the exact checkpoint that has just counted everything. */
  readonly at: number;
  /** Whole months that are kept before it. */
  readonly months: number;
}

/**
 * Call it inside the commit that keeps an exact checkpoint: everything in the copy is in its sums. A purchase stays whole while
 * any of its records is young enough or pending. Where a purchase is one changing record nothing is left out, for
 * a late refund changes an old record.
 */
export function foldOlder(db: MirrorDatabase, { at, months }: Folding): void {
  const line = monthsBefore(at, months);
  if (db.fact('single') !== undefined || line <= (db.number('kept_since') ?? 0)) return;
  const stays = (key: string) =>
    `exists (select 1 from record o where o.${key} = coalesce(r.authorization_id, r.tx_id)
      and (o.at_ms >= ? or (${IS_PENDING} and o.gone_at is null)))`;
  db.run('create temp table if not exists folding (id integer primary key, tx_id text not null)');
  db.run('delete from folding');
  db.run(
    `insert into folding select r.id, r.tx_id from record r where r.at_ms < ? and r.card_id is not null
      and not ${stays('tx_id')} and not ${stays('authorization_id')}`,
    ...[line, line, line],
  );
  addToSums(db);
  // The newest change stays: checkpoints know changes by their number, and SQLite would give it to the next one.
  db.run(
    `delete from record_change where tx_id in (select tx_id from folding)
      and rowid < (select max(rowid) from record_change)`,
  );
  db.run('delete from record where id in (select id from folding)');
  db.run('delete from folding');
  forgetMerchants(db, line);
  db.setFact('kept_since', line);
}

/** Midnight UTC of the same day so many months before; of a month that has no such day its last one. */
function monthsBefore(at: number, months: number): number {
  const day = new Date(at);
  const first = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() - months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return first.setUTCDate(Math.min(day.getUTCDate(), last));
}

interface FoldedRow {
  readonly card_id: string;
  readonly type: string;
  readonly status: string | null;
  readonly cents: number;
  readonly records: number;
  readonly used_ms: number;
}

function addToSums(db: MirrorDatabase): void {
  const rows = db.all<FoldedRow>(
    `select card_id, type, null as status, count(*) as records, max(at_ms) as used_ms,
      coalesce(sum(case when ${IS_IN_OTHER_CURRENCY} then 0 else cents end), 0) as cents
      from record where id in (select id from folding) and gone_at is null group by card_id, type`,
  );
  for (const { card_id, records, used_ms, ...group } of rows) {
    const { settled, refunded } = effectOf({ ...group, tx_id: '', authorization_id: null });
    const isUse = group.type === 'authorization' || group.type === 'settlement';
    db.run(
      `insert into folded (card_id, settled_cents, refunded_cents, records, used_ms) values (?, ?, ?, ?, ?)
        on conflict (card_id) do update set settled_cents = settled_cents + excluded.settled_cents,
          refunded_cents = refunded_cents + excluded.refunded_cents, records = records + excluded.records,
          used_ms = max(coalesce(used_ms, 0), coalesce(excluded.used_ms, 0))`,
      ...[card_id, settled, refunded, records, isUse ? used_ms : null],
    );
  }
}

function forgetMerchants(db: MirrorDatabase, line: number): void {
  db.run('delete from challenge where last_seen < ?', line);
  const unused = db.all<{ id: number; name: string }>(
    'select id, name from merchant where id not in (select merchant from record where merchant is not null)',
  );
  for (const { id, name } of unused) {
    db.run(`insert into merchant_words (merchant_words, rowid, name) values ('delete', ?, ?)`, id, name);
    db.run('delete from merchant where id = ?', id);
    db.merchants.delete(name);
  }
}

/** Throws `check_failed` for a span that begins before the records that are kept, ms UTC. */
export function refuseOlder(db: MirrorDatabase, from: number, what: string): void {
  const since = db.number('kept_since');
  if (since === undefined || from >= since) return;
  throw new CliError('check_failed', {
    message: `${what} begins before the records in the mirror; they are kept since ${isoTime(since)}`,
    notes: ['The setting mirror_months of the profile says how many months are kept.'],
    outcome: 'not_sent',
  });
}

/** How many records are counted in sums alone. */
export function foldedRecords(db: MirrorDatabase): number {
  return db.get<{ n: number | null }>('select sum(records) as n from folded')?.n ?? 0;
}
