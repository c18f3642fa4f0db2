/** Requests for the same change that came to nothing lately: whoever repeats the command sees why it is asked for anew. */
import { DAY } from '../../core/durations.ts';
import { readHistory } from '../store/read-ops.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { History } from '../wal/replay.ts';
import { deniedWords, type UnwrittenPlan } from './approval-gate.ts';
import type { JournalDependencies } from './dependencies.ts';
import { isNamed, namedIn } from './named-rows.ts';

/** A notice for the latest one of 24 hours. What cannot be read is left out: the new request stands, whatever was before it. */
export async function tellDenied(
  { store, clock, notice }: Pick<JournalDependencies, 'store' | 'clock' | 'notice'>,
  { plan, record }: Pick<UnwrittenPlan, 'plan' | 'record'>,
): Promise<void> {
  const named = isNamed(plan.rows) ? namedIn(plan)?.names : undefined;
  const last = await deniedLast(store, { ...record, named }, clock.now() - DAY).catch(() => undefined);
  if (last !== undefined) notice(`note: ${deniedWords(last)}. This asks anew`);
}

async function deniedLast(
  store: JournalDependencies['store'],
  { op, origin, digest, named }: PlanRecord & { readonly named: ReadonlySet<string> | undefined },
  writtenSince: number,
): Promise<History | undefined> {
  let last: History | undefined;
  for await (const head of store.heads({ writtenSince })) {
    const plan = head.unfinished || head.op === op ? undefined : await head.plan();
    if (plan?.approval === undefined || plan.digest !== digest || plan.origin !== origin) continue;
    const history = await readHistory(store, head.op);
    if (history === undefined || isAnother(history, named)) continue;
    if (history.denied !== undefined && history.denied.at >= (last?.denied?.at ?? 0)) last = history;
  }
  return last;
}

/** Each row of both has a name, and none is the same: another purchase was rejected. */
function isAnother({ rows }: History, named: ReadonlySet<string> | undefined): boolean {
  if (named === undefined) return false;
  return [...rows.values()].every(({ item: { intent } }) => intent !== undefined && !named.has(intent));
}
