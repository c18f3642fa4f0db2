/** Rows of other operations of this journal that moved money of the same account, or may have. */
import { CLOCK_MARGIN_MS } from '../../contract/evidence.ts';
import { CliError } from '../../core/errors.ts';
import type { Change, OtherMove, OtherMoves } from '../execution/other-moves.ts';
import { readOrError } from '../store/read-ops.ts';
import type { PlanRecord } from '../wal/records.ts';
import type { RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { effectOn } from './moved-meanwhile.ts';

export function otherMovesOf({ store }: Pick<JournalDependencies, 'store'>, own: PlanRecord): OtherMoves {
  /** By the print of their API key: whether it is one of the account's. */
  const sameAccount = new Map<string, Promise<boolean>>([[own.key_print, Promise.resolve(true)]]);
  const isOfAccount = async (plan: PlanRecord) => {
    if (own.mode === 'sandbox' && plan.origin !== own.origin) return false;
    const known = sameAccount.get(plan.key_print) ?? store.isOwnPlan(plan);
    sameAccount.set(plan.key_print, known);
    return known;
  };
  return {
    clockSlackMs: store.clockSlackMs ?? 0,
    async since(at) {
      const moves: OtherMove[] = [];
      // By the clock of the store, which may be another one.
      for await (const head of store.heads({ writtenSince: at - CLOCK_MARGIN_MS })) {
        if (head.op === own.op) continue;
        const plan = await head.plan();
        if (plan === undefined || plan.mode !== own.mode || !(await isOfAccount(plan))) continue;
        const history = await readOrError(store, head.op);
        if (history instanceof CliError) moves.push(untold(head.op, plan));
        else for (const row of history?.rows.values() ?? []) moves.push(...moveOf(head.op, plan, row));
      }
      return moves;
    },
  };
}

/** Its records cannot be read: it may have moved anything at any time since it was begun. */
function untold(op: string, { at }: PlanRecord): OtherMove {
  return { op, card: undefined, change: undefined, from: at, to: undefined, sentUntil: Number.MAX_SAFE_INTEGER };
}

function moveOf(op: string, { at }: PlanRecord, row: RowHistory): readonly OtherMove[] {
  const { state, item, firstSent, lastSent, done, resolved, failed } = row;
  const isDone = state === 'done';
  // Refused in a word that nobody knows: it may have been done.
  if (!isDone && state !== 'unknown' && failed?.plausible !== true) return [];
  const change = changeOf(row);
  if (change?.card === 0 && change.wallet === 0) return [];
  const from = firstSent?.at ?? at;
  const to = isDone ? (done?.at ?? resolved?.at) : undefined;
  return [{ op, card: item.card, change, from, to, sentUntil: lastSent?.at ?? from }];
}

/** Undefined where the journal does not know it. */
function changeOf({ item, duplicate }: RowHistory): Change | undefined {
  const wallet = effectOn({ item, duplicate });
  if (wallet === undefined) return undefined;
  return { wallet, card: item.operation === 'cards.create' ? 0 : -wallet };
}
