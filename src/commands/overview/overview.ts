import { ATTENTION_KINDS, attentionOf, type LeftRows } from '../../books/insight/attention.ts';
import { countCards, oldestMove, openHolds } from '../../books/insight/overview.ts';
import { Spending } from '../../books/insight/spending.ts';
import { orNull, tells } from '../../cli/answer-fields.ts';
import type { Context } from '../../cli/context.ts';
import { MAX_AGE, maxAge, OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { flag, integer } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import { cents } from '../../core/money.ts';
import type { OpSummary } from '../../journal/types.ts';
import { accountRows, movesSince, newestReport, newestWallet } from '../../mirror/account-rows.ts';
import type { Copy } from '../../mirror/mirror.ts';
import { leftOutText } from '../tx/sums.ts';
import { type Overview, showPage } from './page.ts';

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

/** One page of an account: money, cards, spending, and what needs attention. */
export const showOverview = command({
  path: 'overview',
  summary: 'Show the account on one page: money, cards, spending, what needs attention',
  answers: {
    one: {
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
      attention: tells.rows(
        {
          kind: tells.word('What it is.', ATTENTION_KINDS),
          severity: tells.word('error makes --check fail.', ['error', 'warning']),
          subject: tells.text('What it is about.'),
          card_id: orNull(tells.text('The card.')),
          op: orNull(tells.text('The operation.')),
          text: tells.text('In words.'),
          next: tells.text('The next command.'),
        },
        'What needs attention, the most pressing kind first.',
      ),
    },
  },
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
    days: option(
      integer({ doc: 'Days that are added up.', basis: OURS, min: 1, max: MOST_DAYS, defaults: USUAL_DAYS }),
    ),
    check: option(flag({ doc: 'Exit 15 when something marked x needs attention.', basis: OURS })),
    offline: OFFLINE,
    maxAge: MAX_AGE,
  },
  examples: [
    { does: 'The page', run: 'overview' },
    { does: 'A week', run: 'overview --days 7' },
    { does: 'In a script, each morning', run: 'overview --check --json' },
  ],
  async run(ctx, { days = USUAL_DAYS, check = false, offline, maxAge: age }) {
    const mirror = await ctx.mirror();
    using copy = offline ? await mirror.read() : await mirror.readFresh(maxAge(age));
    ctx.progress.clear();
    const { profile, mode } = await ctx.identity();
    return { ...(await overviewOf(ctx, copy, days)), title: `${profile}  ${mode.toUpperCase()}`, check };
  },
  show: showPage,
});

async function overviewOf(ctx: Context, { db, as_of }: Copy, days: number): Promise<Overview> {
  const now = Date.parse(as_of);
  const spending = new Spending(now, days);
  const { cards, known, leftOut } = accountRows(db, now, {
    since: spending.oldestCounted,
    add: record => spending.add(record),
  });
  if (leftOut > 0) ctx.notice(leftOutText(leftOut));
  const wallet = newestWallet(db);
  if (wallet === undefined) {
    throw new CliError('unreachable', {
      message: 'the mirror holds no wallet yet',
      hint: 'cardwright books sync',
      outcome: 'not_sent',
    });
  }
  const { profile } = await ctx.identity();
  const ops = (await (await ctx.journal()).list()).filter(op => op.profile === profile);
  const unknown = ops.filter(({ state }) => state === 'unknown');
  const open = ops.filter(({ state, counts }) => state === 'open' && counts.open > 0);
  const attention = attentionOf({
    unknown: unknown.map(op => leftRows(op, op.counts.unknown)),
    open: open.filter(op => op.cents > 0).map(op => leftRows(op, op.counts.open)),
    report: newestReport(db),
    wallet: cents(wallet.balance_cents),
    moves: movesSince(db, oldestMove(now)),
    cards,
    known,
  });
  return {
    as_of,
    wallet,
    held: openHolds(wallet),
    cards: countCards(cards, known),
    ops: { unknown: unknown.length, open: open.length },
    spending,
    attention,
  };
}

function leftRows({ op, last_at, cents }: OpSummary, rows: number): LeftRows {
  return { op, rows, cents, since: Date.parse(last_at) };
}
