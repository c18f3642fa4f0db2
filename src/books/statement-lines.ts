/**
 * What a statement is made from, and its lines before they have a day and a balance: from records, own rows, and the differences of
 * checkpoints. Amounts are integer cents, times ms UTC.
 */

import { createHash } from 'node:crypto';
import { base32 } from '../core/names.ts';
import { addTo } from '../core/objects.ts';
import type { Period, WallClock } from './period.ts';
import { rowName } from './position.ts';
import { effectOf } from './records.ts';
import type { CardRow, CheckpointCardRow, CheckpointRow, MoveRow, TxRow, WalletRow } from './rows.ts';

export interface Line {
  /** Unique within its account. Both sides of a transfer carry the same. */
  readonly id: string;
  readonly at: number;
  /** Day and time on the wall of the asked zone. */
  readonly date: string;
  readonly time: string;
  readonly type: 'settlement' | 'refund' | 'transfer' | 'deposit' | 'fee' | 'unexplained';
  /** Signed effect on the account. */
  readonly cents: number;
  /** After the line; null where a derived line may have come before it or after. */
  readonly balance: number | null;
  readonly payee: string;
  /** What the money is for, in the words of who asked for it; empty where nobody said. */
  readonly purpose: string;
  /** The card; on the wallet that of the transfer. */
  readonly card_id: string | null;
  readonly mcc: string | null;
  readonly country: string | null;
  readonly authorization_id: string | null;
  /** What stands on the other side. */
  readonly counter: 'merchant' | 'wallet' | 'card' | 'deposits' | 'fees' | 'unexplained';
  /** `derived`: no record and no own row says it; the difference of two checkpoints does. */
  readonly source: 'record' | 'journal' | 'derived';
  /** Derived since the last exact checkpoint: a later reading may show it with another id, amount or day, or not at all. */
  readonly unproved?: true;
}

/** What was asked for: the wallet and all cards, the wallet, all cards, some of them, or one. */
export type Selection = 'all' | 'wallet' | 'cards' | 'card';

/** Columns of a card that a statement names it by and dates it by; every card is in memory, so there are no more. */
export type StatementCard = Pick<CardRow, 'card_id' | 'last4' | 'label' | 'metadata' | 'created_ms'>;

export interface Checkpoint {
  readonly checkpoint: CheckpointRow;
  readonly cards: readonly CheckpointCardRow[];
}

/** Columns of a record that its line is made of; one row is read for each line, so there are no more. */
export type PostedRow = Pick<
  TxRow,
  'tx_id' | 'type' | 'status' | 'cents' | 'merchant' | 'mcc' | 'merchant_country' | 'authorization_id' | 'at_ms'
> & {
  /** Of a purchase in one changing record that was seen to change: a line each, oldest first. */
  readonly steps?: readonly PostedStep[];
};

/** What a purchase had spent in all from then on: settled less refunded. */
export interface PostedStep {
  /** Of the purchase, or when the change was seen. */
  readonly at: number;
  readonly spent: number;
  /** It happened at any time from then on; undefined for the time of the purchase. */
  readonly since?: number;
}

/** Records since the first checkpoint of the input and seen by the newest one, those that are gone left out. */
export interface StatementRecords {
  /** Settlements and refunds of a card, in any order. */
  of(card_id: string): Iterable<PostedRow>;
  /**
   * Whether money of a card that ended at `end` may have gone back later: something was posted after it and up to `until`, or
   * an authorization that is younger than `since` may have been held then.
   */
  wentLater(card_id: string, span: Readonly<Record<'since' | 'end' | 'until', number>>): boolean;
  /** Of types that the interface does not name. */
  readonly unknownTypes: readonly TxRow[];
  /** Cards with an authorization that is pending and began before the end of the period. */
  readonly pendingCards: ReadonlySet<string>;
}

/** Everything from the last exact checkpoint before the period to the newest one. */
export interface StatementInput {
  readonly period: Period;
  readonly clock: WallClock;
  readonly now: number;
  /** Exact ones, oldest first. Without one before the period the account began within it. */
  readonly checkpoints: readonly Checkpoint[];
  /** What was seen after them: the statement closes by it where no exact checkpoint stands at its end. */
  readonly unproved?: Checkpoint;
  readonly cards: readonly StatementCard[];
  readonly records: StatementRecords;
  /** All own rows up to the newest checkpoint. */
  readonly moves: readonly MoveRow[];
  /** Observations of the wallet, oldest first: deposits are dated by them. */
  readonly deposits: readonly Pick<WalletRow, 'at_ms' | 'total_deposited_cents'>[];
  /** `all` when left out. */
  readonly selection?: Selection;
  /** Which cards have an account; all when left out. */
  readonly only?: (card: StatementCard) => boolean;
  /** Authorizations of the period that are pending, with what they may still hold at most. */
  readonly pending?: readonly { readonly record: TxRow; readonly held: number }[];
}

export type Draft = Omit<Line, 'balance' | 'date' | 'time'> & {
  /** Of derived lines: the earlier of the two checkpoints, 0 where there is none. */
  readonly since?: number;
  /** Of derived lines without an earlier checkpoint: when the first one was, ms UTC. */
  readonly begins?: number;
  /** It happened at any time after the one and up to the other (ms UTC): balances between are not known. */
  readonly anyTime?: { readonly after: number; readonly until: number };
};

type CardDraft = Draft & { readonly card_id: string };

/** What moved between the wallet and each card, or is not explained; all lines of a card but those of its records. */
export function movedDrafts(input: StatementInput): ReadonlyMap<string, Draft[]> {
  const { moves, checkpoints, unproved } = input;
  const byCard = new Map<string, Draft[]>();
  const add = (draft: CardDraft) => {
    addTo(byCard, draft.card_id, draft);
  };
  // Rows that the sums showed to be done count since then, whatever the journal says.
  const newest = (unproved ?? checkpoints.at(-1))?.checkpoint;
  const counted = JSON.parse(newest?.counted_rows ?? '{}') as Readonly<Record<string, string>>;
  for (const move of moves) {
    const shownBySums = counted[rowName(move)];
    const card = shownBySums ?? move.card_id;
    if (card === null || move.cents === 0 || (move.outcome !== 'done' && shownBySums === undefined)) continue;
    const cents = move.operation === 'cards.withdraw' ? -move.cents : move.cents;
    const of = { at: move.at_ms, source: 'journal', purpose: move.purpose ?? '' } as const;
    add({ ...transfer(rowName(move), cents), card_id: card, ...of });
  }
  for (const draft of derived(input)) add(draft);
  return byCard;
}

/** A line each time that a purchase in one changing record was seen to change: an amount under a known id stays. */
export function draftsOfSteps(row: PostedRow, steps: readonly PostedStep[], card_id: string): readonly Draft[] {
  const plain = ofRecord(row, card_id);
  let before = 0;
  return steps.map(({ at, since, spent }, index) => {
    const cents = before - spent;
    before = spent;
    const type = cents > 0 ? 'refund' : 'settlement';
    const id = index === 0 ? row.tx_id : `${row.tx_id}-${index + 1}`;
    return {
      ...plain,
      id,
      at,
      type,
      cents,
      ...(since !== undefined && { since, anyTime: { after: since, until: at } }),
    };
  });
}

/** Records of other types are told by the sums alone. */
export function ofRecord(row: PostedRow, card_id: string): CardDraft {
  const { settled, refunded } = effectOf(row);
  return {
    id: row.tx_id,
    at: row.at_ms,
    type: row.type === 'refund' ? 'refund' : 'settlement',
    cents: refunded - settled,
    payee: row.merchant ?? '',
    purpose: '',
    card_id,
    mcc: row.mcc,
    country: row.merchant_country,
    authorization_id: row.authorization_id,
    counter: 'merchant',
    source: 'record',
  };
}

/** Between the wallet and a card: positive from the wallet. */
function transfer(id: string, cents: number) {
  return {
    id,
    type: 'transfer' as const,
    cents,
    payee: cents < 0 ? 'To wallet' : 'From wallet',
    purpose: '',
    mcc: null,
    country: null,
    authorization_id: null,
    counter: 'wallet' as const,
  };
}

/**
 * What cards changed by between two exact checkpoints, and after the last one, beyond their records and own rows. What came
 * after it is not explained, but for a terminated card, which has nothing but what goes back to the wallet.
 */
function derived({ checkpoints, unproved, records, moves, cards: known, period }: StatementInput): CardDraft[] {
  const found: CardDraft[] = [];
  const created = new Map(known.map(({ card_id, created_ms }) => [card_id, created_ms]));
  const ends = new Map<string, number[]>();
  for (const { operation, card_id, outcome, at_ms } of moves) {
    if (operation !== 'cards.terminate' || card_id === null || outcome !== 'done') continue;
    addTo(ends, card_id, at_ms);
  }
  let before: ReadonlyMap<string, CheckpointCardRow> = new Map();
  let since = 0;
  for (const each of [...checkpoints, ...(unproved === undefined ? [] : [unproved])]) {
    const { checkpoint, cards } = each;
    const until = checkpoint.at_ms;
    const isBetween = (at: number | null | undefined): at is number => at != null && at > since && at <= until;
    for (const row of cards) {
      const { card_id } = row;
      const old = before.get(card_id);
      const cents = restOf(row) - (old === undefined ? 0 : restOf(old));
      if (cents === 0) continue;
      if (each === unproved) {
        const type = row.status === 'terminated' ? 'transfer' : 'unexplained';
        found.push(lineSince({ type, card_id, cents }, { since, until }, period));
        continue;
      }
      const fee = records.unknownTypes.find(
        each => each.card_id === card_id && Math.abs(each.cents) === Math.abs(cents) && isBetween(each.first_seen),
      );
      if (fee !== undefined) {
        found.push({ ...ofRecord(fee, card_id), type: 'fee', counter: 'fees', cents });
        continue;
      }
      const base = {
        ...transfer(derivedId([since, until, card_id, 'transfer', cents]), cents),
        card_id,
        source: 'derived' as const,
        since,
        ...(since === 0 && { begins: until }),
      };
      const end = cents < 0 ? (ends.get(card_id) ?? []).find(isBetween) : undefined;
      const made = created.get(card_id);
      if (end !== undefined) {
        // What was posted after the end, or held then and let go later, went at times of its own.
        const isAtOnce = (old?.holds_cents ?? 0) === 0 && !records.wentLater(card_id, { since, end, until });
        found.push({ ...base, at: end, ...(!isAtOnce && { anyTime: { after: since, until } }) });
      } else if (old === undefined && cents > 0 && isBetween(made)) {
        // Of a card of somebody else, or from before the books: it had money when it was made, and may have got some later.
        found.push({ ...base, at: made, anyTime: { after: made, until } });
      } else found.push({ ...base, at: until, anyTime: { after: since, until } });
    }
    before = new Map(cards.map(row => [row.card_id, row]));
    since = until;
  }
  return found;
}

/** A line that came after the last exact checkpoint, at any time since. */
function lineSince<Card extends string | null>(
  {
    type,
    card_id,
    cents,
  }: { readonly type: 'transfer' | 'unexplained'; readonly card_id: Card; readonly cents: number },
  { since, until }: { readonly since: number; readonly until: number },
  period: Period,
) {
  const at = Math.min(until, period.to - 1);
  const id = derivedId([since, until, card_id ?? 'wallet', type, cents]);
  const line = { ...transfer(id, cents), card_id, at, anyTime: { after: since, until: at } };
  const marked = { ...line, source: 'derived' as const, unproved: true as const };
  if (type === 'transfer') return marked;
  return { ...marked, type, counter: 'unexplained' as const, payee: 'Not explained' };
}

/** What a card has that neither records nor own rows explain, from its beginning. */
function restOf(row: CheckpointCardRow): number {
  const posted = row.balance_cents + row.holds_cents;
  const own = row.created_cents + row.funded_cents - row.withdrawn_cents;
  return posted - (own - row.settled_cents + row.refunded_cents);
}

/** Deposits, the other side of every transfer, and what is left of each checkpoint. */
export function walletDrafts(
  { checkpoints, deposits, unproved, period }: StatementInput,
  moved: ReadonlyMap<string, readonly Draft[]>,
  end: number,
): readonly Draft[] {
  const drafts: Draft[] = [];
  for (const lines of moved.values()) {
    for (const line of lines) {
      if (line.counter !== 'wallet') continue;
      drafts.push({ ...line, cents: -line.cents, counter: 'card', payee: line.cents > 0 ? 'To card' : 'From card' });
    }
  }
  let known = 0;
  let since = 0;
  // What was deposited before the first reading was there before any of it left.
  const first = drafts.reduce((least, { at }) => Math.min(least, at), Infinity);
  const observed = [
    ...deposits.map(row => ({ at: row.at_ms, total: row.total_deposited_cents })),
    ...checkpoints.map(({ checkpoint }) => ({ at: checkpoint.at_ms, total: checkpoint.total_deposited_cents })),
  ].sort((a, b) => a.at - b.at || (a.total ?? 0) - (b.total ?? 0));
  for (const { at, total } of observed) {
    if (total === null || at > end) continue;
    const cents = total - known;
    if (cents !== 0) {
      const id = derivedId([since, at, 'wallet', 'deposit', cents]);
      const base = {
        ...transfer(id, cents),
        card_id: null,
        type: 'deposit' as const,
        counter: 'deposits' as const,
      };
      const dated = since === 0 ? { at: Math.min(at, first), begins: at } : { at };
      drafts.push({
        ...base,
        payee: 'Deposit',
        ...dated,
        source: 'derived',
        since,
        anyTime: { after: since, until: at },
      });
    }
    [known, since] = [total, at];
  }
  if (unproved !== undefined) {
    // Beyond deposits and transfers; what terminated cards gave back has its lines already.
    const base = checkpoints.at(-1);
    const given = drafts.reduce((sum, line) => (line.unproved ? sum + line.cents : sum), 0);
    const cents = walletRest(unproved) - (base === undefined ? 0 : walletRest(base)) - given;
    const span = { since: base?.checkpoint.at_ms ?? 0, until: unproved.checkpoint.at_ms };
    if (cents !== 0) drafts.push(lineSince({ type: 'unexplained', card_id: null, cents }, span, period));
  }
  return drafts.sort(byTime);
}

/** What the wallet has that neither deposits nor own rows explain, from its beginning. */
function walletRest({ checkpoint, cards }: Checkpoint): number {
  return checkpoint.wallet_cents - checkpoint.total_deposited_cents + cards.reduce(ownSum, 0);
}

const ownSum = (sum: number, { created_cents, funded_cents, withdrawn_cents }: CheckpointCardRow) =>
  sum + created_cents + funded_cents - withdrawn_cents;

/** Same checkpoints, same id: an import that comes twice is known by it. */
function derivedId(parts: readonly (string | number)[]): string {
  return `cw-${base32(createHash('sha256').update(parts.join('\n')).digest()).slice(0, 20)}`;
}

/** Where a clock went back, several readings are of one instant: what was read first stands first. */
export function byTime(a: Draft, b: Draft): number {
  return a.at - b.at || (a.since ?? a.at) - (b.since ?? b.at) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
