/**
 * Statements: a card is what it has available and what is held, so a pending authorization is no line. Balances go back from
 * the newest exact checkpoint, and each account is held against every checkpoint on the way: what does not fit makes it
 * provisional. Amounts are integer cents, times ms UTC.
 */

import { isoSeconds } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { cents, dollars } from '../core/money.ts';
import { addTo } from '../core/objects.ts';
import { sameCommandWith } from '../core/shell-quote.ts';
import { isPast, type Period } from './period.ts';
import { metadataValue } from './rows.ts';
import {
  byTime,
  type Checkpoint,
  type Draft,
  type Line,
  movedDrafts,
  ofRecord,
  type StatementCard,
  type StatementInput,
  walletDrafts,
} from './statement-lines.ts';

export interface StatementAccount {
  readonly kind: 'card' | 'wallet';
  readonly card_id: string | null;
  readonly last4: string | null;
  readonly label: string | null;
  /** JSON object of text; of the wallet null. */
  readonly metadata?: string | null;
  readonly opening: number;
  readonly lines: readonly Line[];
  readonly closing: number;
  /** Both as far as anybody knows them; null before the books begin. */
  readonly known: { readonly opening: number | null; readonly closing: number | null };
  /** Before this instant nobody knows what it had: the books begin there. Undefined: it is known throughout. */
  readonly knownSince?: number | undefined;
  /** What it had at `knownSince`. */
  readonly atBegin?: number | undefined;
  /** Why its balances or days may still change, a sentence each; empty where checkpoints show every one of them. */
  readonly provisional: readonly string[];
  /** Not provisional, nothing of it is pending in the period, and 35 days have passed. */
  readonly final: boolean;
}

/** Money of a card that an open authorization holds. */
export type OpenHold = ReturnType<typeof holdsOf>[number];
export type Statement = Readonly<ReturnType<typeof statementOf>>;

/** Whether a statement whose accounts were walked is provisional, and why, or final. */
export function standingOf(
  { provisional, isOver }: Pick<Statement, 'provisional' | 'isOver'>,
  accounts: Iterable<Pick<StatementAccount, 'provisional'>>,
): { readonly provisional: readonly string[]; readonly final: boolean } {
  const reasons = new Set(provisional);
  for (const account of accounts) for (const reason of account.provisional) reasons.add(reason);
  return { provisional: [...reasons], final: isOver && reasons.size === 0 };
}

/**
 * The statement of a period. Throws `check_failed` when no exact checkpoint stands at or after the end of the period; a walk
 * through its accounts throws `internal` when opening and lines do not make the closing.
 */
export function statementOf(input: StatementInput) {
  const { period, clock, only, selection = 'all', records, checkpoints, unproved } = input;
  const newest = closingCheckpoint(input);
  const isShown = newest !== unproved;
  const moved = movedDrafts(input);
  const cards = selection === 'wallet' ? [] : only === undefined ? input.cards : input.cards.filter(only);
  const hasWallet = selection === 'all' || selection === 'wallet';
  const wallet = hasWallet ? walletDrafts(input, moved, newest.checkpoint.at_ms) : [];
  const isOpen = (key: string | null) => (key === null ? records.pendingCards.size > 0 : records.pendingCards.has(key));
  const isPending = hasWallet ? isOpen(null) : cards.some(row => isOpen(row.card_id));
  const isPastPeriod = isShown && isPast(period, input.now);

  /** Lines of an account but those of its records; null is the wallet. */
  const movedOf = (key: string | null) => (key === null ? wallet : (moved.get(key) ?? []));
  const beginOf = (card: string) => knownSince(movedOf(card), period);
  // The books of every account that is not known before begin at one instant. The wallet is the other side of every card.
  const ofCards = (hasWallet ? input.cards : cards).map(row => beginOf(row.card_id)).find(at => at !== undefined);
  const begin = ofCards ?? (hasWallet ? knownSince(wallet, period) : undefined);
  // Derived lines whose two readings lie on both sides of an end of the period: their day may be another.
  const straddled = (key: string | null) => movedOf(key).flatMap(draft => straddlingText(key, draft, input));
  const ofEnds = (at: number | undefined) => [
    ...(at === undefined ? [] : [beginText(at)]),
    ...(isShown ? [] : [UNPROVED]),
  ];

  const balances = new Map(balancesIn(newest));
  const shown = new Map<string | null, Shown[]>();
  for (const each of checkpoints)
    for (const [key, amount] of balancesIn(each)) addTo(shown, key, { at: each.checkpoint.at_ms, cents: amount });

  /** An account with its lines, its balances and what makes it provisional. */
  function account(key: string | null, drafts: readonly Draft[]) {
    const closingNow = balances.get(key) ?? 0;
    const at = { closingNow, knownSince: key === null ? begin : beginOf(key), checkpoints: shown.get(key) ?? [] };
    const provisional = [...ofEnds(at.knownSince), ...straddled(key), ...missed(key, drafts, at)];
    const final = isPastPeriod && !isOpen(key) && provisional.length === 0;
    return { provisional, final, ...balanced(drafts, at, input) };
  }

  function* walk(): Generator<StatementAccount> {
    if (hasWallet) yield { kind: 'wallet', card_id: null, last4: null, label: null, ...account(null, wallet) };
    for (const [{ card_id, last4, label, metadata }, rows] of records.of(cards)) {
      const drafts = [...movedOf(card_id)];
      for (const row of rows) {
        const draft = ofRecord(row, card_id);
        if (draft.cents !== 0) drafts.push(draft);
      }
      const made = account(card_id, drafts.sort(byTime));
      // A card that was asked for has its statement, and says that nothing happened.
      const isIdle = made.lines.length === 0 && made.opening === 0 && made.closing === 0;
      if (selection === 'card' || !isIdle) yield { kind: 'card', card_id, last4, label, metadata, ...made };
    }
  }

  const accounts: Iterable<StatementAccount> = { [Symbol.iterator]: walk };
  const day = (ms: number) => clock.dateAt(ms);
  return {
    period,
    clock,
    /** First and last day of the period and the day after, on the wall of the asked zone. */
    days: { first: day(period.from), last: day(period.to - 1), next: day(period.to) },
    /** What is shown reaches to this instant: the end of the period, or what was read last where that is earlier. */
    until: Math.min(period.to, newest.checkpoint.at_ms),
    /** Cards that were asked for, also those without an account; of the wallet those that its transfers name. */
    cards: selection === 'wallet' ? input.cards : cards,
    /** The wallet, then the cards. Each walk makes them anew, so that one account at a time is in memory. */
    accounts,
    selection,
    /** Open authorizations of the period, where they were asked for. They are no lines. */
    holds: holdsOf(input, cards),
    /** Nothing is pending and 35 days have passed; `standingOf` says whether it is final. */
    isOver: isPastPeriod && !isPending,
    /** The first checkpoint, where accounts are not known before it. */
    knownSince: begin,
    /** What is known before an account is walked: every reason but those of `StatementAccount.provisional` that its lines show. */
    provisional: [...ofEnds(begin), ...[...cards.map(row => row.card_id), null].flatMap(straddled)],
  };
}

/** Of an account that its first checkpoint shows otherwise than records and own rows: when that was. */
function knownSince(drafts: readonly Draft[], { from }: Period): number | undefined {
  return drafts.find(({ since, begins = 0 }) => since === 0 && begins > from)?.begins;
}

/** The exact checkpoint that shows the closing balances, or what was seen in its place. Throws `check_failed`. */
function closingCheckpoint({ checkpoints, unproved, period, now, heldOpen = [] }: StatementInput): Checkpoint {
  const newest = checkpoints.at(-1);
  if (newest !== undefined && newest.checkpoint.at_ms >= period.to) return newest;
  if (unproved !== undefined && unproved.checkpoint.at_ms > period.from) return unproved;
  const isOver = period.to <= now;
  throw new CliError('check_failed', {
    message: isOver
      ? `no exact checkpoint stands at or after the end of ${period.name}, so nothing shows its closing balances`
      : `${period.name} has not ended, so nothing can show its closing balances yet`,
    notes: [
      ...heldOpen.map(
        why => `The last reconcile is provisional until authorizations close; reconcile again then: ${why}`,
      ),
      `--unreconciled goes on with what the copy shows, and marks what is not explained`,
    ],
    hint: isOver && heldOpen.length === 0 ? 'cardwright books reconcile' : sameCommandWith('--unreconciled'),
  });
}

/** What an account had at an instant. */
interface Shown {
  readonly at: number;
  readonly cents: number;
}

interface Balances {
  /** At the newest checkpoint. */
  readonly closingNow: number;
  readonly knownSince: number | undefined;
  /** At each exact one, oldest first. */
  readonly checkpoints: readonly Shown[];
}

/** What each account had at a checkpoint; null is the wallet. */
function balancesIn({ checkpoint, cards }: Checkpoint): readonly (readonly [string | null, number])[] {
  const ofCards = cards.map(row => [row.card_id, row.balance_cents + row.holds_cents] as const);
  return [[null, checkpoint.wallet_cents], ...ofCards];
}

/** A balance and a list are read one after the other, times are told in whole seconds, and replicas may be behind. */
const READ_WITHIN_MS = 10_000;
const MOST_SUMS = 4096;

/** Checkpoints that show something else than the lines up to them make; those read at about the same time may stand on either side. */
function missed(
  key: string | null,
  drafts: readonly Draft[],
  { closingNow, checkpoints }: Balances,
): readonly string[] {
  if (checkpoints.length === 0) return [];
  let before = drafts.reduce((sum, draft) => sum - draft.cents, closingNow);
  const found: string[] = [];
  let next = 0;
  for (const { at, cents: shown } of checkpoints) {
    for (; (drafts[next]?.at ?? Infinity) < at - READ_WITHIN_MS; next += 1) before += drafts[next]?.cents ?? 0;
    let sums = new Set([before]);
    let whole = before;
    for (let near = next; (drafts[near]?.at ?? Infinity) <= at + READ_WITHIN_MS && sums.size <= MOST_SUMS; near += 1) {
      const amount = drafts[near]?.cents ?? 0;
      if ((drafts[near]?.at ?? Infinity) <= at) whole += amount;
      sums = new Set([...sums, ...[...sums].map(sum => sum + amount)]);
    }
    if (sums.has(shown) || sums.size > MOST_SUMS) continue;
    const [made, has] = [whole, shown].map(amount => dollars(cents(amount)));
    const late = drafts.findLast(
      draft => draft.at <= at && draft.source !== 'derived' && draft.cents === whole - shown,
    );
    const why = late === undefined ? '' : `; ${late.id} may have been listed after it`;
    found.push(
      `${nameOf(key)}: its lines make ${made} at ${isoSeconds(at)}, and the checkpoint of then shows ${has}${why}`,
    );
  }
  return found;
}

const nameOf = (key: string | null) => (key === null ? 'wallet' : `card ${key}`);
const UNPROVED = 'no exact checkpoint shows its closing balances';
const beginText = (at: number) =>
  `the books begin at ${isoSeconds(at)}: what was there before is not known, and nothing is missing. Each later opening is the closing before it`;

function holdsOf({ pending = [], clock }: StatementInput, cards: readonly StatementCard[]) {
  const asked = new Set(cards.map(card => card.card_id));
  return pending.flatMap(({ tx_id, at_ms, card_id, merchant, held }) => {
    if (held <= 0 || card_id === null || !asked.has(card_id)) return [];
    return [{ id: tx_id, at: at_ms, date: clock.dateAt(at_ms), card_id, cents: held, payee: merchant ?? '' }];
  });
}

/** Goes back from what the account has at the newest checkpoint, and forth again through the lines of the period. */
function balanced(drafts: readonly Draft[], { closingNow, knownSince }: Balances, { period, clock }: StatementInput) {
  let [opening, closing, atBegin] = [closingNow, closingNow, closingNow];
  for (const { at, cents } of drafts) {
    if (at >= period.to) closing -= cents;
    if (at >= period.from) opening -= cents;
    if (knownSince !== undefined && at > knownSince) atBegin -= cents;
  }
  const uncertain = uncertainBalances(drafts);
  let balance = opening;
  // A purchase was for what its card was last given money for.
  let givenFor = '';
  const lines: Draft[] = [];
  for (const [index, draft] of drafts.entries()) {
    const isKnown = !uncertain(index) && (knownSince === undefined || draft.at >= knownSince);
    if (draft.source === 'journal' && draft.purpose !== '') givenFor = draft.purpose;
    if (draft.at < period.from || draft.at >= period.to) continue;
    balance += draft.cents;
    // To spread a draft takes four times as long, and there is one for each line.
    draft.date = clock.dateAt(draft.at);
    draft.balance = isKnown ? balance : null;
    if (draft.source === 'record') draft.purpose = givenFor;
    lines.push(draft);
  }
  if (balance !== closing || !Number.isSafeInteger(balance)) {
    throw new CliError('internal', { message: `a statement closes at ${balance} and should at ${closing} cents` });
  }
  if (knownSince === undefined) return { opening, lines, closing, known: { opening, closing } };
  const known = { opening: null, closing: knownSince < period.to ? closing : null };
  return { opening, lines, closing, known, knownSince, atBegin };
}

/**
 * Tells of a draft, asked for in ascending order, whether the balance after it is not known: a derived line stands at one of
 * two readings, and its money may have moved before or after any line between them.
 */
function uncertainBalances(drafts: readonly Draft[]): (index: number) => boolean {
  const changes = new Map<number, number>();
  const change = (index: number, by: number) => changes.set(index, (changes.get(index) ?? 0) + by);
  for (const [index, { at, anyTime }] of drafts.entries()) {
    if (anyTime === undefined) continue;
    const begin = Math.min(index, firstFrom(drafts, anyTime.after + 1));
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

/** Index of the first one at or after that instant; they are sorted. */
function firstFrom(drafts: readonly Draft[], from: number): number {
  let [low, high] = [0, drafts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((drafts[middle]?.at ?? from) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Before the first checkpoint nothing was observed, so nothing says that it came earlier. An own end has a time of its own. A
 * line of the period may be older or later; one behind it may belong to it.
 */
function straddlingText(
  key: string | null,
  { at, cents: amount, anyTime, since = 0 }: Draft,
  { period: { name, from, to }, clock }: StatementInput,
): readonly string[] {
  if (since <= 0 || anyTime === undefined) return [];
  const { after, until } = anyTime;
  const isIn = at >= from && at < to;
  if (isIn ? after >= from && until < to : at >= to ? after >= to : until < from) return [];
  const may = isIn ? (after < from ? 'be older than' : 'be later than') : 'belong to';
  const [first, last, date] = [after, until, at].map(ms => clock.dateAt(ms));
  const moved = `${dollars(cents(amount))} moved between ${first} and ${last}`;
  return [`${nameOf(key)}: ${moved}. It is counted on ${date}, and may ${may} ${name}, in this amount or another`];
}

/** `metadata.<key>` is one more. */
export const GROUPED_BY = ['card', 'label'] as const;
export type GroupedBy = (typeof GROUPED_BY)[number] | `metadata.${string}`;

const SUMS = {
  deposit: 'deposits',
  // Between wallet and cards; 0 where both sides stand in the group.
  transfer: 'transfers',
  settlement: 'settled',
  refund: 'refunded',
  fee: 'fees',
  unexplained: 'unexplained',
} as const satisfies Readonly<Record<Line['type'], string>>;

const NO_SUMS = { lines: 0, deposits: 0, transfers: 0, settled: 0, refunded: 0, fees: 0, unexplained: 0 };

/** A row of sums, signed so that opening and what stands between make the closing. A balance before the books begin is null. */
export type StatementGroup = typeof NO_SUMS & {
  /** Name of an account, a label or a value; null for cards without one. */
  readonly group: string | null;
  cards: number;
  opening: number | null;
  closing: number | null;
};

/** `nameOf` names an account. Groups stand in the order of the accounts; labels and values in the order in which they come. */
export function groupsOf(
  accounts: readonly StatementAccount[],
  by: GroupedBy,
  nameOf: (account: StatementAccount) => string,
): readonly StatementGroup[] {
  const groups = new Map<string, StatementGroup>();
  for (const account of accounts) {
    // A label can be called like the wallet.
    const isNamed = by === 'card' || account.kind === 'wallet';
    const { label, metadata } = account;
    const ofCard = by === 'label' ? label : metadataValue(metadata, by.slice('metadata.'.length));
    const value = isNamed ? nameOf(account) : ofCard || null;
    const key = `${isNamed ? 'account' : 'value'} ${value}`;
    const group = groups.get(key) ?? { group: value, cards: 0, ...NO_SUMS, opening: 0, closing: 0 };
    groups.set(key, group);
    if (account.kind === 'card') group.cards += 1;
    for (const end of ['opening', 'closing'] as const) {
      const [sum, part] = [group[end], account.known[end]];
      // A sum with a part that nobody knows is not known.
      group[end] = sum === null || part === null ? null : sum + part;
    }
    for (const { type, cents } of account.lines) {
      group[SUMS[type]] += cents;
      group.lines += 1;
    }
  }
  return [...groups.values()];
}
