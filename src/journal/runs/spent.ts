/** What has left the wallet, as the journal has it: a limit of the day counts by it, whenever the limit was set. */
import { CliError } from '../../core/errors.ts';
import { type Cents, cents } from '../../core/money.ts';
import type { OpStore } from '../store/op-store.ts';
import { readOrError } from '../store/read-ops.ts';
import type { History, RowHistory } from '../wal/replay.ts';

export interface SpentSince {
  readonly profile: string;
  /** Rows that were sent at this time or later count, ms UTC. */
  readonly since: number;
  /** Journals that were last written before it, by the store's own clock, are not read; ms. */
  readonly writtenSince: number;
  /** Leaves out what other persons have approved. */
  readonly unapproved?: boolean | undefined;
}

/**
 * Cents by operation, of the creates and funds of a profile that are done or may be. Throws `check_failed` for a
 * damaged journal that may hold some: what was spent is then not known.
 */
export async function spentByOp(
  store: OpStore,
  { profile, since, writtenSince, unapproved = false }: SpentSince,
): Promise<ReadonlyMap<string, Cents>> {
  const spent = new Map<string, Cents>();
  for await (const head of store.heads({ writtenSince })) {
    const { op } = head;
    const plan = await head.plan();
    if (plan !== undefined && plan.profile !== profile) continue;
    if (unapproved && plan?.approval !== undefined) continue;
    const history = await readOrError(store, op);
    if (history instanceof CliError) throw unknownSpending(store.setAside(op), history);
    if (history !== undefined) spent.set(op, spentIn(history, since, unapproved ? spentOrPlanned : spentBy));
  }
  return spent;
}

function spentIn(history: History, since: number, amountOf: (row: RowHistory, history: History) => number): Cents {
  let sum = 0;
  for (const row of history.rows.values()) if (sentAt(row, history.plan.at) >= since) sum += amountOf(row, history);
  return cents(sum);
}

/** With rows that may still be sent: of two commands at once each must see the other. */
function spentOrPlanned(row: RowHistory, { end }: History): number {
  return row.state === 'open' && end === undefined ? spentBy({ ...row, state: 'unknown' }) : spentBy(row);
}

function spentBy({ item, state, done, duplicate }: RowHistory): number {
  if (item.operation !== 'cards.create' && item.operation !== 'cards.fund') return 0;
  return state === 'done' || state === 'unknown'
    ? (done?.amount ?? item.amount ?? 0) * (duplicate?.ids.length ?? 1)
    : 0;
}

function sentAt({ lastSent, done }: RowHistory, planned: number): number {
  return lastSent?.at ?? done?.at ?? planned;
}

function unknownSpending(setAside: string, damage: CliError): CliError {
  return damage.with({
    notes: [
      'What it has spent today is not known, and the profile has a limit of the day.',
      `When you have looked at the service itself, ${setAside}`,
    ],
  });
}
