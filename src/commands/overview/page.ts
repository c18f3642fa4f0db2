/** The page of an account as a person sees it, and its JSON. */
import type { Attention } from '../../books/insight/attention.ts';
import { dayText } from '../../books/insight/calendar.ts';
import { type CardCounts, isAlarming } from '../../books/insight/overview.ts';
import type { Spending } from '../../books/insight/spending.ts';
import type { WalletRow } from '../../books/rows.ts';
import type { Shown } from '../../cli/shown.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, dollars, toUsd } from '../../core/money.ts';
import type { Block, Column } from '../../terminal/view.ts';

/** Things that ask for a look, shown on a screen; the JSON has all. */
const SHOWN_ATTENTION = 8;
const SHOWN_GROWING = 3;

/** What the copy tells about an account. */
export interface Overview {
  readonly as_of: string;
  readonly wallet: WalletRow;
  readonly held: Cents | null;
  readonly cards: CardCounts;
  readonly ops: { readonly unknown: number; readonly open: number };
  readonly spending: Spending;
  readonly attention: readonly Attention[];
}

/** What is shown of it. */
export interface Page extends Overview {
  readonly title: string;
  readonly check: boolean;
}

/** The page; with `check` it fails where something alarming needs attention. */
export function showPage(page: Page): Shown {
  const { as_of, wallet, held, cards, ops, spending, attention } = page;
  const isWrong = page.check && isAlarming(attention);
  return {
    data: {
      as_of,
      wallet: walletRow(wallet),
      held: usd(held),
      cards,
      ops,
      spent: {
        days: spending.days,
        total: toUsd(spending.total),
        before: toUsd(spending.before),
        change: spending.change,
        buckets: spending.buckets.map(({ start, spent }) => ({ start: dayText(start), spent: toUsd(spent) })),
      },
      growing: spending.growing.map(({ merchant, spent, before, factor }) => ({
        merchant,
        spent: toUsd(spent),
        before: toUsd(before),
        factor,
      })),
      attention,
    },
    noun: 'finding',
    idField: 'as_of',
    columns: COLUMNS,
    blocks: blocksOf(page),
    ...(isWrong && { failure: alarm(attention) }),
  };
}

const COLUMNS: readonly Column[] = [
  { field: 'as_of', title: 'AS OF', kind: 'time', priority: 1 },
  { field: 'wallet.balance', title: 'WALLET', kind: 'money', priority: 1 },
  { field: 'wallet.cards_total_balance', title: 'ON CARDS', kind: 'money', priority: 1 },
  { field: 'held', title: 'HELD', kind: 'money', priority: 1 },
  { field: 'wallet.pending_deposits', title: 'PENDING', kind: 'money', priority: 1 },
  { field: 'cards.active', title: 'ACTIVE', kind: 'integer', priority: 1 },
  { field: 'cards.frozen', title: 'FROZEN', kind: 'integer', priority: 1 },
  { field: 'cards.terminated', title: 'TERMINATED', kind: 'integer', priority: 1 },
  { field: 'ops.unknown', title: 'UNKNOWN', kind: 'integer', priority: 1 },
  { field: 'spent.days', title: 'DAYS', kind: 'integer', priority: 1 },
  { field: 'spent.total', title: 'SPENT', kind: 'money', priority: 1 },
];

const ATTENTION_COLUMNS: readonly Column[] = [
  { field: 'sign', title: '', kind: 'word', priority: 1 },
  { field: 'subject', title: 'ATTENTION', kind: 'text', priority: 1, shrink: true },
  { field: 'text', title: '', kind: 'text', priority: 1, shrink: 'wraps' },
  { field: 'next', title: 'NEXT', kind: 'text', priority: 3 },
];

function blocksOf({ title, as_of, wallet, held, cards, spending, attention }: Page): readonly Block[] {
  const growing = spending.growing.slice(0, SHOWN_GROWING).map(growingText);
  const shown = attention.slice(0, SHOWN_ATTENTION);
  const left = attention.length - shown.length;
  return [
    { kind: 'line', text: `${title}  as of ${as_of}` },
    {
      kind: 'pairs',
      pairs: [
        ['WALLET', walletText(wallet, held)],
        ['CARDS', cardsText(cards)],
        ['SPENT', { points: spending.buckets, each: 'day', text: spentText(spending) }],
        ...(growing.length === 0 ? [] : [['GROWING', growing.join('    ')] as const]),
      ],
    },
    {
      kind: 'table',
      columns: ATTENTION_COLUMNS,
      rows: shown.map(each => ({ ...each, sign: each.severity === 'error' ? 'x' : '!' })),
    },
    ...(left > 0 ? [{ kind: 'line', text: `and ${left} more: --json lists all` } as const] : []),
  ];
}

function walletText(wallet: WalletRow, held: Cents | null): string {
  const parts = [
    dollars(cents(wallet.balance_cents)),
    `on cards ${moneyText(wallet.cards_total_balance_cents)}`,
    `held ${moneyText(held)}`,
    `pending deposits ${moneyText(wallet.pending_deposits_cents)}`,
  ];
  return parts.join('    ');
}

function cardsText({ active, frozen, terminated, other, idle, near_limit, expiring }: CardCounts): string {
  const more = [
    ...(other > 0 ? [`${other} in another state`] : []),
    ...(idle > 0 ? [`${idle} idle`] : []),
    ...(near_limit > 0 ? [`${near_limit} near limit`] : []),
    ...(expiring > 0 ? [`${expiring} ${expiring === 1 ? 'expires' : 'expire'} soon`] : []),
  ];
  return [`${active} active`, `${frozen} frozen`, `${terminated} terminated`, ...more].join('   ');
}

function spentText({ total, days, change }: Spending): string {
  const span = `${dollars(total)} in ${days} ${days === 1 ? 'day' : 'days'}`;
  if (change === null) return span;
  const percent = Math.round(Math.abs(change) * 100);
  return `${span}, ${change < 0 ? '-' : '+'}${percent} % on the ${days} before`;
}

function growingText({ merchant, spent, factor }: Spending['growing'][number]): string {
  return `${merchant} ${dollars(spent)}, ${factor === null ? 'new' : `x${factor}`}`;
}

function walletRow(wallet: WalletRow) {
  return {
    balance: toUsd(cents(wallet.balance_cents)),
    pending_deposits: usd(wallet.pending_deposits_cents),
    total_deposited: usd(wallet.total_deposited_cents),
    total_spent: usd(wallet.total_spent_cents),
    cards_active: wallet.cards_active,
    cards_total_balance: usd(wallet.cards_total_balance_cents),
  };
}

function usd(amount: Cents | null): number | null {
  return amount === null ? null : toUsd(amount);
}

/** What the service does not tell is no 0. */
function moneyText(amount: Cents | null): string {
  return amount === null ? '-' : dollars(amount);
}

function alarm(attention: readonly Attention[]): CliError {
  const pressing = attention.filter(({ severity }) => severity === 'error');
  return new CliError('check_failed', {
    message: pressing.map(({ subject, text }) => `${subject}: ${text}`).join('; '),
    ...(pressing[0] !== undefined && { hint: pressing[0].next }),
  });
}
