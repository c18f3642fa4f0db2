import { ATTENTION_KINDS, attentionOf, countCards, type LeftRows, openHolds } from '../../books/insight.ts';
import { dayText, Spending } from '../../books/spending.ts';
import type { Context } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import { COPY_FLAGS, openCopy } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { parseTimeWord, quote } from '../../cli/parsing/values.ts';
import type { ValueOf } from '../../contract/field.ts';
import { DAY, durationOf } from '../../core/durations.ts';
import { CliError, notSent, usage } from '../../core/errors.ts';
import { type Cents, cents, dollars, toUsd } from '../../core/money.ts';
import type { OpSummary } from '../../journal/types.ts';
import { accountRows, movesSince, newestReport, newestWallet } from '../../mirror/account-rows.ts';
import { type Block, lineBlock, pairsBlock, tableBlock } from '../../terminal/view.ts';
import { money } from '../cards/cards.ts';
import { leftOutText } from '../tx/summary.ts';

const USUAL_DAYS = 30;
const MOST_DAYS = 366;

const WALLET = {
  balance: tells.usd('Available, USD.'),
  pending_deposits: orNull(tells.usd('Not yet confirmed, USD.')),
  total_deposited: orNull(tells.usd('Deposited in all, USD.')),
  total_spent: orNull(tells.usd('Spent in all, USD.')),
  cards_active: orNull(tells.count('Active cards.')),
  cards_total_balance: orNull(tells.usd('On cards, USD.')),
} as const;

const ATTENTION = {
  kind: tells.word('What it is.', ATTENTION_KINDS),
  severity: tells.word('error makes --check fail.', ['error', 'warning']),
  subject: tells.text('What it is about.'),
  card_id: orNull(tells.text('The card.')),
  op: orNull(tells.text('The operation.')),
  text: tells.text('In words.'),
  next: tells.text('The next command.'),
} as const;

const OVERVIEW = {
  as_of: tells.time('The copy is of this instant of the service.'),
  wallet: tells.object(WALLET, 'The wallet.'),
  held: orNull(tells.usd('Held by open authorizations, USD; null where the wallet does not tell every number.')),
  cards: tells.object(
    {
      active: tells.count('Active ones.'),
      frozen: tells.count('Frozen ones.'),
      terminated: tells.count('Terminated ones.'),
      other: tells.count('In a state that the interface does not name.'),
      idle: tells.count('Without an authorization or settlement for 30 days.'),
      near_limit: tells.count('That used about 80 % of the monthly limit.'),
      expiring: tells.count('That expire within 30 days.'),
    },
    'Cards.',
  ),
  ops: tells.object(
    {
      unknown: tells.count('Operations of this machine with rows of unknown outcome.'),
      open: tells.count('Operations with rows that were not sent.'),
    },
    'The journal.',
  ),
  spent: tells.object(
    {
      days: tells.count('Days that are added up, today with them.'),
      total: tells.usd('Settled less refunded, USD.'),
      before: tells.usd('The same in as many days before, USD.'),
      change: orNull(tells.number('Share by which it grew; null where nothing was spent before.')),
      buckets: tells.rows(
        { start: tells.text('The day.'), spent: tells.usd('Spent on it, USD.') },
        'Day by day, oldest first.',
      ),
    },
    'Spending.',
  ),
  growing: tells.rows(
    {
      merchant: tells.text('The merchant.'),
      spent: tells.usd('Spent there, USD.'),
      before: tells.usd('In as many days before, USD.'),
      factor: orNull(tells.number('spent / before; null for a new one.')),
    },
    'Merchants with at least 50.00 USD and twice the span before.',
  ),
  attention: tells.rows(ATTENTION, 'What needs attention, the most pressing kind first.'),
} as const;

export const showOverview = command({
  path: 'overview',
  summary: 'Show the account on one page: money, cards, spending, what needs attention',
  answers: { one: OVERVIEW },
  about: [
    'Read from the mirror, which is brought up to date first when it is older than --max-age. Nothing is changed.',
    'Spent is what was settled less what was refunded, by days of your time zone. Growing: merchants with at least $50.00 and twice the span before. The use of a limit is about: partial reversals leave no record.',
    '--check exits 15 when a row of an operation is unknown, a run of money stopped before all of it was sent, or the last reconciliation left money unexplained.',
  ],
  reach: 'service',
  ends: {
    check_failed: 'With --check: something other than a warning needs attention. The page is printed.',
    unreachable: 'With --offline there is no copy, or the service cannot be asked.',
  },
  flags: {
    since: option(
      takes.text(`From when spending is added up, at most ${MOST_DAYS} days; ${USUAL_DAYS}d when left out.`),
      '<time>',
    ),
    check: option(takes.flag('Exit 15 when something marked x needs attention.')),
    ...COPY_FLAGS,
  },
  examples: {
    'The page': 'overview',
    'A week': 'overview --since 7d',
    'In a script, each morning': 'overview --check --json',
  },
  async run(ctx, { since, check = false, ...asked }) {
    const days = since === undefined ? USUAL_DAYS : daysSince(since, ctx.api.serviceNow());
    const [opened, found] = await Promise.all([openCopy(ctx, asked), opsOf(ctx)]);
    using copy = opened;
    const { db, as_of } = copy;
    const { profile, mode } = await ctx.api.identity();
    const now = Date.parse(as_of);
    const spending = new Spending(now, days);
    const { cards, known, leftOut } = accountRows(db, now, spending);
    if (leftOut > 0) ctx.ui.notice(leftOutText(leftOut));
    const wallet = newestWallet(db);
    if (wallet === undefined) throw notSent('unreachable', 'the mirror holds no wallet yet', 'cardwright books sync');
    const ops = found.filter(op => op.profile === profile);
    const unknown = ops.filter(({ state }) => state === 'unknown');
    const open = ops.filter(({ state, counts }) => state === 'open' && counts.open > 0);
    const attention = attentionOf({
      unknown: unknown.map(op => leftRows(op, op.counts.unknown)),
      open: open.filter(op => op.cents > 0).map(op => leftRows(op, op.counts.open)),
      held: ops.filter(({ state }) => state === 'pending').map(op => leftRows(op, op.counts.open)),
      report: newestReport(db),
      wallet: cents(wallet.balance_cents),
      moves: movesSince(db, now - 30 * DAY),
      cards,
      known,
    });
    const pressing = attention.filter(({ severity }) => severity === 'error');
    const failure = new CliError('check_failed', {
      message: pressing.map(({ subject, text }) => `${subject}: ${text}`).join('; '),
      ...(pressing[0] !== undefined && { hint: pressing[0].next }),
    });
    const data = {
      as_of,
      wallet: {
        balance: toUsd(cents(wallet.balance_cents)),
        pending_deposits: usd(wallet.pending_deposits_cents),
        total_deposited: usd(wallet.total_deposited_cents),
        total_spent: usd(wallet.total_spent_cents),
        cards_active: wallet.cards_active,
        cards_total_balance: usd(wallet.cards_total_balance_cents),
      },
      held: usd(openHolds(wallet)),
      cards: countCards(cards, known),
      ops: { unknown: unknown.length, open: open.length },
      spent: {
        days: spending.days,
        total: toUsd(spending.total),
        before: toUsd(spending.before),
        change: spending.change,
        buckets: spending.buckets.map(({ start, spent }) => ({ start: dayText(start), spent: toUsd(spent) })),
      },
      growing: spending.growing.map(each => ({ ...each, spent: toUsd(each.spent), before: toUsd(each.before) })),
      attention,
    };
    return {
      data,
      blocks: blocksOf(data, spending, `${profile}  ${mode.toUpperCase()}`),
      ...(check && pressing.length > 0 && { failure }),
    };
  },
  columns: [
    'as_of wallet.balance wallet.cards_total_balance held wallet.pending_deposits cards.active cards.frozen cards.terminated ops.unknown spent.days spent.total',
    {
      'wallet.balance': 'WALLET',
      'wallet.cards_total_balance': 'ON CARDS',
      'wallet.pending_deposits': 'PENDING',
      'spent.total': 'SPENT',
    },
  ],
  noun: 'finding',
  idField: 'as_of',
  show: page => page,
});

/** Operations of the journal; none, which is told, where a shared one is away. */
async function opsOf(ctx: Context): Promise<readonly OpSummary[]> {
  try {
    return await (await ctx.journal.open()).list();
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind !== 'guarded') throw thrown;
    ctx.ui.notice(`warning: ops are not shown: ${thrown.message}`);
    return [];
  }
}

/** Days that are added up, today with them. Throws `usage`. */
function daysSince(typed: string, now: number): number {
  const span = durationOf(typed);
  const first = parseTimeWord(typed, now);
  const midnight = (time: number | string) => new Date(time).setHours(0, 0, 0, 0);
  const since = first === undefined ? 0 : Math.round((midnight(now) - midnight(first)) / DAY) + 1;
  const days = span === undefined ? since : Math.ceil(span / DAY);
  if (days >= 1 && days <= MOST_DAYS) return days;
  throw usage(`--since ${quote(typed)} is no time such as 7d or 2026-11-01 within the last ${MOST_DAYS} days`);
}

function leftRows({ op, last_at, cents }: OpSummary, rows: number): LeftRows {
  return { op, rows, cents, since: Date.parse(last_at) };
}

/** Things that ask for a look, shown on a screen; the JSON has all. */
const SHOWN_ATTENTION = 8;
const SHOWN_GROWING = 3;

const usd = (amount: Cents | null) => (amount === null ? null : toUsd(amount));

function blocksOf(
  { as_of, wallet, held, cards, growing, attention }: ValueOf<typeof OVERVIEW>,
  spending: Spending,
  title: string,
): readonly Block[] {
  const grown = growing
    .slice(0, SHOWN_GROWING)
    .map(({ merchant, spent, factor }) => `${merchant} ${money(spent)}, ${factor === null ? 'new' : `x${factor}`}`);
  const shown = attention.slice(0, SHOWN_ATTENTION);
  const left = attention.length - shown.length;
  const amounts = [
    ['', wallet.balance],
    ['on cards ', wallet.cards_total_balance],
    ['held ', held],
    ['pending deposits ', wallet.pending_deposits],
  ] as const;
  const counted = Object.entries(cards).filter(([state, count]) => count > 0 || state === 'active');
  return [
    lineBlock(`${title}  as of ${as_of}`),
    pairsBlock([
      ['WALLET', amounts.map(([name, amount]) => `${name}${money(amount)}`).join('    ')],
      ['CARDS', counted.map(([state, count]) => `${count} ${state.replace('_', ' ')}`).join('   ')],
      ['SPENT', { points: spending.buckets, each: 'day', text: spentText(spending) }],
      ...(grown.length === 0 ? [] : [['GROWING', grown.join('    ')] as const]),
    ]),
    tableBlock(
      columnsOf(ATTENTION, 'severity subject text next:3', {
        severity: '',
        subject: { title: 'ATTENTION', shrink: true },
        text: { title: '', shrink: 'wraps' },
      }),
      shown.map(each => ({ ...each, severity: each.severity === 'error' ? 'x' : '!' })),
    ),
    ...(left > 0 ? [lineBlock(`and ${left} more: --json lists all`)] : []),
  ];
}

function spentText({ total, days, change }: Spending): string {
  const span = `${dollars(total)} in ${days} ${days === 1 ? 'day' : 'days'}`;
  if (change === null) return span;
  const percent = Math.round(Math.abs(change) * 100);
  return `${span}, ${change < 0 ? '-' : '+'}${percent} % on the ${days} before`;
}
