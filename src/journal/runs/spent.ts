/** What has left the wallet, as the journal has it: a limit of the day counts by it, whenever the limit was set. */
import { stat } from 'node:fs/promises';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents } from '../../core/money.ts';
import { systemCode } from '../../files/private-files.ts';
import { isOp, type Places } from '../wal/paths.ts';
import { readOrError, readPlan } from '../wal/read.ts';
import type { History, RowHistory } from '../wal/replay.ts';
import type { JournalDisk } from '../wal/storage.ts';

export interface SpentSince {
  readonly profile: string;
  /** Rows that were sent at this time or later count, ms UTC. */
  readonly since: number;
  /** Journals that were last written before it, by the file system's own clock, are not read; ms. */
  readonly writtenSince: number;
}

/**
 * Cents by operation, of the creates and funds of a profile that are done or may be. Throws `check_failed` for a
 * damaged journal that may hold some: what was spent is then not known.
 */
export async function spentByOp(
  { disk, places }: { readonly disk: JournalDisk; readonly places: Places },
  { profile, since, writtenSince }: SpentSince,
): Promise<ReadonlyMap<string, Cents>> {
  const spent = new Map<string, Cents>();
  for (const op of (await disk.names(places.root)).filter(isOp)) {
    if ((await lastWritten(places.journal(op))) < writtenSince) continue;
    const plan = await readPlan(disk, places, op);
    if (plan !== undefined && plan.profile !== profile) continue;
    const history = await readOrError(disk, places, op);
    if (history instanceof CliError) throw unknownSpending(places.folder(op), history);
    if (history !== undefined) spent.set(op, spentIn(history, since));
  }
  return spent;
}

function spentIn({ rows, plan }: History, since: number): Cents {
  let sum = 0;
  for (const row of rows.values()) if (sentAt(row, plan.at) >= since) sum += spentBy(row);
  return cents(sum);
}

function spentBy({ item, state, duplicate }: RowHistory): number {
  if (item.operation !== 'cards.create' && item.operation !== 'cards.fund') return 0;
  return state === 'done' || state === 'unknown' ? (item.amount ?? 0) * (duplicate?.ids.length ?? 1) : 0;
}

function sentAt({ lastSent, done }: RowHistory, planned: number): number {
  return lastSent?.at ?? done?.at ?? planned;
}

/** ms; 0 when there is no such file. */
async function lastWritten(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

function unknownSpending(folder: string, damage: CliError): CliError {
  return damage.with({
    notes: [
      'What it has spent today is not known, and the profile has a limit of the day.',
      `When you have looked at the service itself, move its folder away: ${folder}`,
    ],
  });
}
