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
  /** Day on the wall of the asked zone. */
  readonly date: string;
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
  /** Of a purchase in one changing record, which has a row for each change that was seen: what this one spent. */
  readonly spent?: number;
  /** It happened at any time from then on; undefined for the time of the purchase. */
  readonly since?: number;
};

/** Records since the first checkpoint of the input and seen by the newest one, those that are gone left out. */
export interface StatementRecords {
  /** Each of the cards, in their order, with its settlements and refunds, in any order. */
  of(cards: readonly StatementCard[]): Iterable<readonly [StatementCard, readonly PostedRow[]]>;
  /** Whether an authorization of a card that ended at `end`, younger than `since` and not settled, may have been held then. */
  mayHold(card_id: string, span: Readonly<Record<'since' | 'end', number>>): boolean;
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
  /** What keeps the last reconcile, made after the period, provisional: a clause each. */
  readonly heldOpen?: readonly string[];
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
  readonly pending?: readonly (Pick<TxRow, 'tx_id' | 'at_ms' | 'card_id' | 'merchant'> & { readonly held: number })[];
}

/** A line before its account is walked: it has no day and no balance yet. */
export type Draft = { -readonly [Name in keyof Line]: Line[Name] } & {
  /** Of derived lines: the earlier of the two checkpoints, 0 where there is none. */
  readonly since?: number;
  /** Of derived lines without an earlier checkpoint: when the first one was, ms UTC. */
  readonly begins?: number;
  /** It happened at any time after the one and up to the other (ms UTC): balances between are not known. */
  readonly anyTime?: { readonly after: number; readonly until: number } | undefined;
};

/** What moved between the wallet and each card, or is not explained; all lines of a card but those of its records. */
export function movedDrafts(input: StatementInput): ReadonlyMap<string, Draft[]> {
  const { moves, checkpoints, unproved } = input;
  const byCard = new Map<string, Draft[]>();
  // Rows that the sums showed to be done count since then, whatever the journal says.
  const newest = (unproved ?? checkpoints.at(-1))?.checkpoint;
  const counted = JSON.parse(newest?.counted_rows ?? '{}') as Readonly<Record<string, string>>;
  for (const move of moves) {
    const shownBySums = counted[rowName(move)];
    const card = shownBySums ?? move.card_id;
    if (card === null || move.cents === 0 || (move.outcome !== 'done' && shownBySums === undefined)) continue;
    const cents = move.operation === 'cards.withdraw' ? -move.cents : move.cents;
    const of = { id: rowName(move), at: move.at_ms, source: 'journal', purpose: move.purpose ?? '' } as const;
    addTo(byCard, card, { ...plainLine('transfer', cents), card_id: card, ...of });
  }
  for (const draft of derived(input)) addTo(byCard, draft.card_id ?? '', draft);
  return byCard;
}

/** Records of other types are told by the sums alone. */
export function ofRecord(row: PostedRow, card_id: string): Draft {
  const { settled, refunded } = effectOf(row);
  const { since, spent = settled - refunded } = row;
  const isRefund = row.spent === undefined ? row.type === 'refund' : spent < 0;
  return {
    id: row.tx_id,
    at: row.at_ms,
    date: '',
    type: isRefund ? 'refund' : 'settlement',
    cents: -spent,
    balance: null,
    payee: row.merchant ?? '',
    purpose: '',
    card_id,
    mcc: row.mcc,
    country: row.merchant_country,
    authorization_id: row.authorization_id,
    counter: 'merchant',
    source: 'record',
    ...(since !== undefined && { since, anyTime: { after: since, until: row.at_ms } }),
  };
}

const NO_RECORD = { date: '', balance: null, purpose: '', mcc: null, country: null, authorization_id: null };
const COUNTERS = { transfer: 'wallet', deposit: 'deposits', unexplained: 'unexplained' } as const;
type PlainType = keyof typeof COUNTERS;

/** A line without a merchant. Of a card a transfer is positive from the wallet. */
function plainLine(type: PlainType, cents: number) {
  const transfer = cents < 0 ? 'To wallet' : 'From wallet';
  const payee = type === 'transfer' ? transfer : type === 'deposit' ? 'Deposit' : 'Not explained';
  return { ...NO_RECORD, type, cents, payee, counter: COUNTERS[type] };
}

interface Between {
  readonly since: number;
  readonly until: number;
}

/** What two readings differ by, at any time between. Same checkpoints, same id: an import that comes twice is known by it. */
function derivedLine(type: PlainType, card_id: string | null, cents: number, { since, until }: Between) {
  const digest = createHash('sha256')
    .update([since, until, card_id ?? 'wallet', type, cents].join('\n'))
    .digest();
  const id = `cw-${base32(digest).slice(0, 20)}`;
  const anyTime: Draft['anyTime'] = { after: since, until };
  return { ...plainLine(type, cents), id, card_id, at: until, source: 'derived' as const, anyTime };
}

/** A line that came after the last exact checkpoint. */
function unprovedLine(type: PlainType, card_id: string | null, cents: number, span: Between, { to }: Period): Draft {
  const at = Math.min(span.until, to - 1);
  const anyTime = { after: span.since, until: at };
  return { ...derivedLine(type, card_id, cents, span), at, anyTime, unproved: true };
}

/**
 * What cards changed by between two exact checkpoints, and after the last one, beyond their records and own rows. What came
 * after it is not explained, but for a terminated card, which has nothing but what goes back to the wallet.
 */
function derived({ checkpoints, unproved, records, moves, cards: known, period }: StatementInput): Draft[] {
  const found: Draft[] = [];
  const byId = new Map(known.map(card => [card.card_id, card]));
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
      if (each === unproved) {
        const type = row.status === 'terminated' ? 'transfer' : 'unexplained';
        if (cents !== 0) found.push(unprovedLine(type, card_id, cents, { since, until }, period));
        continue;
      }
      const isFee = (record: TxRow) => record.card_id === card_id && Math.abs(record.cents) === Math.abs(cents);
      const fee =
        cents === 0 ? undefined : records.unknownTypes.find(each => isFee(each) && isBetween(each.first_seen));
      if (fee !== undefined) {
        found.push({ ...ofRecord(fee, card_id), type: 'fee', counter: 'fees', cents });
        continue;
      }
      const card = byId.get(card_id);
      const wasOver = old?.status === 'terminated';
      const end = wasOver ? undefined : (ends.get(card_id) ?? []).find(isBetween);
      const isOver = (wasOver || end !== undefined) && (old?.holds_cents ?? 0) === 0;
      const hasMoved =
        cents !== 0 || row.settled_cents !== old?.settled_cents || row.refunded_cents !== old?.refunded_cents;
      const ended =
        card !== undefined && isOver && hasMoved ? afterEnd(card, cents, { since, end, until }, records) : undefined;
      if (ended !== undefined) found.push(...ended);
      if (ended !== undefined || cents === 0) continue;
      const base = { ...derivedLine('transfer', card_id, cents, { since, until }), ...sinceThen(since, until) };
      if (end !== undefined && cents < 0) found.push({ ...base, at: end });
      else if (old === undefined && cents > 0 && isBetween(card?.created_ms)) {
        // Of a card of somebody else, or from before the books: it had money when it was made, and may have got some later.
        found.push({ ...base, at: card.created_ms, anyTime: { after: card.created_ms, until } });
      } else found.push(base);
    }
    before = new Map(cards.map(row => [row.card_id, row]));
    since = until;
  }
  return found;
}

const sinceThen = (since: number, until: number) => ({ since, ...(since === 0 && { begins: until }) });

/**
 * What a card that ended gave back at its own end, and what was posted to it later: such a card has nothing, so that goes over
 * the wallet at once. `cents` are both together. Undefined where they do not tell it: something may have been held at the end,
 * of which nothing says how much went back, and when.
 */
function afterEnd(
  card: StatementCard,
  cents: number,
  { since, end, until }: Between & { readonly end: number | undefined },
  records: StatementRecords,
): readonly Draft[] | undefined {
  const { card_id } = card;
  const over = end ?? since;
  if (records.mayHold(card_id, { since, end: over })) return undefined;
  const later = [...records.of([card])]
    .flatMap(([, rows]) => rows.map(row => ofRecord(row, card_id)))
    .filter(({ at, cents: posted }) => at > over && at <= until && posted !== 0);
  if (later.some(({ cents: posted, authorization_id }) => posted < 0 && authorization_id !== null)) return undefined;
  const returned = later.reduce((sum, line) => sum + line.cents, cents);
  if (returned > 0 || (returned < 0 && end === undefined)) return undefined;
  const drafts: Draft[] = later.map(({ id, at, cents: posted }) => {
    return { ...plainLine('transfer', -posted), id: `${id}-wallet`, at, card_id, source: 'derived' };
  });
  if (returned === 0) return drafts;
  const line = { ...derivedLine('transfer', card_id, returned, { since, until }), ...sinceThen(since, until) };
  return [{ ...line, at: over, anyTime: undefined }, ...drafts];
}

/** What a card has that neither records nor own rows explain, from its beginning. */
function restOf(row: CheckpointCardRow): number {
  return row.balance_cents + row.holds_cents - (ownOf(row) - row.settled_cents + row.refunded_cents);
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
  const observed = [
    ...deposits.map(row => ({ at: row.at_ms, total: row.total_deposited_cents })),
    ...checkpoints.map(({ checkpoint }) => ({ at: checkpoint.at_ms, total: checkpoint.total_deposited_cents })),
  ].sort((a, b) => a.at - b.at || (a.total ?? 0) - (b.total ?? 0));
  for (const { at, total } of observed) {
    if (total === null || at > end) continue;
    const cents = total - known;
    if (cents !== 0) {
      const line = { ...derivedLine('deposit', null, cents, { since, until: at }), ...sinceThen(since, at) };
      // What was there at the first reading is of no day that anybody knows: it is older than every period.
      drafts.push(since === 0 ? { ...line, at: 0 } : line);
    }
    [known, since] = [total, at];
  }
  if (unproved !== undefined) {
    // Beyond deposits and transfers; what terminated cards gave back has its lines already.
    const base = checkpoints.at(-1);
    const given = drafts.reduce((sum, line) => (line.unproved ? sum + line.cents : sum), 0);
    const cents = walletRest(unproved) - (base === undefined ? 0 : walletRest(base)) - given;
    const span = { since: base?.checkpoint.at_ms ?? 0, until: unproved.checkpoint.at_ms };
    if (cents !== 0) drafts.push(unprovedLine('unexplained', null, cents, span, period));
  }
  return drafts.sort(byTime);
}

/** What the wallet has that neither deposits nor own rows explain, from its beginning. */
function walletRest({ checkpoint, cards }: Checkpoint): number {
  const own = cards.reduce((sum, row) => sum + ownOf(row), 0);
  return checkpoint.wallet_cents - checkpoint.total_deposited_cents + own;
}

const ownOf = ({ created_cents, funded_cents, withdrawn_cents }: CheckpointCardRow) =>
  created_cents + funded_cents - withdrawn_cents;

/** Where a clock went back, several readings are of one instant: what was read first stands first. */
export function byTime(a: Draft, b: Draft): number {
  return a.at - b.at || (a.since ?? a.at) - (b.since ?? b.at) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
