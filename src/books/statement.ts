/** Statements on the posted basis: a card is what it has available and what is held, and a pending authorization is no line. */
import { createHash } from 'node:crypto';
import { CliError } from '../core/errors.ts';
import { effectOf, isKnownType, isPending } from './effect.ts';
import { isPast, type Period, type WallClock } from './period.ts';
import { rowName } from './position.ts';
import type { CardRow, CutCardRow, CutRow, MoveRow, TxRow, WalletRow } from './rows.ts';

export type LineType = 'settlement' | 'refund' | 'transfer' | 'deposit' | 'fee' | 'unexplained';

/** What stands on the other side of a line. */
export type Counter = 'merchant' | 'wallet' | 'card' | 'deposits' | 'fees' | 'unexplained';

export interface Line {
  /** Unique within its account. Both sides of a transfer carry the same. */
  readonly id: string;
  /** ms UTC. */
  readonly at: number;
  /** Day and time on the wall of the asked zone. */
  readonly date: string;
  readonly time: string;
  readonly type: LineType;
  /** Signed effect on the account, integer cents. */
  readonly cents: number;
  /** After the line, integer cents. */
  readonly balance: number;
  readonly payee: string;
  readonly memo: string;
  /** The card; on the wallet that of the transfer. */
  readonly card_id: string | null;
  readonly mcc: string | null;
  readonly country: string | null;
  readonly authorization_id: string | null;
  readonly counter: Counter;
  /** `derived`: no record and no own row says it; the difference of two cuts does. */
  readonly source: 'record' | 'journal' | 'derived';
}

export interface StatementAccount {
  readonly kind: 'card' | 'wallet';
  readonly card_id: string | null;
  readonly last4: string | null;
  readonly label: string | null;
  readonly opening: number;
  readonly lines: readonly Line[];
  readonly closing: number;
  /** Nothing of it is pending in the period and 35 days have passed. */
  readonly final: boolean;
}

export interface Statement {
  readonly period: Period;
  /** First and last day of the period and the day after, on the wall of the asked zone. */
  readonly days: { readonly first: string; readonly last: string; readonly next: string };
  readonly accounts: readonly StatementAccount[];
  /** What was asked for: the wallet and all cards, one card, or some. */
  readonly selection: 'all' | 'card' | 'cards';
  /** Open authorizations of the period, where they were asked for. They are no lines. */
  readonly holds: readonly OpenHold[];
  /** Every account is. */
  readonly final: boolean;
  /** An exact cut proves the closing balances. */
  readonly reconciled: boolean;
  /** Derived lines whose two cuts lie on both sides of an end of the period: their day may be another. */
  readonly straddling: readonly Line[];
}

export interface ExactCut {
  readonly cut: CutRow;
  readonly cards: readonly CutCardRow[];
}

/** Everything from the last exact cut before the period to the newest one. */
export interface StatementInput {
  readonly period: Period;
  readonly clock: WallClock;
  /** ms UTC, now. */
  readonly now: number;
  /** Exact cuts, oldest first. Without one before the period the account began within it. */
  readonly cuts: readonly ExactCut[];
  /** What was seen after them and is not proved: the statement closes by it where no exact cut proves its end. */
  readonly unproved?: ExactCut;
  readonly cards: readonly CardRow[];
  /** Records of and after the period, those that are gone left out, in any order. */
  readonly records: Iterable<TxRow>;
  readonly moves: readonly MoveRow[];
  /** Observations of the wallet, oldest first: deposits are dated by them. */
  readonly deposits: readonly Pick<WalletRow, 'at_ms' | 'total_deposited_cents'>[];
  /** Which cards have an account; the wallet has one when all have. */
  readonly only?: (card: CardRow) => boolean;
  /** One card alone: it has an account also when nothing happened to it. */
  readonly isOneCard?: boolean;
  /** Authorizations of the period that are pending, with what is left of them. */
  readonly pending?: readonly PendingRow[];
}

/** A record and what it may still hold at most, integer cents. */
export interface PendingRow {
  readonly record: TxRow;
  readonly held: number;
}

/** Money of a card that an open authorization holds. */
export interface OpenHold {
  readonly id: string;
  readonly at: number;
  readonly date: string;
  readonly card_id: string;
  /** Never negative, integer cents. */
  readonly cents: number;
  readonly payee: string;
}

type Draft = Omit<Line, 'balance' | 'date' | 'time'> & {
  /** Of derived lines: the earlier of the two cuts. */
  readonly since?: number;
};

/**
 * The statement of a period. Throws `check_failed` when no exact cut stands at or after the end of the period, and
 * `internal` when opening and lines do not make the closing.
 */
export function statementOf(input: StatementInput): Statement {
  const newest = closingCut(input);
  const { byCard, pending } = cardDrafts(input, newest.cut.at_ms);
  const posted = new Map(newest.cards.map(row => [row.card_id, row.balance_cents + row.holds_cents]));
  const straddling: Line[] = [];
  const isLate = newest !== input.unproved && isPast(input.period, input.now);
  const close = (drafts: readonly Draft[], closingNow: number) => {
    const { straddles, ...account } = balanced(drafts, closingNow, input);
    straddling.push(...straddles);
    return account;
  };
  const chosen = input.only === undefined ? input.cards : input.cards.filter(input.only);
  const accounts = chosen
    .map(({ card_id, last4, label }): StatementAccount => {
      const drafts = byCard.get(card_id) ?? [];
      const final = isLate && !pending.has(card_id);
      return { kind: 'card', card_id, last4, label, final, ...close(drafts, posted.get(card_id) ?? 0) };
    })
    // A card that was asked for has its statement, and says that nothing happened.
    .filter(
      ({ lines, opening, closing }) => input.isOneCard === true || lines.length > 0 || opening !== 0 || closing !== 0,
    );
  if (input.only === undefined) {
    const drafts = walletDrafts(input, byCard, newest.cut.at_ms);
    const wallet = { final: isLate && pending.size === 0, ...close(drafts, newest.cut.wallet_cents) };
    accounts.unshift({ kind: 'wallet', card_id: null, last4: null, label: null, ...wallet });
  }
  const { period, clock } = input;
  const day = (ms: number) => clock.at(ms).date;
  return {
    period,
    days: { first: day(period.from), last: day(period.to - 1), next: day(period.to) },
    accounts,
    selection: input.only === undefined ? 'all' : input.isOneCard === true ? 'card' : 'cards',
    holds: holdsOf(input, accounts),
    final: accounts.every(account => account.final) && isLate,
    reconciled: newest !== input.unproved,
    straddling,
  };
}

/** The exact cut that proves the closing balances, or what was seen in its place. Throws `check_failed`. */
function closingCut({ cuts, unproved, period, now }: StatementInput): ExactCut {
  const newest = cuts.at(-1);
  if (newest !== undefined && newest.cut.at_ms >= period.to) return newest;
  if (unproved !== undefined && unproved.cut.at_ms > period.from) return unproved;
  const isOver = period.to <= now;
  throw new CliError('check_failed', {
    message: isOver
      ? `no exact cut stands at or after the end of ${period.name}, so its closing balances are not proved`
      : `${period.name} has not ended, so nothing can prove its closing balances yet`,
    notes: [`--unreconciled goes on with what the copy shows, and marks what is not explained`],
    ...(isOver && { hint: 'cardwright reconcile' }),
  });
}

function holdsOf({ pending = [], clock }: StatementInput, accounts: readonly StatementAccount[]): readonly OpenHold[] {
  const cards = new Set(accounts.map(account => account.card_id));
  return pending.flatMap(({ record: { tx_id, at_ms, card_id, merchant }, held }) => {
    if (held <= 0 || card_id === null || !cards.has(card_id)) return [];
    return [{ id: tx_id, at: at_ms, date: clock.at(at_ms).date, card_id, cents: held, payee: merchant ?? '' }];
  });
}

/** Lines of each card from the beginning of the period to the newest cut. */
function cardDrafts({ records, moves, cuts, unproved, period, cards }: StatementInput, end: number) {
  const byCard = new Map<string, Draft[]>();
  const pending = new Set<string>();
  const add = (draft: Draft & { readonly card_id: string }) => {
    const known = byCard.get(draft.card_id);
    if (known === undefined) byCard.set(draft.card_id, [draft]);
    else known.push(draft);
  };
  const unknownTypes: TxRow[] = [];
  for (const row of records) {
    if (row.card_id === null || row.first_seen > end || row.gone_at !== null) continue;
    if (isPending(row) && row.at_ms < period.to) pending.add(row.card_id);
    if (!isKnownType(row.type)) unknownTypes.push(row);
    const { settled, refunded } = effectOf(row);
    if (settled - refunded !== 0) add({ ...ofRecord(row, row.card_id), cents: refunded - settled });
  }
  // Rows that the sums showed to be done count since then, whatever the journal says.
  const counted = JSON.parse((unproved ?? cuts.at(-1))?.cut.counted_rows ?? '{}') as Readonly<Record<string, string>>;
  for (const move of moves) {
    const shownBySums = counted[rowName(move)];
    const card = shownBySums ?? move.card_id;
    if (card === null || move.cents === 0 || (move.outcome !== 'done' && shownBySums === undefined)) continue;
    const cents = move.operation === 'cards.withdraw' ? -move.cents : move.cents;
    const payee = move.operation === 'cards.withdraw' ? 'To wallet' : 'From wallet';
    add({ ...transfer(rowName(move), card, cents), payee, at: move.at_ms, source: 'journal' });
  }
  for (const draft of derived(cuts, { unknownTypes, moves })) add(draft);
  if (unproved !== undefined) for (const draft of unexplained(unproved, cuts.at(-1), period)) add(draft);
  for (const { card_id } of cards) byCard.get(card_id)?.sort(byTime);
  return { byCard, pending };
}

function ofRecord(row: TxRow, card_id: string): Draft & { readonly card_id: string } {
  return {
    id: row.tx_id,
    at: row.at_ms,
    type: row.type === 'refund' ? 'refund' : 'settlement',
    cents: 0,
    payee: row.merchant ?? '',
    memo: '',
    card_id,
    mcc: row.mcc,
    country: row.merchant_country,
    authorization_id: row.authorization_id,
    counter: 'merchant',
    source: 'record',
  };
}

function transfer(id: string, card_id: string, cents: number) {
  return {
    id,
    type: 'transfer' as const,
    cents,
    memo: '',
    card_id,
    mcc: null,
    country: null,
    authorization_id: null,
    counter: 'wallet' as const,
  };
}

/** What cards changed by between two exact cuts beyond their records and own rows. */
function derived(
  cuts: readonly ExactCut[],
  { unknownTypes, moves }: { readonly unknownTypes: readonly TxRow[]; readonly moves: readonly MoveRow[] },
): (Draft & { readonly card_id: string })[] {
  const found: (Draft & { readonly card_id: string })[] = [];
  let before: ReadonlyMap<string, CutCardRow> = new Map();
  let since = 0;
  for (const { cut, cards } of cuts) {
    for (const row of cards) {
      const old = before.get(row.card_id);
      const cents = restOf(row) - (old === undefined ? 0 : restOf(old));
      if (cents === 0) continue;
      const fee = unknownTypes.find(
        each =>
          each.card_id === row.card_id &&
          Math.abs(each.cents) === Math.abs(cents) &&
          each.first_seen > since &&
          each.first_seen <= cut.at_ms,
      );
      if (fee !== undefined) {
        found.push({ ...ofRecord(fee, row.card_id), type: 'fee', counter: 'fees', cents });
        continue;
      }
      const id = derivedId([since, cut.at_ms, row.card_id, 'transfer', cents]);
      const end = moves.find(
        ({ operation, card_id, outcome, at_ms }) =>
          operation === 'cards.terminate' &&
          card_id === row.card_id &&
          outcome === 'done' &&
          at_ms > since &&
          at_ms <= cut.at_ms,
      );
      const payee = cents < 0 ? 'To wallet' : 'From wallet';
      found.push({ ...transfer(id, row.card_id, cents), payee, at: end?.at_ms ?? cut.at_ms, source: 'derived', since });
    }
    before = new Map(cards.map(row => [row.card_id, row]));
    since = cut.at_ms;
  }
  return found;
}

/**
 * What cards changed by after the last exact cut beyond their records and own rows. A terminated card has nothing but what
 * goes back to the wallet.
 */
function unexplained(
  { cut, cards }: ExactCut,
  base: ExactCut | undefined,
  period: Period,
): readonly (Draft & { readonly card_id: string })[] {
  const before = new Map(base?.cards.map(row => [row.card_id, row]));
  return cards.flatMap((row): readonly (Draft & { readonly card_id: string })[] => {
    const old = before.get(row.card_id);
    const cents = restOf(row) - (old === undefined ? 0 : restOf(old));
    if (cents === 0) return [];
    const at = Math.min(cut.at_ms, period.to - 1);
    const isOver = row.status === 'terminated';
    const id = derivedId([base?.cut.at_ms ?? 0, cut.at_ms, row.card_id, isOver ? 'transfer' : 'unexplained', cents]);
    const plain = { ...transfer(id, row.card_id, cents), at, source: 'derived' as const };
    if (isOver) return [{ ...plain, payee: cents < 0 ? 'To wallet' : 'From wallet' }];
    return [{ ...plain, type: 'unexplained' as const, counter: 'unexplained' as const, payee: UNEXPLAINED }];
  });
}

const UNEXPLAINED = 'Not explained';

/** What a card has that neither records nor own rows explain, from its beginning. */
function restOf(row: CutCardRow): number {
  const posted = row.balance_cents + row.holds_cents;
  const own = row.created_cents + row.funded_cents - row.withdrawn_cents;
  return posted - (own - row.settled_cents + row.refunded_cents);
}

/** Deposits, the other side of every transfer, and what is left of each cut. */
function walletDrafts(
  { cuts, deposits, unproved, period }: StatementInput,
  byCard: ReadonlyMap<string, readonly Draft[]>,
  end: number,
): readonly Draft[] {
  const drafts: Draft[] = [];
  for (const lines of byCard.values()) {
    for (const line of lines) {
      if (line.counter !== 'wallet') continue;
      drafts.push({ ...line, cents: -line.cents, counter: 'card', payee: line.cents > 0 ? 'To card' : 'From card' });
    }
  }
  let known = 0;
  let since = 0;
  const observed = [
    ...deposits.map(row => ({ at: row.at_ms, total: row.total_deposited_cents })),
    ...cuts.map(({ cut }) => ({ at: cut.at_ms, total: cut.total_deposited_cents })),
  ].sort((a, b) => a.at - b.at);
  for (const { at, total } of observed) {
    if (total === null || at > end) continue;
    const cents = total - known;
    if (cents !== 0) {
      const id = derivedId([since, at, 'wallet', 'deposit', cents]);
      const base = {
        ...transfer(id, '', cents),
        card_id: null,
        type: 'deposit' as const,
        counter: 'deposits' as const,
      };
      drafts.push({ ...base, payee: 'Deposit', at, source: 'derived', since });
    }
    [known, since] = [total, at];
  }
  if (unproved !== undefined) drafts.push(...unexplainedOfWallet(unproved, cuts.at(-1), period));
  return drafts.sort(byTime);
}

/** What the wallet changed by after the last exact cut beyond deposits and transfers. */
function unexplainedOfWallet({ cut, cards }: ExactCut, base: ExactCut | undefined, period: Period): Draft[] {
  const rest = (of: ExactCut | undefined) =>
    (of?.cut.wallet_cents ?? 0) - (of?.cut.total_deposited_cents ?? 0) + (of?.cards ?? []).reduce(ownSum, 0);
  let cents = rest({ cut, cards }) - rest(base);
  // What terminated cards gave back has its lines already.
  const since = base?.cut.at_ms ?? 0;
  for (const line of unexplained({ cut, cards }, base, period)) if (line.counter === 'wallet') cents += line.cents;
  if (cents === 0) return [];
  const id = derivedId([since, cut.at_ms, 'wallet', 'unexplained', cents]);
  const marked = { type: 'unexplained' as const, counter: 'unexplained' as const, payee: UNEXPLAINED, card_id: null };
  return [{ ...transfer(id, '', cents), ...marked, at: Math.min(cut.at_ms, period.to - 1), source: 'derived' }];
}

const ownSum = (sum: number, { created_cents, funded_cents, withdrawn_cents }: CutCardRow) =>
  sum + created_cents + funded_cents - withdrawn_cents;

/** Same cuts, same id: an import that comes twice is known by it. */
function derivedId(parts: readonly (string | number)[]): string {
  return `cw-${base32(createHash('sha256').update(parts.join('\n')).digest()).slice(0, 20)}`;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Lower-case base32 without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let [value, bits] = [0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(value >>> bits) & 31] ?? '';
      value &= (1 << bits) - 1;
    }
  }
  return text;
}

function byTime(a: Draft, b: Draft): number {
  return a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

/** Goes back from what the account has at the newest cut, and forth again through the lines of the period. */
function balanced(drafts: readonly Draft[], closingNow: number, { period, clock }: StatementInput) {
  let closing = closingNow;
  let opening = closingNow;
  for (const { at, cents } of drafts) {
    if (at >= period.to) closing -= cents;
    if (at >= period.from) opening -= cents;
  }
  let balance = opening;
  const lines: Line[] = [];
  const straddles: Line[] = [];
  for (const { since, ...draft } of drafts) {
    const isWithin = draft.at >= period.from && draft.at < period.to;
    if (!isWithin && (since === undefined || since >= period.to || draft.at < period.to)) continue;
    if (isWithin) balance += draft.cents;
    const line = { ...draft, balance, ...clock.at(draft.at) };
    if (isWithin) lines.push(line);
    // Before the first cut nothing was observed, so nothing says that it came earlier.
    if (since !== undefined && since > 0 && (!isWithin || since < period.from)) straddles.push(line);
  }
  if (balance !== closing || !Number.isSafeInteger(balance)) {
    throw new CliError('internal', { message: `a statement closes at ${balance} and should at ${closing} cents` });
  }
  return { opening, lines, closing, straddles };
}
