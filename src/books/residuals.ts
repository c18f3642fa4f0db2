/** What two positions of an account leave unexplained: of each card, of the wallet, of what was spent. */
import { CliError } from '../core/errors.ts';
import type { CardPosition, Position } from './position.ts';
import type { CountingRules } from './rows.ts';

/** Changes of a card between two positions, integer cents, each with its own sign as in `CardPosition`. */
export interface CardChange {
  readonly card_id: string;
  readonly isOver: boolean;
  readonly isNew: boolean;
  /** Terminated since the base. */
  readonly hasEnded: boolean;
  readonly opening: number;
  readonly closing: number;
  readonly created: number;
  readonly funded: number;
  readonly withdrawn: number;
  readonly settled: number;
  readonly refunded: number;
  readonly holds: number;
  /** A terminated card: what its sums say went back to the wallet. */
  readonly returned: number;
  /** Δbalance - (own - settled + refunded - Δholds); 0 on a terminated card, whose rest shows in the wallet. */
  readonly residual: number;
  /** Bounds within which holds alone explain `residual`, or on a terminated card its part of the wallet's. */
  readonly low: number;
  readonly high: number;
}

/** Bounds are inclusive: within them holds that were released explain a residual. */
export interface Residuals {
  readonly cards: ReadonlyMap<string, CardChange>;
  /** Δtotal_spent less what records spent. */
  readonly spent: number;
  readonly wallet: number;
  readonly walletLow: number;
  readonly walletHigh: number;
  /** Δ(total_deposited - total_spent - wallet - Σ balances - Σ holds). */
  readonly identity: number;
  readonly deposits: number;
}

/**
 * The sums of the books. Throws `internal` when they do not add up to nothing, which is a bug of ours and
 * never of the account: every amount stands in exactly two of them.
 */
export function residualsBetween(base: Position, now: Position, rules: CountingRules): Residuals {
  const cards = new Map<string, CardChange>();
  let spentByRecords = 0;
  let own = 0;
  let returned = 0;
  let balances = 0;
  let holds = 0;
  let ofCards = 0;
  let [walletLow, walletHigh] = [0, 0];
  for (const card_id of new Set([...now.cards.keys(), ...base.cards.keys()])) {
    const change = changeOf(base.cards.get(card_id), now.cards.get(card_id), { card_id, rules });
    cards.set(card_id, change);
    spentByRecords += change.settled - change.refunded;
    own += change.created + change.funded - change.withdrawn;
    returned += change.returned;
    balances += change.closing - change.opening;
    holds += change.holds;
    ofCards += change.residual;
    if (change.isOver) {
      walletLow += change.low;
      walletHigh += change.high;
    }
  }
  const refundedInAll = (position: Position) =>
    [...position.cards.values()].reduce((sum, each) => sum + each.refunded, 0);
  // A gross total is made net by the refunds that are listed, so that one set of sums serves both.
  const spent = now.spent - base.spent - (rules.total_spent === 'gross' ? refundedInAll(now) - refundedInAll(base) : 0);
  const deposits = now.deposited - base.deposited;
  const wallet = now.wallet - base.wallet - (deposits - own + returned);
  const identity = deposits - spent - (now.wallet - base.wallet) - balances - holds;
  const found = { spent: spent - spentByRecords, wallet, identity };
  const rest = found.identity + found.spent + found.wallet + ofCards;
  if (rest !== 0 || ![spentByRecords, own, returned, balances, holds].every(Number.isSafeInteger)) {
    throw new CliError('internal', { message: `the sums of the books leave ${rest} cents, and must leave none` });
  }
  const { carried } = base;
  return { cards, ...found, walletLow: walletLow - carried, walletHigh: walletHigh - carried, deposits };
}

const NO_CARD: Omit<CardPosition, 'card_id' | 'status'> = {
  balance: 0,
  settled: 0,
  refunded: 0,
  holds: 0,
  created: 0,
  funded: 0,
  withdrawn: 0,
  unverified: 0,
  unbounded: false,
};

function changeOf(
  old: CardPosition | undefined,
  now: CardPosition | undefined,
  { card_id, rules }: { readonly card_id: string; readonly rules: CountingRules },
): CardChange {
  const a = old ?? { ...NO_CARD, card_id, status: 'unlisted' };
  // A card that was in the base and is named by nobody now is gone: its money went back, or the wallet will show it.
  const b = now ?? { ...a, status: 'terminated', balance: 0, holds: 0 };
  const isOver = b.status === 'terminated';
  const holds = countedHolds(b, rules) - countedHolds(a, rules);
  const [created, funded, withdrawn] = [b.created - a.created, b.funded - a.funded, b.withdrawn - a.withdrawn];
  const [settled, refunded] = [b.settled - a.settled, b.refunded - a.refunded];
  const rest = b.balance - a.balance - (created + funded - withdrawn - settled + refunded - holds);
  const isOpen = b.unbounded && countsHolds(b, rules);
  const wasOpen = a.unverified === 2 && countsHolds(a, rules);
  return {
    card_id,
    isOver,
    isNew: old === undefined || old.status === 'unlisted',
    hasEnded: isOver && a.status !== 'terminated',
    opening: a.balance,
    closing: b.balance,
    created,
    funded,
    withdrawn,
    settled,
    refunded,
    holds,
    returned: isOver ? -rest : 0,
    residual: isOver ? 0 : rest,
    low: isOpen ? -Infinity : a.unverified > 0 ? -countedHolds(a, rules) : 0,
    high: wasOpen ? Infinity : countedHolds(b, rules),
  };
}

/** A balance that includes holds falls at the settlement: then the holds of a card that is not over count nowhere. */
function countsHolds({ status }: CardPosition, { balance }: CountingRules): boolean {
  return balance === 'available' || status === 'terminated';
}

function countedHolds(card: CardPosition, rules: CountingRules): number {
  return countsHolds(card, rules) ? card.holds : 0;
}
