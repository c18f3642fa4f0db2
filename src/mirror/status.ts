/** What a copy holds, how old it is, and what it found out about the service. */
import { statSync } from 'node:fs';
import { isoTime } from '../core/iso-time.ts';
import type { MirrorDatabase } from './database.ts';
import { Damaged, damagedCopy, openForReading } from './file.ts';
import { foldedRecords } from './fold.ts';

export interface MirrorStatus {
  readonly path: string;
  readonly exists: boolean;
  /** Bytes, with what is not yet written back. */
  readonly size: number;
  readonly as_of: string | null;
  readonly cards: number;
  readonly transactions: number;
  readonly gone: number;
  readonly merchants: number;
  readonly changes: number;
  readonly moves: number;
  readonly open_windows: number;
  /** Older records of closed purchases were left out; null where all are kept. */
  readonly kept_since: string | null;
  /** Records that were left out and are counted in sums alone. */
  readonly folded: number;
  readonly last_exact_cut: string | null;
  /** What was found out about the service; null while nobody knows. */
  readonly totals: string | null;
  readonly filters: string | null;
  readonly order: string | null;
  /** Fields that the contract does not know: how often each was seen on a new record. */
  readonly unknown_fields: Readonly<Record<string, number>>;
}

type Opening = Parameters<typeof openForReading>[0];

/** What the copy holds and how old it is. Nothing is sent. Throws `check_failed` where the file is damaged. */
export async function mirrorStatus(place: Opening): Promise<MirrorStatus> {
  const { path } = place;
  const db = await openForReading(place).catch(error => {
    throw error instanceof Damaged ? damagedCopy(path, error) : error;
  });
  const count = (table: string) => db?.get<{ n: number }>(`select count(*) as n from ${table}`)?.n ?? 0;
  try {
    const asOf = db?.number('as_of');
    const unknown = db?.all<{ name: string; times: number }>(
      `select of || '.' || name as name, times from unknown_field order by 1`,
    );
    const checkpoint = db?.get<{ cut_id: string }>(
      'select cut_id from checkpoint where exact = 1 order by sync desc, at_ms desc limit 1',
    );
    return {
      path,
      exists: db !== undefined,
      size: ['', '-wal'].map(part => sizeOf(path + part)).reduce((sum, size) => sum + size, 0),
      as_of: asOf === undefined ? null : isoTime(asOf),
      cards: count('card where gone_at is null'),
      transactions: count('record where gone_at is null'),
      gone: count('record where gone_at is not null'),
      merchants: count('merchant'),
      changes: count('record_change'),
      moves: count('move'),
      open_windows: count('open_window'),
      ...keptOf(db),
      last_exact_cut: checkpoint?.cut_id ?? null,
      totals: db?.fact('totals') ?? null,
      filters: db?.fact('filters') ?? null,
      order: db?.fact('order') ?? null,
      unknown_fields: Object.fromEntries((unknown ?? []).map(({ name, times }) => [name, times])),
    };
  } finally {
    db?.close();
  }
}

/** A copy of an older program has folded nothing yet. */
function keptOf(db: MirrorDatabase | undefined): Pick<MirrorStatus, 'kept_since' | 'folded'> {
  const since = db?.number('kept_since');
  if (db === undefined || since === undefined) return { kept_since: null, folded: 0 };
  return { kept_since: isoTime(since), folded: foldedRecords(db) };
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
