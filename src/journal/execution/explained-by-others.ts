/** The change of card and wallet around an unknown row, judged beside what the other operations of the journal have moved. */
import { MINUTE } from '../../core/durations.ts';
import { type Change, type Explained, explained, timingOf } from './other-moves.ts';
import type { RunContext } from './run-context.ts';

interface Readings {
  readonly change: Change;
  /** What the row itself does. */
  readonly wanted: Change;
  /** When the later reading began, ms UTC. */
  readonly lookedAt: number;
}

/** The same with the journal as it is now, which is not before the readings: what they may show is in it. */
export async function explainedByOthers(
  context: RunContext,
  number: number,
  { change, wanted, lookedAt }: Readings,
): Promise<Explained> {
  const { plan, quietPeriodMs: quietMs, otherMoves } = context;
  const { item, firstSent } = context.row(number);
  const since = firstSent?.read_since ?? plan.at - MINUTE;
  const span = { since, sentAt: firstSent?.at ?? plan.at, lookedAt, slackMs: otherMoves.clockSlackMs, quietMs };
  const moves = (await otherMoves.since(since - span.slackMs - quietMs)).map(move => {
    // What has no card yet, as a create, has changed none that was there.
    const onCard = move.card === undefined ? move.change?.card !== 0 : move.card === item.card;
    const onBoth = move.change && { ...move.change, card: onCard ? move.change.card : 0 };
    return { op: move.op, change: onBoth, onCard, timing: timingOf(move, span) };
  });
  return explained(change, wanted, moves);
}
