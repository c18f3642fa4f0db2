/** Cards that another operation may be moving money of: a run that brings cards to a balance must not count on them. */
import { CliError } from '../../core/errors.ts';
import { readOrError } from '../store/read-ops.ts';
import type { RunPlan, TakeUp } from '../types.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { JournalDependencies } from './dependencies.ts';
import { mayBeOf } from './same-account.ts';
import { takeUpOf } from './take-up.ts';

export interface Overlapping {
  readonly plan: Pick<RunPlan, 'rows'>;
  readonly record: Pick<PlanRecord, 'origin' | 'mode'>;
}

/**
 * Throws `guarded` when a card of an aimed row has a fund or withdraw whose outcome is not known, or that a living
 * process still sends: the balance the amount was computed from may not show it yet.
 */
export async function refuseOverlaps({ store }: JournalDependencies, { plan, record }: Overlapping): Promise<void> {
  const cards = new Set<string>();
  for (const { aim, cardId } of plan.rows) if (aim !== undefined && cardId !== undefined) cards.add(cardId);
  if (cards.size === 0) return;
  const isOfAccount = mayBeOf(store, record);
  for await (const head of store.heads({ unfinished: true })) {
    const { op } = head;
    const other = await head.plan();
    if (other === undefined || !(await isOfAccount(other))) continue;
    const history = await readOrError(store, op);
    if (history instanceof CliError) throw history;
    if (history === undefined || history.end !== undefined || !history.planned) continue;
    const held = await store.isHeld(op);
    for (const { item, state } of history.rows.values()) {
      const moves = item.operation === 'cards.fund' || item.operation === 'cards.withdraw';
      if (!moves || item.card === undefined || !cards.has(item.card)) continue;
      if (state === 'unknown' || (held && state === 'open')) {
        throw stillMoving(item.card, op, { held, takeUp: await takeUpOf(store, op) });
      }
    }
  }
}

function stillMoving(card: string, op: string, { held, takeUp }: { held: boolean; takeUp: TakeUp }): CliError {
  const why = held
    ? 'is being funded or withdrawn from by another process'
    : 'has a fund or withdraw with an unknown outcome';
  return new CliError('guarded', {
    message: `${card} ${why}: ${op}${takeUp.whose}`,
    notes: ['Its balance may not show that yet, so what it still needs is unknown.'],
    hint: held ? `cardwright ops show ${op}` : takeUp.command,
    outcome: 'not_sent',
    op,
  });
}
