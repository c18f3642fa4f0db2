/** Whether somebody has an op, and the command that goes on with it: one's own is resumed, another operator's taken over. */
import type { Hands } from '../shown-ops.ts';
import type { OpHands, OpStore } from '../store/op-store.ts';
import type { TakeUp } from '../types.ts';

export interface InHand {
  /** By a process that is not provably gone. */
  readonly held: boolean;
  /**
   * By a lease alone, which outlives its process, or by a process of another container or machine, which cannot be seen from
   * here: nothing says that anybody works on the op.
   */
  readonly leased: boolean;
  /** By the time this was asked: whatever was read before may be older. */
  readonly finished: boolean;
  /** It has ended, and this operator, who began it, has not been told. */
  readonly isUntold: boolean;
  /** Another operator, who has ended it. */
  readonly endedBy?: Hands | undefined;
  readonly takeUp: TakeUp;
}

/** To be asked before the records of the op are read: then they are not older than the answer. */
export async function inHandOf(
  store: Pick<OpStore, 'handsOf' | 'isHeld' | 'isHeldByRunning' | 'isUntold'>,
  op: string,
): Promise<InHand> {
  if (store.handsOf === undefined) {
    const isRunning = (await store.isHeldByRunning?.(op)) !== false;
    // Asked last: one that has ended meanwhile is no stranger.
    const held = await store.isHeld(op);
    const leased = held && !isRunning;
    return {
      held,
      leased,
      finished: false,
      isUntold: (await store.isUntold?.(op)) === true,
      takeUp: leased ? unseen(op) : takeUpBy(op, undefined),
    };
  }
  const hands = await store.handsOf(op);
  const isUntold = hands?.isUntold === true;
  const finished = hands?.isFinished === true;
  const held = !finished && hands !== undefined && hands.leftMs > 0;
  const endedBy = finished && hands?.isOther ? hands : undefined;
  return { held, leased: held, finished, isUntold, endedBy, takeUp: takeUpBy(op, hands) };
}

export async function takeUpOf(store: Pick<OpStore, 'handsOf'>, op: string): Promise<TakeUp> {
  return takeUpBy(op, await store.handsOf?.(op));
}

const UNSEEN = 'in the hands of a process of another container or machine';

function unseen(op: string): TakeUp {
  const command = `cardwright ops resume ${op}`;
  return {
    command,
    isTakeover: false,
    whose: `, ${UNSEEN}`,
    hands: UNSEEN,
    later: [`When that process has stopped: ${command}. It names the lock that the process has left.`],
  };
}

function takeUpBy(op: string, hands: OpHands | undefined): TakeUp {
  if (hands?.isUntold) {
    const whose = hands.isOther ? `; ${hands.holder} on ${hands.host} has ended it` : '';
    return { command: `cardwright ops resume ${op}`, isTakeover: false, whose, later: [] };
  }
  const isTakeover = hands?.isOther === true;
  const command = isTakeover ? `cardwright ops takeover ${op} --reason "why"` : `cardwright ops resume ${op}`;
  if (hands === undefined || (!hands.isOther && hands.leftMs === 0))
    return { command, isTakeover, whose: '', later: [] };
  const who = `in the hands of ${hands.holder} on ${hands.host}`;
  if (hands.leftMs === 0) return { command, isTakeover, whose: `, ${who}`, hands: who, later: [] };
  const later = [`When that process has stopped and its lease is over: ${command}`];
  const until = `${who}; ${freeIn(hands.leftMs)}`;
  return { command, isTakeover, whose: `, ${until}`, hands: until, later };
}

/** What is left of a lease, in words. */
export function freeIn(leftMs: number): string {
  return `without a sign of life it can be taken up in ${Math.ceil(leftMs / 1000)} s`;
}
