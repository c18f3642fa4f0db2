/** Statements on the posted basis: a card is what it has available and what is held, and a pending authorization is no line. */
import { CliError } from '../core/errors.ts';
import { isPast, type Period } from './period.ts';
import type { CardRow } from './rows.ts';
import { byTime, type Draft, draftsOfSteps, movedDrafts, ofRecord, walletDrafts } from './statement-lines.ts';
import type {
  ExactCut,
  Line,
  OpenHold,
  Statement,
  StatementAccount,
  StatementInput,
  StraddlingLine,
} from './statement-model.ts';

/**
 * The statement of a period. Throws `check_failed` when no exact cut stands at or after the end of the period; a walk
 * through its accounts throws `internal` when opening and lines do not make the closing.
 */
export function statementOf(input: StatementInput): Statement {
  const { period, clock, only, records } = input;
  const newest = closingCut(input);
  const moved = movedDrafts(input);
  const cards = only === undefined ? input.cards : input.cards.filter(only);
  const wallet = only === undefined ? walletDrafts(input, moved, newest.cut.at_ms) : [];
  const isLate = newest !== input.unproved && isPast(period, input.now);
  const isPending = only === undefined ? records.pendingCards.size > 0 : cards.some(isIn(records.pendingCards));
  const day = (ms: number) => clock.at(ms).date;
  const since = new Map<string | null, number | undefined>(
    cards.map(card => [card.card_id, knownSince(moved.get(card.card_id) ?? [], period)]),
  );
  if (only === undefined) since.set(null, walletKnownSince(wallet, [...since.values()], input));
  const begins = [...since.values()].filter(at => at !== undefined);
  const parts = { newest, moved, cards, wallet, isLate, since };
  return {
    period,
    days: { first: day(period.from), last: day(period.to - 1), next: day(period.to) },
    until: Math.min(period.to, newest.cut.at_ms),
    cards,
    accounts: { [Symbol.iterator]: () => accountsOf(input, parts) },
    selection: only === undefined ? 'all' : input.isOneCard === true ? 'card' : 'cards',
    holds: holdsOf(input, cards),
    final: isLate && !isPending,
    ...(begins.length > 0 && { knownSince: Math.max(...begins), knownSinceDay: day(Math.max(...begins)) }),
    reconciled: newest !== input.unproved && begins.length === 0,
    straddling: [
      ...cards.map(({ card_id }) => ({ kind: 'card' as const, drafts: moved.get(card_id) ?? [] })),
      { kind: 'wallet' as const, drafts: wallet },
    ].flatMap(({ kind, drafts }) => drafts.flatMap(draft => straddling(draft, { kind, period, clock }))),
  };
}

/** Of an account that its first cut shows otherwise than records and own rows: when that was. Before it nobody looked. */
function knownSince(drafts: readonly Draft[], { from }: Period): number | undefined {
  return drafts.find(({ since, firstCut = 0 }) => since === 0 && firstCut > from)?.firstCut;
}

/** The wallet is the other side of every card. A first deposit may be older than the period where a card is. */
function walletKnownSince(
  drafts: readonly Draft[],
  ofCards: readonly (number | undefined)[],
  { cards, period: { from, to } }: StatementInput,
): number | undefined {
  const known = ofCards.find(at => at !== undefined);
  if (known !== undefined) return known;
  const isOlder = cards.some(({ created_ms }) => created_ms !== null && created_ms < from);
  const first = drafts.find(({ type, since, at }) => type === 'deposit' && since === 0 && at >= from);
  return first !== undefined && (isOlder || first.at >= to) ? first.at : undefined;
}

const isIn = (ids: ReadonlySet<string>) => (row: CardRow) => ids.has(row.card_id);

interface Parts {
  readonly newest: ExactCut;
  readonly moved: ReadonlyMap<string, readonly Draft[]>;
  readonly cards: readonly CardRow[];
  readonly wallet: readonly Draft[];
  readonly isLate: boolean;
  /** `knownSince` by card; null for the wallet. */
  readonly since: ReadonlyMap<string | null, number | undefined>;
}

function* accountsOf(input: StatementInput, parts: Parts): Generator<StatementAccount> {
  const { newest, moved, cards, wallet, isLate, since } = parts;
  const { records } = input;
  const { pendingCards } = records;
  if (input.only === undefined) {
    const none = { card_id: null, last4: null, label: null };
    const final = isLate && pendingCards.size === 0;
    const closingNow = newest.cut.wallet_cents;
    yield { kind: 'wallet', ...none, final, ...balanced(wallet, { closingNow, knownSince: since.get(null) }, input) };
  }
  const posted = new Map(newest.cards.map(row => [row.card_id, row.balance_cents + row.holds_cents]));
  for (const { card_id, last4, label } of cards) {
    const drafts = [...(moved.get(card_id) ?? [])];
    for (const row of records.of(card_id)) {
      if (row.steps !== undefined) drafts.push(...draftsOfSteps(row, row.steps, card_id));
      else {
        const draft = ofRecord(row, card_id);
        if (draft.cents !== 0) drafts.push(draft);
      }
    }
    const now = { closingNow: posted.get(card_id) ?? 0, knownSince: since.get(card_id) };
    const account = balanced(drafts.sort(byTime), now, input);
    const { lines, opening, closing } = account;
    // A card that was asked for has its statement, and says that nothing happened.
    if (input.isOneCard !== true && lines.length === 0 && opening === 0 && closing === 0) continue;
    yield { kind: 'card', card_id, last4, label, final: isLate && !pendingCards.has(card_id), ...account };
  }
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

function holdsOf({ pending = [], clock }: StatementInput, cards: readonly CardRow[]): readonly OpenHold[] {
  const asked = new Set(cards.map(card => card.card_id));
  return pending.flatMap(({ record: { tx_id, at_ms, card_id, merchant }, held }) => {
    if (held <= 0 || card_id === null || !asked.has(card_id)) return [];
    return [{ id: tx_id, at: at_ms, date: clock.at(at_ms).date, card_id, cents: held, payee: merchant ?? '' }];
  });
}

/** Goes back from what the account has at the newest cut, and forth again through the lines of the period. */
function balanced(
  drafts: readonly Draft[],
  { closingNow, knownSince }: { readonly closingNow: number; readonly knownSince: number | undefined },
  { period, clock }: StatementInput,
) {
  let [opening, closing, atBegin] = [closingNow, closingNow, closingNow];
  for (const { at, cents } of drafts) {
    if (at >= period.to) closing -= cents;
    if (at >= period.from) opening -= cents;
    if (knownSince !== undefined && at > knownSince) atBegin -= cents;
  }
  const uncertain = uncertainBalances(drafts);
  let balance = opening;
  const lines: Line[] = [];
  for (const [index, draft] of drafts.entries()) {
    const isKnown = !uncertain(index) && (knownSince === undefined || draft.at >= knownSince);
    if (draft.at < period.from || draft.at >= period.to) continue;
    balance += draft.cents;
    const { date, time } = clock.at(draft.at);
    const { id, at, type, cents, payee, memo, card_id, mcc, country, authorization_id, counter, source } = draft;
    const { anyTime, unproved } = draft;
    // Named one by one: to spread a draft takes four times as long, and there is one for each line.
    lines.push({
      id,
      at,
      date,
      time,
      type,
      cents,
      balance: isKnown ? balance : null,
      payee,
      memo,
      card_id,
      mcc,
      country,
      authorization_id,
      counter,
      source,
      ...(anyTime && { since_date: clock.at(anyTime.after).date }),
      ...(unproved && { unproved }),
    });
  }
  if (balance !== closing || !Number.isSafeInteger(balance)) {
    throw new CliError('internal', { message: `a statement closes at ${balance} and should at ${closing} cents` });
  }
  return { opening, lines, closing, ...(knownSince !== undefined && { knownSince, atBegin }) };
}

/**
 * Tells of a draft, asked for in ascending order, whether the balance after it is not known: a derived line stands at the
 * later of two readings, and its money may have moved before any line between them.
 */
function uncertainBalances(drafts: readonly Draft[]): (index: number) => boolean {
  const changes = new Map<number, number>();
  const change = (index: number, by: number) => changes.set(index, (changes.get(index) ?? 0) + by);
  for (const [index, { at, anyTime }] of drafts.entries()) {
    if (anyTime === undefined) continue;
    const begin = firstFrom(drafts, anyTime.after + 1);
    const end = anyTime.until > at ? firstFrom(drafts, anyTime.until) : index;
    if (begin >= end) continue;
    change(begin, 1);
    change(end, -1);
  }
  let open = 0;
  return index => {
    open += changes.get(index) ?? 0;
    return open > 0;
  };
}

/** Index of the first one at or after that instant (ms UTC); they are sorted. */
function firstFrom(drafts: readonly Draft[], from: number): number {
  let [low, high] = [0, drafts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((drafts[middle]?.at ?? from) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Before the first cut nothing was observed, so nothing says that it came earlier. An own end has a time of its own. */
function straddling(
  { anyTime, since = 0, ...draft }: Draft,
  { kind, period, clock }: Pick<StatementInput, 'period' | 'clock'> & Pick<StatementAccount, 'kind'>,
): readonly StraddlingLine[] {
  if (since <= 0 || anyTime === undefined) return [];
  const may = mayBelong({ at: draft.at, since, until: anyTime.until }, period);
  if (may === undefined) return [];
  const days = { since_date: clock.at(since).date, until_date: clock.at(anyTime.until).date };
  return [{ ...draft, kind, ...clock.at(draft.at), ...days, may }];
}

function mayBelong(
  { at, since, until }: Readonly<Record<'at' | 'since' | 'until', number>>,
  { from, to }: Period,
): StraddlingLine['may'] | undefined {
  if (at >= to) return since < to ? 'belong to' : undefined;
  if (at < from) return until >= from ? 'belong to' : undefined;
  if (since < from) return 'be older than';
  return until >= to ? 'be later than' : undefined;
}
