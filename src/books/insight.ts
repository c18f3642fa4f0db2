/** The numbers of an overview, and what of an account needs attention, most pressing kind first. */

import { CARD_STATUSES } from '../contract/card.ts';
import { DAY } from '../core/durations.ts';
import { type Cents, cents, dollars } from '../core/money.ts';
import { type FactSources, factNamed } from './facts.ts';
import type { CardRow, MoveRow, ReportRow, WalletRow } from './rows.ts';
import { dayOf, dayText } from './spending.ts';

/** In the order in which they are told. */
export const ATTENTION_KINDS = [
  'unknown_rows',
  'open_rows',
  'books_unexplained',
  'books_old',
  'wallet_low',
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
  /** The newest reconciliation; undefined while there was none. */
  readonly report: Pick<ReportRow, 'verdict' | 'residual_cents' | 'at_ms'> | undefined;
  readonly wallet: Cents;
  readonly moves: Iterable<MoveRow>;
  readonly cards: readonly CardRow[];
  readonly known: FactSources;
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
    ...rows.unknown.map(unknownRows),
    ...rows.open.map(openRows),
    ...books(rows),
    ...lowWallet(rows),
    ...cards.flatMap(card => declines(card, known)),
    ...cards.flatMap(card => nearLimit(card, known)),
    ...cards.flatMap(nearAutoFreeze),
    ...cards.flatMap(card => expiry(card, known)),
    ...idle(cards, known),
  ];
}

/** A fact of a card that is neither ended nor unknown to the service, where it is worth telling; undefined otherwise. */
const worthTelling = (fact: string, isWorth: (value: number) => boolean) => (card: CardRow, known: FactSources) => {
  const value = factNamed(fact)?.of(card, known);
  return isAlive(card) && typeof value === 'number' && isWorth(value) ? value : undefined;
};

/** Hundredths of a percent. */
const nearLimitUse = worthTelling('limit_use', use => use >= NEAR_LIMIT);
const daysToExpiry = worthTelling('expires_days', days => days <= EXPIRY_DAYS);
const idleDays = worthTelling('unused_days', days => days >= IDLE_DAYS);
const manyDeclines = worthTelling('declines_1d', count => count >= MANY_DECLINES);

/** Neither ended nor unknown to the service. */
function isAlive({ status, gone_at }: CardRow): boolean {
  return status !== 'terminated' && gone_at === null;
}

function unknownRows({ op, rows, since }: LeftRows): Attention {
  return ofRun('unknown_rows', op, `${rows} ${rows === 1 ? 'row' : 'rows'} unknown since ${dayText(dayOf(since))}`);
}

function openRows({ op, rows, since, cents: amount = cents(0) }: LeftRows): Attention {
  const left = `stopped on ${dayText(dayOf(since))} with ${rows} ${rows === 1 ? 'row' : 'rows'} not sent`;
  return ofRun('open_rows', op, `${left}; ${dollars(amount)} in all`);
}

function ofRun(kind: 'unknown_rows' | 'open_rows', op: string, text: string): Attention {
  return {
    kind,
    severity: 'error',
    subject: op,
    card_id: null,
    op,
    text,
    next: `cardwright ops resume ${op}`,
  };
}

function books({ report, known }: AttentionRows): Attention[] {
  if (report === undefined) return [];
  const of = { subject: 'books', card_id: null, op: null, next: 'cardwright books reconcile' } as const;
  const since = dayText(dayOf(report.at_ms));
  if (report.verdict === 'unexplained') {
    const text = `${dollars(report.residual_cents)} unexplained since ${since}`;
    return [{ kind: 'books_unexplained', severity: 'error', ...of, text }];
  }
  if (known.activities.now - report.at_ms < BOOKS_DAYS * DAY) return [];
  return [{ kind: 'books_old', severity: 'warning', ...of, text: `not reconciled since ${since}` }];
}

/** Below what goes from it to cards in seven days, by the average of the last 30. */
function lowWallet({ wallet, moves, known }: AttentionRows): Attention[] {
  const from = known.activities.now - 30 * DAY;
  let funded = 0;
  for (const { operation, outcome, cents: amount, at_ms } of moves) {
    const funds = operation === 'cards.fund' || operation === 'cards.create';
    if (funds && outcome === 'done' && at_ms > from) funded += amount;
  }
  if (funded === 0 || wallet * 30 >= funded * WALLET_DAYS) return [];
  const week = cents(Math.round((funded * WALLET_DAYS) / 30));
  const text = `${dollars(wallet)} left; cards take about ${dollars(week)} a week`;
  const next = 'cardwright wallet addresses';
  return [{ kind: 'wallet_low', severity: 'warning', subject: 'wallet', card_id: null, op: null, text, next }];
}

function ofCard(
  kind: AttentionKind,
  card: CardRow,
  told: { readonly text: string; readonly next?: string },
): Attention {
  const { card_id, last4, label } = card;
  const subject = [last4 ?? card_id, label ?? ''].filter(part => part !== '').join(' ');
  return { kind, severity: 'warning', subject, card_id, op: null, next: `cardwright cards get ${card_id}`, ...told };
}

function declines(card: CardRow, known: FactSources): Attention[] {
  const count = manyDeclines(card, known);
  if (count === undefined) return [];
  const next = `cardwright tx list --card ${card.card_id} --type decline`;
  return [ofCard('declines', card, { text: `${count} declines in 24 hours`, next })];
}

function nearLimit(card: CardRow, known: FactSources): Attention[] {
  const use = nearLimitUse(card, known);
  if (use === undefined) return [];
  const limit = dollars(cents(card.spending_limit_cents ?? 0));
  return [ofCard('near_limit', card, { text: `about ${Math.floor(use / 100)} % of its monthly limit of ${limit}` })];
}

/** Its next purchases may freeze it. */
function nearAutoFreeze(card: CardRow): Attention[] {
  const { status, gone_at, balance_cents: balance, auto_freeze_cents: line } = card;
  if (status !== 'active' || gone_at !== null || balance === null || line === null || line <= 0) return [];
  if (balance < line || balance * 10 > line * 11) return [];
  return [ofCard('near_auto_freeze', card, { text: `${dollars(balance)} left, freezes below ${dollars(line)}` })];
}

function expiry(card: CardRow, known: FactSources): Attention[] {
  const days = daysToExpiry(card, known);
  if (days === undefined) return [];
  const money = dollars(cents(card.balance_cents ?? 0));
  const text = days < 0 ? `expired, with ${money}` : `expires in ${countOf(days)} with ${money}`;
  return [ofCard('expires', card, { text })];
}

/** More of them than these are one line. */
const MOST_IDLE_LINES = 3;

/** Cards with money a line each while they are few; those without money are one line, the last. */
function idle(cards: readonly CardRow[], known: FactSources): Attention[] {
  const all = cards.filter(card => idleDays(card, known) !== undefined);
  const [rich, empty] = [all.filter(hasMoney), all.filter(card => !hasMoney(card))];
  if (all.length <= MOST_IDLE_LINES) return [...rich, ...empty].map(card => idleLine(card, idleDays(card, known) ?? 0));
  const held = cents(rich.reduce((sum, card) => sum + (card.balance_cents ?? 0), 0));
  return [
    ...(rich.length <= MOST_IDLE_LINES
      ? rich.map(card => idleLine(card, idleDays(card, known) ?? 0))
      : [idleGroup(rich.length, `with ${dollars(held)} in all`)]),
    ...(empty.length === 0 ? [] : [idleGroup(empty.length, 'without money')]),
  ];
}

const hasMoney = ({ balance_cents }: CardRow) => (balance_cents ?? 0) > 0;

function idleLine(card: CardRow, days: number): Attention {
  return ofCard('idle', card, { text: `idle ${countOf(days)} with ${dollars(cents(card.balance_cents ?? 0))}` });
}

function idleGroup(count: number, text: string): Attention {
  const subject = `${count} ${count === 1 ? 'card' : 'cards'}`;
  const of = { subject, card_id: null, op: null, text: `idle ${IDLE_DAYS} days or more ${text}` };
  return { kind: 'idle', severity: 'warning', ...of, next: `cardwright cards list --idle ${IDLE_DAYS}d` };
}

function countOf(days: number): string {
  return `${days} ${days === 1 ? 'day' : 'days'}`;
}

// The numbers of an overview

export type CardCounts = ReturnType<typeof countCards>;

/** `other` is in a state that the interface does not name. */
export function countCards(cards: readonly CardRow[], known: FactSources) {
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

/** The oldest own move that the attention list asks for, ms UTC. */
export function oldestMove(now: number): number {
  return now - 30 * DAY;
}

/** Whether anything makes `--check` fail. */
export function isAlarming(attention: readonly Attention[]): boolean {
  return attention.some(({ severity }) => severity === 'error');
}
