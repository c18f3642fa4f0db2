/** What other operations of this machine have moved since one began: they explain a wallet that differs from its plan. */
import { CliError } from '../../core/errors.ts';
import { readOrError } from '../store/read-ops.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { History, RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';

export interface MovedMeanwhile {
  readonly op: string;
  /** What it did to the wallet, cents; negative for money that left. */
  readonly cents: number;
  /** What each of its unknown rows does to it where it was done, cents. */
  readonly maybe: readonly number[];
  /** It also has rows whose effect on the wallet the journal does not know, such as terminated cards. */
  readonly untold: boolean;
}

/** Operations of the same account with rows that were done, or may have been, since `plan.at`. */
export async function movedMeanwhile(
  { store }: Pick<JournalDependencies, 'store'>,
  { op: own, at, origin, key_print: print }: PlanRecord,
): Promise<readonly MovedMeanwhile[]> {
  const moved: MovedMeanwhile[] = [];
  for await (const head of store.heads()) {
    const { op } = head;
    if (op === own) continue;
    const plan = await head.plan();
    if (plan === undefined || plan.origin !== origin || plan.key_print !== print) continue;
    const history = await readOrError(store, op);
    if (history === undefined || history instanceof CliError || history.latest < at) continue;
    const found = movedIn(history, at);
    if (found.cents !== 0 || found.maybe.length > 0 || found.untold) moved.push({ op, ...found });
  }
  return moved;
}

function movedIn({ rows }: History, since: number): Omit<MovedMeanwhile, 'op'> {
  let [sum, untold] = [0, false];
  const maybe: number[] = [];
  for (const row of rows.values()) {
    if (row.state !== 'done' && row.state !== 'unknown') continue;
    if ((row.done?.at ?? row.lastSent?.at ?? 0) < since) continue;
    const effect = effectOn(row);
    if (effect === undefined) untold = true;
    else if (row.state === 'done') sum += effect;
    else if (effect !== 0) maybe.push(effect);
  }
  return { cents: sum, maybe, untold };
}

/** On the wallet, cents; undefined where the journal does not know it. */
export function effectOn({
  item: { operation, amount },
  duplicate,
}: Pick<RowHistory, 'item' | 'duplicate'>): number | undefined {
  switch (operation) {
    case 'cards.create':
    case 'cards.fund':
      return amount === undefined ? undefined : -amount * (duplicate?.ids.length ?? 1);
    case 'cards.withdraw':
      return amount;
    case 'cards.terminate':
    case 'api.write':
      return undefined;
    default:
      return 0;
  }
}
