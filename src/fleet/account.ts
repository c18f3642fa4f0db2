/** The account as far as a fleet is concerned: its cards, which of them is which of the file, and where they differ. */

import type { Item } from '../contract/calls.ts';
import { notSent } from '../core/errors.ts';
import { type Cents, centsOf, plainAmount } from '../core/money.ts';
import { addTo } from '../core/objects.ts';
import { shellWord } from '../core/shell-quote.ts';
import { type BinWish, type Fleet, type Mark, markOf, markText, type Wish } from './fleet-file.ts';

/** The metadata key of the journal's markers. */
export const MARKER_KEY = 'cardwright';

export interface ObservedCard {
  readonly id: string;
  readonly bin: string | undefined;
  readonly last4: string;
  readonly status: string;
  readonly balance: Cents;
  readonly limit: Cents | undefined;
  /** Empty for none. */
  readonly label: string;
  readonly categories: readonly string[] | undefined;
  readonly autoFreezeAt: Cents | null | undefined;
  /** Undefined where the service shows none. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** ISO 8601 UTC; empty where it is not told. */
  readonly createdAt: string;
  /** Undefined for a card without a marker of a fleet. */
  readonly mark: Mark | undefined;
}

export interface ObservedBin {
  readonly id: string;
  readonly maxMonthly: Cents | undefined;
  readonly maxTransaction: Cents | undefined;
  readonly features: ReadonlySet<string>;
}

/** Records of one card, read for cards that may get money or be ended. */
export interface CardRecords {
  /** Id of the newest record; empty for none. */
  readonly newest: string;
  /** What authorizations of this month of UTC hold or settled for. */
  readonly usedThisMonth: Cents;
  readonly holdsOpen: boolean;
  /** ms UTC of the newest authorization, settlement or refund; undefined for none. */
  readonly lastUse: number | undefined;
}

export interface Account {
  /** By id: cards with a marker of this fleet, and those that the file names. */
  readonly cards: ReadonlyMap<string, ObservedCard>;
  /** Cards of others that are not terminated. */
  readonly strangers: number;
  /** The oldest ids, three at most. */
  readonly witness: readonly string[];
  /** Every id of a witness that was asked for and is listed. */
  readonly witnessed: ReadonlySet<string>;
  /** Names of cards that are not terminated, by the fleets their markers name; without this fleet. */
  readonly otherFleets: ReadonlyMap<string, ReadonlySet<string>>;
  readonly bins: readonly ObservedBin[];
  readonly wallet: Cents;
  /** The clock of the service, ms UTC. */
  readonly now: number;
}

/** What of a listed card a plan looks at. */
export type ListedCard = Pick<
  Item<'cards.list'>,
  | ('id' | 'bin_id' | 'last4' | 'status' | 'balance' | 'spending_limit' | 'label')
  | ('allowed_categories' | 'auto_freeze_at' | 'metadata' | 'created_at')
>;

/** Undefined where the balance is no amount of money. */
export function observedCard(card: ListedCard): ObservedCard | undefined {
  const balance = centsOf(card.balance);
  if (balance === undefined) return undefined;
  const { auto_freeze_at: freezeAt, metadata } = card;
  return {
    id: card.id,
    bin: card.bin_id ?? undefined,
    last4: card.last4,
    status: card.status,
    balance,
    limit: card.spending_limit == null ? undefined : centsOf(card.spending_limit),
    label: card.label ?? '',
    categories: card.allowed_categories ?? undefined,
    autoFreezeAt: freezeAt === null || freezeAt === undefined ? freezeAt : centsOf(freezeAt),
    metadata: metadata ?? undefined,
    createdAt: card.created_at ?? '',
    mark: markOf(metadata?.[MARKER_KEY]),
  };
}

/** Ids that a file names. */
function namedIds({ wishes, retired }: Fleet): ReadonlySet<string> {
  const pinned = wishes.flatMap(({ pin }) => pin ?? []);
  return new Set([...pinned, ...[...retired, ...wishes.flatMap(({ replaced }) => replaced)].map(({ card }) => card)]);
}

const WITNESSES = 3;

type Aged = Pick<ObservedCard, 'id' | 'createdAt'>;

/** The older one first. */
function byAge(one: Aged, other: Aged): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

/** Takes every card of the list, each once, in any order; keeps those that the fleet is concerned with. */
export class AccountCards {
  readonly #fleet: string;
  readonly #named: ReadonlySet<string>;
  readonly #asked: ReadonlySet<string>;
  readonly #cards = new Map<string, ObservedCard>();
  readonly #others = new Map<string, Set<string>>();
  readonly #witnessed = new Set<string>();
  /** Of an account in which no card shows metadata: cards that the file does not name, by their labels. */
  readonly #unmarked = new Map<string, string>();
  #showsMetadata = false;
  #oldest: Aged[] = [];
  #strangers = 0;

  /** `asked`: ids of an earlier plan's witness. */
  constructor(fleet: Fleet, asked: readonly string[] = []) {
    this.#fleet = fleet.name;
    this.#named = namedIds(fleet);
    this.#asked = new Set(asked);
  }

  /** False for a card whose balance is no amount of money. */
  add(listed: ListedCard): boolean {
    const { id, status } = listed;
    if (this.#asked.has(id)) this.#witnessed.add(id);
    this.#noteUnmarked(listed);
    const aged = { id, createdAt: listed.created_at ?? '' };
    this.#oldest = [...this.#oldest, aged].sort(byAge).slice(0, WITNESSES);
    const mark = markOf(listed.metadata?.[MARKER_KEY]);
    if (mark?.fleet === this.#fleet || this.#named.has(id)) {
      const card = observedCard(listed);
      if (card === undefined) return false;
      this.#cards.set(id, card);
    } else if (status !== 'terminated') this.#strangers += 1;
    if (mark !== undefined && mark.fleet !== this.#fleet && status !== 'terminated')
      this.#others.set(mark.fleet, (this.#others.get(mark.fleet) ?? new Set()).add(mark.name));
    return true;
  }

  /** Id of a card with this label that the file does not name; undefined where some card shows metadata. */
  unmarkedWith(label: string): string | undefined {
    return this.#unmarked.get(label);
  }

  #noteUnmarked({ id, status, label, metadata }: ListedCard): void {
    this.#showsMetadata ||= Object.keys(metadata ?? {}).length > 0;
    if (this.#showsMetadata) this.#unmarked.clear();
    if (this.#showsMetadata || status === 'terminated' || this.#named.has(id)) return;
    const known = this.#unmarked.get(label ?? '');
    if (known === undefined || id < known) this.#unmarked.set(label ?? '', id);
  }

  account(rest: Pick<Account, 'bins' | 'wallet' | 'now'>): Account {
    return {
      cards: this.#cards,
      strangers: this.#strangers,
      witness: this.#oldest.map(({ id }) => id),
      witnessed: this.#witnessed,
      otherFleets: this.#others,
      ...rest,
    };
  }
}

// Where a card differs from what is wanted.

/**
 * `fixed`: the service cannot change it, so it is blocked or replaced. `drift`: it changed at the service. `note`: metadata
 * of the file that the card was made without; never a reason for a change.
 */
export interface Difference {
  readonly name: string;
  /** Null where there is no card. */
  readonly card: string | null;
  readonly field: string;
  readonly class: 'fixed' | 'drift' | 'note';
  /** Text, USD, a list, or null. */
  readonly is: unknown;
  readonly wanted: unknown;
}

/** Fields that a card has for good, and notes; its state is another matter. */
export function differencesOf(wish: Wish, card: ObservedCard, bins: readonly ObservedBin[]): readonly Difference[] {
  const { name } = wish;
  const found: Difference[] = [];
  const fixed = (field: string, is: unknown, wanted: unknown) =>
    found.push({ name, card: card.id, field, class: 'fixed', is, wanted });
  if (wish.label !== undefined && wish.label.normalize('NFC') !== card.label.normalize('NFC'))
    fixed('label', card.label, wish.label);
  if (wish.limit !== undefined && wish.limit !== card.limit) fixed('limit', usdOf(card.limit), usdOf(wish.limit));
  const { categories } = wish;
  if (categories !== undefined && !isSameSet(categories, card.categories ?? [])) {
    fixed('categories', card.categories ?? [], categories);
  }
  if (wish.auto_freeze_at !== undefined && wish.auto_freeze_at !== (card.autoFreezeAt ?? null)) {
    fixed('auto_freeze_at', usdOf(card.autoFreezeAt), usdOf(wish.auto_freeze_at));
  }
  if (!isWantedBin(wish.bin, card.bin, bins)) fixed('bin', card.bin ?? null, binText(wish.bin));
  for (const [key, wanted] of Object.entries(wish.metadata)) {
    const is = card.metadata?.[key];
    if (is !== wanted && card.metadata !== undefined) {
      found.push({ name, card: card.id, field: `metadata.${key}`, class: 'note', is: is ?? null, wanted });
    }
  }
  return found;
}

function usdOf(amount: number | null | undefined): number | null {
  return amount === null || amount === undefined ? null : amount / 100;
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  const [a, b] = [new Set(one), new Set(other)];
  return a.size === b.size && [...a].every(each => b.has(each));
}

/** Whether a BIN has the features and takes the transaction; what it is best for only ranks it. */
function isWantedBin(wanted: BinWish, bin: string | undefined, bins: readonly ObservedBin[]): boolean {
  if (wanted.by === 'auto') return true;
  if (wanted.by === 'id') return wanted.id === bin;
  const { need = [], min_transaction: least } = wanted;
  const known = bins.find(({ id }) => id === bin);
  const takes = least === undefined || (known?.maxTransaction ?? 0) >= least;
  return known !== undefined && takes && need.every(each => known.features.has(each));
}

function binText(bin: BinWish): string {
  if (bin.by === 'id') return bin.id;
  if (bin.by === 'auto') return 'auto';
  const { need = [], min_transaction: least } = bin;
  const amount = least === undefined ? [] : [`min_transaction ${plainAmount(least)}`];
  return [...need, ...amount].join(', ');
}

// Which card is which

/** The cards of one name. */
export interface Matched {
  readonly wish: Wish;
  /** The card there is: pinned, or its highest generation that is not terminated. */
  readonly present: ObservedCard | undefined;
  /** Older cards of the name that are not terminated. */
  readonly predecessors: readonly ObservedCard[];
  /** Highest generation ever; 0 for none. */
  readonly highest: number;
  /** It had a card, and somebody terminated it. */
  readonly ended: ObservedCard | undefined;
}

export interface Match {
  readonly matched: readonly Matched[];
  /** Cards of this fleet whose name is no longer in the file, not terminated and not retired. */
  readonly left: readonly ObservedCard[];
  /** Cards of this fleet that are not terminated, pinned ones too. */
  readonly live: number;
  /** Pins that are not in the account. */
  readonly lost: readonly Wish[];
}

/** Throws `check_failed` where one card stands for two, or two for one: nothing is planned then. */
export function matchCards(fleet: Fleet, { cards }: Account): Match {
  const byName = new Map<string, ObservedCard[]>();
  for (const card of cards.values()) {
    if (card.mark?.fleet !== fleet.name) continue;
    const name = fleet.moved.get(card.mark.name) ?? card.mark.name;
    addTo(byName, name, card);
  }
  const retired = new Set(fleet.retired.map(({ card }) => card));
  const pinned = new Map(fleet.wishes.flatMap(wish => (wish.pin === undefined ? [] : [[wish.pin, wish] as const])));
  const broken: string[] = [];
  const [matched, lost]: [Matched[], Wish[]] = [[], []];
  const live = new Set<string>();
  for (const wish of fleet.wishes) {
    const marked = byName.get(wish.name) ?? [];
    byName.delete(wish.name);
    broken.push(...duplicatesIn(marked));
    for (const card of marked) {
      const owner = pinned.get(card.id);
      if (owner !== undefined && owner !== wish)
        broken.push(`${card.id} is ${wish.name} by its marker and ${owner.name} by its pin`);
    }
    const found = matchOne(wish, marked, { fleet: fleet.name, cards, retired, broken });
    if (wish.pin !== undefined && !cards.has(wish.pin)) lost.push(wish);
    else matched.push(found);
    for (const card of [...(found.present === undefined ? [] : [found.present]), ...found.predecessors])
      live.add(card.id);
  }
  const left: ObservedCard[] = [];
  for (const marked of byName.values()) {
    broken.push(...duplicatesIn(marked));
    for (const card of marked) {
      if (card.status === 'terminated') continue;
      live.add(card.id);
      if (!retired.has(card.id) && !pinned.has(card.id)) left.push(card);
    }
  }
  for (const id of retired) if (isLive(cards.get(id))) live.add(id);
  if (broken.length > 0) {
    const message = `the cards of ${fleet.name} are not one for one; nothing was planned`;
    throw notSent('check_failed', message, { notes: broken });
  }
  return { matched, left, live: live.size, lost };
}

function isLive(card: ObservedCard | undefined): boolean {
  return card !== undefined && card.status !== 'terminated';
}

function matchOne(
  wish: Wish,
  marked: readonly ObservedCard[],
  {
    fleet,
    cards,
    retired,
    broken,
  }: { fleet: string; cards: Account['cards']; retired: ReadonlySet<string>; broken: string[] },
): Matched {
  const generation = (card: ObservedCard) => card.mark?.generation ?? 0;
  const highest = marked.reduce((most, card) => Math.max(most, generation(card)), 0);
  const isUsable = (card: ObservedCard) => isLive(card) && !retired.has(card.id);
  // By generation and by id: the order of the list says nothing.
  const newest = [...marked].sort((a, b) => generation(b) - generation(a) || (a.id < b.id ? -1 : 1));
  const usable = newest.filter(isUsable);
  const pin = wish.pin === undefined ? undefined : cards.get(wish.pin);
  if (pin?.mark !== undefined && pin.mark.fleet !== fleet) {
    broken.push(`${wish.name} is pinned to ${pin.id}, which is ${markText(pin.mark)}`);
  }
  if (pin !== undefined && isLive(pin)) {
    const others = usable.filter(card => card !== pin);
    if (others.length > 0) {
      broken.push(`${wish.name} is ${pin.id} by its pin and ${others.map(({ id }) => id).join(', ')} by its marker`);
    }
    return { wish, present: pin, predecessors: [], highest, ended: undefined };
  }
  // Cards that `replace` names and that carry no marker were adopted by their ids.
  const replaced = wish.isOneOfSeveral ? [] : wish.replaced.flatMap(({ card }) => cards.get(card) ?? []);
  const adopted = replaced.filter(card => card.mark === undefined && !marked.includes(card));
  const [present, ...predecessors] = [...usable, ...adopted.filter(isUsable)];
  const ended = present === undefined ? (pin ?? newest[0]) : undefined;
  return { wish, present, predecessors, highest, ended };
}

/** Two cards that are not terminated with one marker: all are named, and the surplus ones with the way to end them. */
function duplicatesIn(marked: readonly ObservedCard[]): readonly string[] {
  const byMark = new Map<string, ObservedCard[]>();
  for (const card of marked) {
    if (!isLive(card) || card.mark === undefined) continue;
    addTo(byMark, String(card.mark.generation), card);
  }
  return [...byMark.values()].filter(same => same.length > 1).flatMap(surplusText);
}

function surplusText(same: readonly ObservedCard[]): readonly string[] {
  // The older card stays; one that somebody has frozen is the surplus one already.
  const isFrozen = ({ status }: ObservedCard) => Number(status !== 'active');
  const [kept, ...surplus] = [...same].sort((one, other) => isFrozen(one) - isFrozen(other) || byAge(one, other));
  if (kept?.mark === undefined) return [];
  const ids = [kept, ...surplus].map(({ id }) => id).join(', ');
  return [
    `${same.length} cards carry the marker ${markText(kept.mark)}: ${ids}. ${kept.id} stays`,
    ...surplus.flatMap(({ id, status }) => [
      ...(status === 'active' ? [`cardwright cards freeze ${shellWord(id)}`] : []),
      `cardwright cards terminate ${shellWord(id)}`,
    ]),
  ];
}
