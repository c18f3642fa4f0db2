/** An account at one instant, and what two instants leave unexplained: of each card, of the wallet, of what was spent. */

import { CliError } from '../core/errors.ts';
import { cents } from '../core/money.ts';
import { type CardSums, NO_RECORDS } from './records.ts';
import type { CheckpointCardRow, CheckpointRow, CountedCard, CountingRules, MoveRow, WalletRow } from './rows.ts';

/** A card at an instant, as a checkpoint keeps it. Of now `unverified` is 2 where nothing bounds what it holds, else 0. */
export type CardPosition = Omit<CheckpointCardRow, 'cut_id'>;

export interface Position
  extends Pick<CheckpointRow, 'wallet_cents' | 'total_deposited_cents' | 'total_spent_cents' | 'carried_cents'> {
  readonly cards: ReadonlyMap<string, CardPosition>;
}

const NONE = cents(0);

/** Before anything happened: what the first checkpoint is compared with. */
export const NOTHING_YET: Position = {
  ...{ wallet_cents: NONE, total_deposited_cents: NONE, total_spent_cents: NONE, carried_cents: NONE },
  cards: new Map(),
};

const DEFAULT_RULES: CountingRules = { total_spent: 'net', cards_total_balance: 'all', balance: 'available' };

/** Counting rules that a service may have at first: the default, and those in which one number counts otherwise. */
export const FIRST_RULES: readonly CountingRules[] = [
  DEFAULT_RULES,
  { ...DEFAULT_RULES, balance: 'with_holds' },
  { ...DEFAULT_RULES, cards_total_balance: 'active' },
  { ...DEFAULT_RULES, total_spent: 'gross' },
];

/** What was read of an account. */
export interface Observed {
  readonly wallet: WalletRow;
  readonly cards: readonly CountedCard[];
  readonly records: { readonly cards: ReadonlyMap<string, CardSums> };
  readonly moves: readonly MoveRow[];
}

export const rowName = ({ op, row }: Pick<MoveRow, 'op' | 'row'>) => `${op}.${row}`;

type OwnSums = { -readonly [Key in 'created_cents' | 'funded_cents' | 'withdrawn_cents']: number };

const OWN_SUM: Readonly<Partial<Record<MoveRow['operation'], keyof OwnSums>>> = {
  'cards.create': 'created_cents',
  'cards.fund': 'funded_cents',
  'cards.withdraw': 'withdrawn_cents',
};

/** The sums with an own row that is done. */
export function withRow<Sums extends Readonly<OwnSums>>(sums: Sums, { operation, cents }: MoveRow): Sums {
  const column = OWN_SUM[operation];
  return column === undefined ? sums : { ...sums, [column]: sums[column] + cents };
}

const NO_OWN: Readonly<OwnSums> = { created_cents: 0, funded_cents: 0, withdrawn_cents: 0 };

/** Sums of own rows that are done or count as done, a card; rows that made no known card are left out. */
function ownSums(moves: readonly MoveRow[], counted: ReadonlyMap<string, string>): Map<string, Readonly<OwnSums>> {
  const sums = new Map<string, Readonly<OwnSums>>();
  for (const move of moves) {
    const card = counted.get(rowName(move)) ?? (move.outcome === 'done' ? move.card_id : null);
    if (card !== null) sums.set(card, withRow(sums.get(card) ?? NO_OWN, move));
  }
  return sums;
}

/**
 * The position that was observed. `counted` are own rows, `<op>.<row>`, that count as done whatever the journal says, with
 * their cards. Cards that only records or own rows name count as gone.
 */
export function positionOf(
  { wallet, cards, records: { cards: records }, moves }: Observed,
  counted: ReadonlyMap<string, string>,
): Position {
  const own = ownSums(moves, counted);
  const positions = new Map<string, CardPosition>();
  const place = (card_id: string, status: string, balance_cents: number) => {
    const { settled, refunded, holds, unbounded } = records.get(card_id) ?? NO_RECORDS;
    const spent = { settled_cents: settled, refunded_cents: refunded, holds_cents: holds };
    const ofCard = { card_id, status, balance_cents, unverified: unbounded ? 2 : 0 } as const;
    positions.set(card_id, { ...ofCard, ...spent, ...(own.get(card_id) ?? NO_OWN) });
  };
  for (const { card_id, status, balance_cents, gone_at } of cards) {
    const isOver = status === 'terminated' || gone_at !== null;
    place(card_id, isOver ? 'terminated' : status, isOver ? 0 : (balance_cents ?? 0));
  }
  for (const card_id of [...records.keys(), ...own.keys()]) {
    if (!positions.has(card_id)) place(card_id, 'unlisted', 0);
  }
  return {
    wallet_cents: wallet.balance_cents,
    total_deposited_cents: wallet.total_deposited_cents ?? NONE,
    total_spent_cents: wallet.total_spent_cents ?? NONE,
    carried_cents: NONE,
    cards: positions,
  };
}

// What two positions of an account leave unexplained

/** Changes of a card between two positions, integer cents, each with its own sign as in `CardPosition`. */
export type CardChange = Readonly<ReturnType<typeof changeOf>>;

/** Bounds are inclusive: within them holds that were released explain a residual. */
export type Residuals = Readonly<ReturnType<typeof residualsBetween>>;

/**
 * The sums of the books. Throws `internal` when they do not add up to nothing, which is a bug of ours and
 * never of the account: every amount stands in exactly two of them.
 */
export function residualsBetween(base: Position, now: Position, rules: CountingRules) {
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
    [...position.cards.values()].reduce((sum, each) => sum + each.refunded_cents, 0);
  // A gross total is made net by the refunds that are listed, so that one set of sums serves both.
  const ofRefunds = rules.total_spent === 'gross' ? refundedInAll(now) - refundedInAll(base) : 0;
  const spent = now.total_spent_cents - base.total_spent_cents - ofRefunds;
  const deposits = now.total_deposited_cents - base.total_deposited_cents;
  const inWallet = now.wallet_cents - base.wallet_cents;
  const wallet = inWallet - (deposits - own + returned);
  // Δ(total_deposited - total_spent - wallet - Σ balances - Σ holds).
  const identity = deposits - spent - inWallet - balances - holds;
  /** `spent`: Δtotal_spent less what records spent. */
  const found = { spent: spent - spentByRecords, wallet, identity };
  const rest = found.identity + found.spent + found.wallet + ofCards;
  if (rest !== 0 || ![spentByRecords, own, returned, balances, holds].every(Number.isSafeInteger)) {
    throw new CliError('internal', { message: `the sums of the books leave ${rest} cents, and must leave none` });
  }
  const { carried_cents: carried } = base;
  return { cards, ...found, walletLow: walletLow - carried, walletHigh: walletHigh - carried, deposits };
}

const NO_CARD: Omit<CardPosition, 'card_id' | 'status'> = {
  balance_cents: 0,
  settled_cents: 0,
  refunded_cents: 0,
  holds_cents: 0,
  ...NO_OWN,
  unverified: 0,
};

function changeOf(
  old: CardPosition | undefined,
  now: CardPosition | undefined,
  { card_id, rules }: { readonly card_id: string; readonly rules: CountingRules },
) {
  const a = old ?? { ...NO_CARD, card_id, status: 'unlisted' };
  // A card that was in the base and is named by nobody now is gone: its money went back, or the wallet will show it.
  const b = now ?? { ...a, status: 'terminated', balance_cents: 0, holds_cents: 0, unverified: 0 };
  const isOver = b.status === 'terminated';
  const holds = countedHolds(b, rules) - countedHolds(a, rules);
  const created = b.created_cents - a.created_cents;
  const funded = b.funded_cents - a.funded_cents;
  const withdrawn = b.withdrawn_cents - a.withdrawn_cents;
  const settled = b.settled_cents - a.settled_cents;
  const refunded = b.refunded_cents - a.refunded_cents;
  const rest = b.balance_cents - a.balance_cents - (created + funded - withdrawn - settled + refunded - holds);
  const isOpen = b.unverified === 2 && countsHolds(b, rules);
  const wasOpen = a.unverified === 2 && countsHolds(a, rules);
  return {
    card_id,
    isOver,
    isNew: old === undefined || old.status === 'unlisted',
    /** Terminated since the base. */
    hasEnded: isOver && a.status !== 'terminated',
    opening: a.balance_cents,
    closing: b.balance_cents,
    created,
    funded,
    withdrawn,
    settled,
    refunded,
    holds,
    /** A terminated card: what its sums say went back to the wallet. */
    returned: isOver ? -rest : 0,
    /** Δbalance - (own - settled + refunded - Δholds); 0 on a terminated card, whose rest shows in the wallet. */
    residual: isOver ? 0 : rest,
    /** Bounds within which holds alone explain `residual`, or on a terminated card its part of the wallet's. */
    low: isOpen ? -Infinity : a.unverified > 0 ? -countedHolds(a, rules) : 0,
    high: wasOpen ? Infinity : countedHolds(b, rules),
  };
}

/** A balance that includes holds falls at the settlement: then the holds of a card that is not over count nowhere. */
function countsHolds({ status }: CardPosition, { balance }: CountingRules): boolean {
  return balance === 'available' || status === 'terminated';
}

function countedHolds(card: CardPosition, rules: CountingRules): number {
  return countsHolds(card, rules) ? card.holds_cents : 0;
}

// What is left of the residuals while causes are taken out of them one after the other.

/** What a cause adds to the residuals, integer cents. On a terminated card `card` shows in the wallet instead. */
export interface Cause {
  readonly card_id: string;
  readonly card: number;
  readonly spent: number;
  readonly wallet: number;
}

export class Unexplained {
  spent: number;
  wallet: number;
  readonly #residuals: Residuals;
  readonly #cards = new Map<string, number>();
  /** Absolute cents that are left on the cards. */
  #onCards = 0;
  /** Cards whose rest lies outside of what holds explain. */
  readonly outside = new Set<string>();

  constructor(residuals: Residuals) {
    this.#residuals = residuals;
    this.spent = residuals.spent;
    this.wallet = residuals.wallet;
    for (const { card_id, residual } of residuals.cards.values()) if (residual !== 0) this.#set(card_id, residual);
  }

  get changes(): ReadonlyMap<string, CardChange> {
    return this.#residuals.cards;
  }

  of(card: string): number {
    return this.#cards.get(card) ?? 0;
  }

  /** Cards with a rest, in bounds or not. */
  withRest(): Iterable<readonly [string, number]> {
    return this.#cards;
  }

  isOver(card: string): boolean {
    return this.changes.get(card)?.isOver ?? false;
  }

  /** Whether holds alone could leave such a rest on a card that is not terminated. */
  fits(card: string, rest: number): boolean {
    const change = this.changes.get(card);
    return change === undefined ? rest === 0 : rest >= change.low && rest <= change.high;
  }

  fitsWallet(rest: number): boolean {
    return rest >= this.#residuals.walletLow && rest <= this.#residuals.walletHigh;
  }

  /** Its balance is not what records and own rows say, or was not before something explained it. */
  isTouched(card: string): boolean {
    return this.of(card) !== 0 || this.changes.get(card)?.residual !== 0;
  }

  /** Bounds of what other spenders may have taken out of the wallet, integer cents, inclusive. */
  fromWallet(): { readonly least: number; readonly most: number } {
    const { walletLow, walletHigh } = this.#residuals;
    return { least: walletLow - this.wallet, most: walletHigh - this.wallet };
  }

  /** How many of the sums nothing explains so far. */
  count(): number {
    return this.outside.size + Number(this.spent !== 0) + Number(!this.fitsWallet(this.wallet));
  }

  take({ card_id, card, spent, wallet }: Cause, times: 1 | -1 = 1): void {
    this.spent -= spent * times;
    this.wallet -= wallet * times;
    if (this.isOver(card_id)) this.wallet -= card * times;
    else if (card !== 0) this.#set(card_id, this.of(card_id) - card * times);
  }

  /** Does something while the causes are taken out; afterwards everything is as it was. */
  whileTaken<T>(causes: readonly Cause[], work: () => T): T {
    for (const cause of causes) this.take(cause);
    const value = work();
    for (const cause of causes) this.take(cause, -1);
    return value;
  }

  /** What the causes together would leave: sums, and absolute cents, within bounds or not. */
  without(causes: readonly Cause[]): { readonly count: number; readonly size: number } {
    const size = () => Math.abs(this.spent) + Math.abs(this.wallet) + this.#onCards;
    return this.whileTaken(causes, () => ({ count: this.count(), size: size() }));
  }

  /** Takes the causes together when that leaves less unexplained; otherwise nothing changes. */
  takeIfLess(...causes: readonly Cause[]): boolean {
    if (this.without(causes).count >= this.count()) return false;
    for (const cause of causes) this.take(cause);
    return true;
  }

  #set(card: string, rest: number): void {
    this.#onCards += Math.abs(rest) - Math.abs(this.of(card));
    if (rest === 0) this.#cards.delete(card);
    else this.#cards.set(card, rest);
    if (this.fits(card, rest)) this.outside.delete(card);
    else this.outside.add(card);
  }
}

/** Records on a card show `amount` less spent than the account did: a settlement is missing, or a refund too many. */
export function recordCause(card_id: string, amount: number): Cause {
  return { card_id, card: -amount, spent: amount, wallet: 0 };
}

/** Somebody else moved `amount` from the wallet to the card, or back when it is negative. */
export function operatorCause(card_id: string, amount: number): Cause {
  return { card_id, card: amount, spent: 0, wallet: -amount };
}
