/**
 * What other operations of the journal moved between two readings of card and wallet. It is taken off before an unknown row is
 * judged, and where it cannot be told whether it belongs there, nothing is concluded (docs/design/reliability.md, section 5).
 */
import { cents, dollars } from '../../core/money.ts';
import type { ShownByCheck } from '../wal/records.ts';

/** Cents, less than zero for what left. */
export interface Change {
  readonly card: number;
  readonly wallet: number;
}

/** A row of another operation of the account that moved money, or may have. */
export interface OtherMove {
  readonly op: string;
  readonly card: string | undefined;
  /** Undefined where the journal does not know it. */
  readonly change: Change | undefined;
  /** When it was sent first, and when its outcome was written; undefined while that is unknown. ms UTC by its writer. */
  readonly from: number;
  readonly to: number | undefined;
  /** When it was sent last. */
  readonly sentUntil: number;
}

export interface OtherMoves {
  /** Of operations that were written at this time or later, ms UTC. */
  since(at: number): Promise<readonly OtherMove[]>;
  /** The clocks of those who write may be so far apart, ms. */
  readonly clockSlackMs: number;
}

/** Between which readings: the one before was not older than `since`, and its row was sent at `sentAt`. ms UTC. */
interface Span {
  readonly since: number;
  readonly sentAt: number;
  readonly lookedAt: number;
  readonly slackMs: number;
  /** So long after its last sending something may still be done. */
  readonly quietMs: number;
}

type Timing = 'before' | 'between' | 'perhaps';

export function timingOf(
  { from, to, sentUntil }: OtherMove,
  { since, sentAt, lookedAt, slackMs, quietMs }: Span,
): Timing {
  if ((to ?? sentUntil + quietMs) + slackMs <= since) return 'before';
  return to !== undefined && from - slackMs >= sentAt && to + slackMs <= lookedAt ? 'between' : 'perhaps';
}

export interface Explained {
  readonly found: 'it' | 'nothing' | 'unclear';
  /** Whose moves are, or may be, in the readings. */
  readonly ops: readonly string[];
  /** Undefined where it is not certain which of them are. */
  readonly byOthers: Change | undefined;
}

/** More of them explain any change. */
const MOST_UNCERTAIN = 10;

/** A move as the readings of one row may show it. */
export interface TimedMove extends Pick<OtherMove, 'op' | 'change'> {
  readonly timing: Timing;
  /** Whether it may have changed the card of the row. */
  readonly onCard: boolean;
}

/** Whether `change` is `wanted` or nothing, beside any choice of what others may have moved. Both or neither is `unclear`. */
export function explained(change: Change, wanted: Change, moves: readonly TimedMove[]): Explained {
  const inside = moves.filter(({ timing }) => timing !== 'before');
  const ops = opsOf(inside);
  const perhaps = inside.filter(({ timing }) => timing === 'perhaps');
  if (perhaps.length > MOST_UNCERTAIN || inside.some(move => move.change === undefined)) {
    // A card that nothing has changed shows no transfer, whatever the wallet did.
    const isUnchanged = isSame(change, NOTHING) && wanted.card !== 0 && !inside.some(({ onCard }) => onCard);
    return { found: isUnchanged ? 'nothing' : cardAlone(change, wanted, inside), ops, byOthers: undefined };
  }
  const between = inside.filter(({ timing }) => timing === 'between');
  const sure = between.reduce((sum, move) => plus(sum, move.change), NOTHING);
  const choices = choicesOf({ sum: sure, of: between }, perhaps);
  const rest = plus(change, wanted, -1);
  const done = choices.find(({ sum }) => isSame(sum, rest));
  const undone = choices.find(({ sum }) => isSame(sum, change));
  const one = done === undefined ? undone : undone === undefined ? done : undefined;
  if (one !== undefined) return { found: one === done ? 'it' : 'nothing', ops: opsOf(one.of), byOthers: one.sum };
  return { found: 'unclear', ops, byOthers: perhaps.length === 0 ? sure : undefined };
}

/** Nobody else has put money on the card by this journal: what it holds more by just the amount is the fund itself. */
function cardAlone(change: Change, wanted: Change, inside: readonly TimedMove[]): 'it' | 'unclear' {
  return wanted.card > 0 && change.card === wanted.card && !inside.some(({ onCard }) => onCard) ? 'it' : 'unclear';
}

/** Moves that may be in the readings together, and what they come to. */
interface Choice {
  readonly sum: Change;
  readonly of: readonly TimedMove[];
}

/** Those that are certain with every choice of the others, fewer of them first. */
function choicesOf(sure: Choice, perhaps: readonly TimedMove[]): readonly Choice[] {
  let choices: readonly Choice[] = [sure];
  for (const move of perhaps)
    choices = [...choices, ...choices.map(({ sum, of }) => ({ sum: plus(sum, move.change), of: [...of, move] }))];
  return choices.toSorted((one, other) => one.of.length - other.of.length);
}

function opsOf(moves: readonly TimedMove[]): readonly string[] {
  return [...new Set(moves.map(({ op }) => op))];
}

const NOTHING: Change = { card: 0, wallet: 0 };

function plus(one: Change, other: Change = NOTHING, times = 1): Change {
  return { card: one.card + times * other.card, wallet: one.wallet + times * other.wallet };
}

function isSame(one: Change, other: Change): boolean {
  return one.card === other.card && one.wallet === other.wallet;
}

/** A clause behind what was seen; empty where nobody else has moved anything. */
export function othersText({ ops, byOthers }: Explained): string {
  if (ops.length === 0) return '';
  const named =
    ops.length > MOST_NAMED
      ? `${ops.slice(0, MOST_NAMED).join(', ')} and ${ops.length - MOST_NAMED} more`
      : ops.join(', ');
  if (byOthers === undefined) return `; other operations may have moved them meanwhile: ${named}`;
  const moved = [
    ...(byOthers.card === 0 ? [] : [`the card by ${dollars(cents(byOthers.card))}`]),
    ...(byOthers.wallet === 0 ? [] : [`the wallet by ${dollars(cents(byOthers.wallet))}`]),
  ];
  return moved.length === 0 ? '' : `; of that other operations have moved ${moved.join(' and ')}: ${named}`;
}

const MOST_NAMED = 3;

/** What is kept of it with a look. */
export function othersShown({ ops, byOthers }: Explained): Pick<ShownByCheck, 'others' | 'unsure'> {
  if (ops.length === 0) return {};
  return byOthers === undefined ? { unsure: true } : { others: byOthers };
}
