/**
 * Which row says of which card that it has made it, and of which rows a person has said what their cards deny. A card has
 * one row.
 */
import { isoSeconds } from '../../core/iso-time.ts';
import { ON_THIS_MACHINE } from '../execution/by-hand.ts';
import { rowMarker } from '../execution/marker.ts';
import { isOneTime } from '../execution/older-card.ts';
import type { ClaimedCards } from '../shared-ops.ts';
import { cardOf, type History, type RowHistory } from '../wal/replay.ts';

/** A create that is done with a card. */
export interface CardClaim {
  readonly op: string;
  readonly row: number;
  readonly card: string;
  readonly key: string | undefined;
  readonly marker: string;
  /** When the card was made by the clock of the service, ms UTC; undefined where a person has named it. */
  readonly madeAt: number | undefined;
}

/** What the records of an op say of cards; nothing of creates that are done by no card that is known. */
export function* claimsOf({ plan: { op }, rows }: Pick<History, 'plan' | 'rows'>): Iterable<CardClaim> {
  for (const row of rows.values()) {
    const { item, state, done } = row;
    const card = cardOf(row);
    if (item.operation !== 'cards.create' || state !== 'done' || card === undefined) continue;
    yield { op, row: item.row, card, key: item.key, marker: rowMarker(op, item), madeAt: done?.made_at };
  }
}

/**
 * Whether two rows cannot both have made the card. Under one key, or one marker, both have asked for the same one; and a sandbox
 * that was reset gives its ids anew.
 */
export function contradict(one: CardClaim, other: CardClaim): boolean {
  if (one.op === other.op && one.row === other.row) return false;
  if ((one.key !== undefined && one.key === other.key) || one.marker === other.marker) return false;
  return one.madeAt === undefined || other.madeAt === undefined || isOneTime(one.madeAt, other.madeAt);
}

/** Told the records of one op after the other. */
export function createClaimedCards(): ClaimedCards & { add(history: History): void } {
  const byCard = new Map<string, CardClaim>();
  const several = new Map<string, readonly CardClaim[]>();
  const objections = new Map<string, (card: string) => string | undefined>();
  return {
    add(history) {
      for (const claim of claimsOf(history)) {
        const first = byCard.get(claim.card);
        if (first === undefined) byCard.set(claim.card, claim);
        else if (contradict(first, claim)) several.set(claim.card, [...(several.get(claim.card) ?? [first]), claim]);
      }
      for (const row of history.rows.values()) {
        const says = objectionTo(row, history);
        if (says !== undefined) objections.set(rowMarker(history.plan.op, row.item), says);
      }
    },
    objection: (marker, card) => objections.get(marker)?.(card),
    *several() {
      for (const [card, claims] of several) {
        const rows = claims.map(({ op, row }) => `row ${row} of ${op}`);
        yield { card, op: claims[0]?.op ?? '', text: `claimed by ${rows.slice(0, -1).join(', ')} and ${rows.at(-1)}` };
      }
    },
  };
}

/** What is wrong with a card that carries the mark of this row; undefined where no card would be. */
function objectionTo(
  { item, state, done, resolved }: RowHistory,
  { plan: { op }, end, denied }: History,
): ((card: string) => string | undefined) | undefined {
  if (item.operation !== 'cards.create') return undefined;
  const made = `made by row ${item.row} of ${op}`;
  if (denied !== undefined) return () => `${made}, whose request came to nothing`;
  if (resolved !== undefined) {
    const { as, card: named } = resolved;
    // An answer that came later counts more than what was recorded.
    if (state === 'done' && (done !== undefined || named === undefined)) return undefined;
    const says = `${made}, which ${byHand(resolved)} as ${as === 'done' ? `done with ${named}` : 'not done'}`;
    return card => (state === 'done' && card === named ? undefined : says);
  }
  if (end === undefined || (state !== 'refused' && state !== 'not_sent')) return undefined;
  return () => `${made}, which is ${state === 'refused' ? 'refused' : 'not sent'} by the journal`;
}

function byHand({ who, at }: NonNullable<RowHistory['resolved']>): string {
  return who === ON_THIS_MACHINE ? `was recorded at ${isoSeconds(at)}` : `${who} has recorded at ${isoSeconds(at)}`;
}
