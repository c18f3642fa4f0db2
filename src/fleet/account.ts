/** What the account holds, as far as a fleet is concerned: a few fields of a card, and the cards that are not ours counted. */
import { type Cents, centsOf } from '../core/money.ts';
import type { Fleet } from './fleet-file.ts';
import { type Mark, markOf } from './names.ts';

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

/** A card as the service lists it. */
export interface ListedCard {
  readonly id: string;
  readonly bin_id?: string | null;
  readonly last4: string;
  readonly status: string;
  readonly balance: number;
  readonly spending_limit?: number | null;
  readonly label?: string | null;
  readonly allowed_categories?: readonly string[] | null;
  readonly auto_freeze_at?: number | null;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly created_at?: string | null;
}

/** The fields that a plan looks at; undefined where the balance is no amount of money. */
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
export function namedIds({ wishes, retired }: Fleet): ReadonlySet<string> {
  const ids = new Set<string>(retired.map(({ card }) => card));
  for (const { pin, replaced } of wishes) {
    if (pin !== undefined) ids.add(pin);
    for (const { card } of replaced) ids.add(card);
  }
  return ids;
}

const WITNESSES = 3;

interface Dated {
  readonly id: string;
  readonly at: string;
}

/** Takes every card of the list, each once, in any order; keeps those that the fleet is concerned with. */
export class AccountCards {
  readonly #fleet: string;
  readonly #named: ReadonlySet<string>;
  readonly #asked: ReadonlySet<string>;
  readonly #cards = new Map<string, ObservedCard>();
  readonly #others = new Map<string, Set<string>>();
  readonly #witnessed = new Set<string>();
  #oldest: Dated[] = [];
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
    this.#witness({ id, at: listed.created_at ?? '' });
    const mark = markOf(listed.metadata?.[MARKER_KEY]);
    if (mark?.fleet === this.#fleet || this.#named.has(id)) {
      const card = observedCard(listed);
      if (card === undefined) return false;
      this.#cards.set(id, card);
    } else if (status !== 'terminated') this.#strangers += 1;
    if (mark !== undefined && mark.fleet !== this.#fleet && status !== 'terminated') this.#other(mark);
    return true;
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

  #other({ fleet, name }: Mark): void {
    const names = this.#others.get(fleet);
    if (names === undefined) this.#others.set(fleet, new Set([name]));
    else names.add(name);
  }

  #witness(card: Dated): void {
    const last = this.#oldest.at(-1);
    if (last !== undefined && this.#oldest.length === WITNESSES && isOlder(last, card)) return;
    this.#oldest = [...this.#oldest, card].sort((a, b) => (isOlder(a, b) ? -1 : 1)).slice(0, WITNESSES);
  }
}

function isOlder(one: Dated, other: Dated): boolean {
  return one.at === other.at ? one.id < other.id : one.at < other.at;
}
