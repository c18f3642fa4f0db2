/** The numbers of an overview, and what of an account needs attention, most pressing kind first. */

import { CARD_STATUSES } from '../contract/card.ts';
import { DAY } from '../core/durations.ts';
import { type Cents, cents, dollars } from '../core/money.ts';
import type { Activities } from './activity.ts';
import { factNamed } from './facts.ts';
import type { CardRow, MoveRow, ReportRow, WalletRow } from './rows.ts';
import { dayOf, dayText } from './spending.ts';

/** In the order in which they are told. */
export const ATTENTION_KINDS = [
  'unknown_rows',
  'open_rows',
  'held_op',
  'books_unexplained',
  'books_old',
  'wallet_low',
  'overdrawn',
  'declines',
  'near_limit',
  'near_auto_freeze',
  'expires',
  'idle',
] as const;
type AttentionKind = (typeof ATTENTION_KINDS)[number];

export interface Attention {
  readonly kind: AttentionKind;
  /** `error` makes `overview --check` fail. */
  readonly severity: 'error' | 'warning';
  /** What it is about, short: an operation, `books`, `wallet`, last four digits and label of a card. */
  readonly subject: string;
  readonly card_id: string | null;
  readonly op: string | null;
  readonly text: string;
  readonly next: string;
}

/** An operation of our journal with rows whose outcome is unknown, or that stopped before all of its rows were sent. */
export interface LeftRows {
  readonly op: string;
  readonly rows: number;
  /** Of rows that were not sent: what they move, cents. */
  readonly cents?: Cents;
  /** ms UTC of its latest record. */
  readonly since: number;
}

export interface AttentionRows {
  readonly unknown: readonly LeftRows[];
  /** Runs that move money, that no process works on, and that did not send all of their rows. */
  readonly open: readonly LeftRows[];
  /** Ops that are held until other persons have approved them. */
  readonly held: readonly LeftRows[];
  /** The newest reconciliation; undefined while there was none. */
  readonly report: Pick<ReportRow, 'verdict' | 'residual_cents' | 'at_ms'> | undefined;
  readonly wallet: Cents;
  readonly moves: Iterable<MoveRow>;
  readonly cards: readonly CardRow[];
  readonly known: Activities;
}

const IDLE_DAYS = 30;
const EXPIRY_DAYS = 30;
const NEAR_LIMIT = 80_00;
const MANY_DECLINES = 5;
const WALLET_DAYS = 7;
const BOOKS_DAYS = 7;

export function attentionOf(rows: AttentionRows): readonly Attention[] {
  const { cards, known } = rows;
  return [
    ...rows.unknown.map(({ op, rows: count, since }) =>
      about('unknown_rows', { op, text: `${counted(count, 'row')} unknown since ${dayText(dayOf(since))}` }),
    ),
    ...rows.open.map(({ op, rows: count, since, cents: amount = cents(0) }) => {
      const text = `stopped on ${dayText(dayOf(since))} with ${counted(count, 'row')} not sent; ${dollars(amount)} in all`;
      return about('open_rows', { op, text });
    }),
    ...rows.held.map(({ op, since, cents: amount = cents(0) }) => {
      const text = `waits for approval since ${dayText(dayOf(since))}; ${dollars(amount)} in all`;
      return about('held_op', { op, severity: 'warning', text, next: `cardwright ops show ${op}` });
    }),
    ...books(rows),
    ...lowWallet(rows),
    ...ABOUT_CARDS.flatMap(({ kind, of, text, next }) =>
      cards.flatMap(card => {
        const value = of(card, known);
        return value === undefined ? [] : [ofCard(kind, card, text(value, card), next?.(card))];
      }),
    ),
    ...idle(cards, known),
  ];
}

/** About an operation, which makes `--check` fail, or about what else the subject says. */
function about(kind: AttentionKind, { op = null, ...told }: Pick<Attention, 'text'> & Partial<Attention>): Attention {
  const [severity, subject, next] =
    op === null ? (['warning', '', ''] as const) : (['error', op, `cardwright ops resume ${op}`] as const);
  return { kind, severity, subject, card_id: null, op, next, ...told };
}

/** A fact of a card that is neither ended nor unknown to the service, where it is worth telling; undefined otherwise. */
const worthTelling = (fact: string, isWorth: (value: number) => boolean) => (card: CardRow, known: Activities) => {
  const value = factNamed(fact)?.of(card, known);
  return isAlive(card) && typeof value === 'number' && isWorth(value) ? value : undefined;
};

/** Hundredths of a percent. */
const nearLimitUse = worthTelling('limit_use', use => use >= NEAR_LIMIT);
const daysToExpiry = worthTelling('expires_days', days => days <= EXPIRY_DAYS);
const idleDays = worthTelling('unused_days', days => days >= IDLE_DAYS);

/** Neither ended nor unknown to the service. */
function isAlive({ status, gone_at }: CardRow): boolean {
  return status !== 'terminated' && gone_at === null;
}

const moneyOf = ({ balance_cents }: CardRow) => dollars(cents(balance_cents ?? 0));

/** What is told of a card where its value is worth it. */
const ABOUT_CARDS: readonly {
  readonly kind: AttentionKind;
  readonly of: (card: CardRow, known: Activities) => number | undefined;
  readonly text: (value: number, card: CardRow) => string;
  readonly next?: (card: CardRow) => string;
}[] = [
  {
    kind: 'overdrawn',
    of: worthTelling('balance', balance => balance < 0),
    text: (_, card) => `${moneyOf(card)}: more was taken than it held`,
  },
  {
    kind: 'declines',
    of: worthTelling('declines_1d', count => count >= MANY_DECLINES),
    text: count => `${count} declines in 24 hours`,
    next: ({ card_id }) => `cardwright tx list --card ${card_id} --type decline`,
  },
  {
    kind: 'near_limit',
    of: nearLimitUse,
    text: (use, { spending_limit_cents: limit }) =>
      `about ${Math.floor(use / 100)} % of its monthly limit of ${dollars(cents(limit ?? 0))}`,
  },
  {
    kind: 'near_auto_freeze',
    // Its next purchases may freeze it. A line of zero freezes nothing.
    of: ({ status, gone_at, balance_cents: balance, auto_freeze_cents: line }) =>
      status === 'active' &&
      gone_at === null &&
      balance &&
      line &&
      line > 0 &&
      balance >= line &&
      balance * 10 <= line * 11
        ? line
        : undefined,
    text: (line, card) => `${moneyOf(card)} left, freezes below ${dollars(cents(line))}`,
  },
  {
    kind: 'expires',
    of: daysToExpiry,
    text: (days, card) => `${days < 0 ? 'expired,' : `expires in ${counted(days, 'day')}`} with ${moneyOf(card)}`,
  },
];

function ofCard(kind: AttentionKind, card: CardRow, text: string, next = `cardwright cards get ${card.card_id}`) {
  const { card_id, last4, label } = card;
  return about(kind, { subject: [last4 ?? card_id, label].filter(Boolean).join(' '), card_id, text, next });
}

function books({ report, known }: AttentionRows): Attention[] {
  if (report === undefined) return [];
  const of = { subject: 'books', next: 'cardwright books reconcile' };
  const since = dayText(dayOf(report.at_ms));
  if (report.verdict === 'unexplained') {
    const text = `${dollars(report.residual_cents)} unexplained since ${since}`;
    return [about('books_unexplained', { ...of, severity: 'error', text })];
  }
  if (known.now - report.at_ms < BOOKS_DAYS * DAY) return [];
  return [about('books_old', { ...of, text: `not reconciled since ${since}` })];
}

/** Below what goes from it to cards in seven days, by the average of the last 30. */
function lowWallet({ wallet, moves, known }: AttentionRows): Attention[] {
  const from = known.now - 30 * DAY;
  let funded = 0;
  for (const { operation, outcome, cents: amount, at_ms } of moves) {
    const funds = operation === 'cards.fund' || operation === 'cards.create';
    if (funds && outcome === 'done' && at_ms > from) funded += amount;
  }
  if (funded === 0 || wallet * 30 >= funded * WALLET_DAYS) return [];
  const week = cents(Math.round((funded * WALLET_DAYS) / 30));
  const text = `${dollars(wallet)} left; cards take about ${dollars(week)} a week`;
  return [about('wallet_low', { subject: 'wallet', text, next: 'cardwright wallet addresses' })];
}

/** More of them than these are one line. */
const MOST_IDLE_LINES = 3;

/** Cards with money a line each while they are few; those without money are one line, the last. */
function idle(cards: readonly CardRow[], known: Activities): Attention[] {
  const all = cards.filter(card => idleDays(card, known) !== undefined);
  const hasMoney = ({ balance_cents }: CardRow) => (balance_cents ?? 0) > 0;
  const [rich, empty] = [all.filter(hasMoney), all.filter(card => !hasMoney(card))];
  const lines = (of: readonly CardRow[]) =>
    of.map(card => ofCard('idle', card, `idle ${counted(idleDays(card, known) ?? 0, 'day')} with ${moneyOf(card)}`));
  const group = (of: readonly CardRow[], what: string): Attention[] => {
    const [subject, text] = [counted(of.length, 'card'), `idle ${IDLE_DAYS} days or more ${what}`];
    return of.length === 0
      ? []
      : [about('idle', { subject, text, next: `cardwright cards list --idle ${IDLE_DAYS}d` })];
  };
  if (all.length <= MOST_IDLE_LINES) return lines([...rich, ...empty]);
  const held = cents(rich.reduce((sum, card) => sum + (card.balance_cents ?? 0), 0));
  const ofRich = rich.length <= MOST_IDLE_LINES ? lines(rich) : group(rich, `with ${dollars(held)} in all`);
  return [...ofRich, ...group(empty, 'without money')];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

// The numbers of an overview

/** `other` is in a state that the interface does not name. */
export function countCards(cards: readonly CardRow[], known: Activities) {
  const count = (test: (card: CardRow) => boolean) => cards.filter(test).length;
  return {
    active: count(card => isAlive(card) && card.status === 'active'),
    frozen: count(card => isAlive(card) && card.status === 'frozen'),
    terminated: count(card => card.gone_at === null && card.status === 'terminated'),
    other: count(card => isAlive(card) && !CARD_STATUSES.some(status => status === card.status)),
    idle: count(card => idleDays(card, known) !== undefined),
    near_limit: count(card => nearLimitUse(card, known) !== undefined),
    expiring: count(card => daysToExpiry(card, known) !== undefined),
  };
}

/** What open authorizations hold, by I10; null where the wallet does not tell every number. */
export function openHolds(wallet: WalletRow): Cents | null {
  const { balance_cents, total_deposited_cents, total_spent_cents, cards_total_balance_cents } = wallet;
  if (total_deposited_cents === null || total_spent_cents === null || cards_total_balance_cents === null) return null;
  return cents(total_deposited_cents - total_spent_cents - balance_cents - cards_total_balance_cents);
}
