/** The statement that a command line asks for, from the copy, which is brought up to date first. */
import { readPeriod, WallClock } from '../../books/period.ts';
import { type Statement, type StatementAccount, standingOf } from '../../books/statement.ts';
import type { StatementInput } from '../../books/statement-lines.ts';
import type { Context } from '../../cli/context.ts';
import { MAX_AGE, maxAge, OFFLINE } from '../../cli/offline.ts';
import { needs, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { choice, flag, must, text } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import { glob } from '../../core/glob.ts';
import { leftOutText } from '../tx/sums.ts';

const PARTS = ['wallet', 'cards'] as const;

export const STATEMENT_FLAGS = {
  period: needs(
    must(text({ doc: '2026-10, last-month, 2026-Q4, 2026, or days as 2026-10-01..2026-10-31.', basis: OURS })),
    '<period>',
  ),
  card: option(text({ doc: 'This card alone, without the wallet.', basis: OURS, names: 'card' })),
  label: option(
    text({ doc: 'Cards whose label is like this, as "saas*", without the wallet.', basis: OURS }),
    '<glob>',
  ),
  only: option(choice(PARTS, { doc: 'The wallet alone, or all cards without it.', basis: OURS })),
  tz: option(text({ doc: 'Time zone of the days; UTC when left out.', basis: OURS }), '<zone>'),
  unreconciled: option(
    flag({
      doc: 'Without an exact checkpoint: by what the copy shows, with lines for what is not explained.',
      basis: OURS,
    }),
  ),
  offline: OFFLINE,
  maxAge: MAX_AGE,
} as const;

export const STATEMENT_ENDS = {
  check_failed: 'No exact checkpoint stands at or after the end of the period.',
  contract_mismatch: 'No exact checkpoint shows the period, and records of it are in another currency than USD.',
  unreachable: 'With --offline there is no copy, or the service cannot be asked.',
  not_found: 'The copy holds no such card.',
} as const;

export interface StatementQuery {
  readonly period: string;
  readonly card?: string | undefined;
  readonly label?: string | undefined;
  readonly only?: (typeof PARTS)[number] | undefined;
  readonly tz?: string | undefined;
  readonly unreconciled?: boolean | undefined;
  readonly offline?: boolean | undefined;
  readonly maxAge?: string | undefined;
  /** With the open authorizations of the period. */
  readonly pending?: boolean | undefined;
}

/**
 * Hands the statement to `use` while the copy is open, with the instant of the copy (ISO 8601 UTC). Throws `check_failed` where
 * no exact checkpoint shows the end of the period, and `not_found` for a card that has no copy.
 */
export async function statementFor<T>(
  ctx: Context,
  asked: StatementQuery,
  use: (statement: Statement, as_of: string) => T | Promise<T>,
): Promise<T> {
  const { card, label, only, tz = 'UTC', offline, pending = false } = asked;
  if ([card, label, only].filter(each => each !== undefined).length > 1)
    throw usage('give one of --card, --label and --only');
  const clock = new WallClock(tz);
  // What is wrong with it is told before anything is asked.
  readPeriod(asked.period, clock, ctx.serviceNow());
  const allowed = maxAge(asked.maxAge);
  const mirror = await ctx.mirror();
  using copy = offline ? await mirror.read() : await mirror.readFresh(allowed);
  ctx.progress.clear();
  const { db, as_of } = copy;
  // Where nothing was sent the clock of this machine is all there is, and the copy may be of a later time.
  const now = Math.max(ctx.serviceNow(), Date.parse(as_of));
  const period = readPeriod(asked.period, clock, now);
  const [{ pendingRows, statementRows }, { statementOf }, { leftOutOfPeriod }] = await Promise.all([
    import('../../mirror/statement-rows.ts'),
    import('../../books/statement.ts'),
    import('../../mirror/statement-rows.ts'),
  ]);
  const rows = statementRows(db, period, { unreconciled: asked.unreconciled ?? false });
  const statement = statementOf({
    ...rows,
    ...selected(rows.cards, asked),
    pending: pending ? pendingRows(db, period) : [],
    period,
    clock,
    now,
  });
  const isShown = statement.isShown;
  // A checkpoint shows the dollars without records in another currency; where none does they may be what is missing.
  const { records, currencies } = leftOutOfPeriod(db, period);
  if (records > 0 && !isShown) {
    throw new CliError('contract_mismatch', {
      message: `records of ${period.name} are in ${currencies.join(', ')}, and amounts are understood in USD alone`,
      hint: 'cardwright books reconcile',
      operation: 'transactions.list',
    });
  }
  if (records > 0) ctx.notice(leftOutText(records));
  return await use(statement, as_of);
}

/** Which accounts are asked for. Throws `not_found` for cards that the copy does not hold. */
function selected(
  cards: StatementInput['cards'],
  { card, label, only }: StatementQuery,
): Pick<StatementInput, 'only' | 'selection'> {
  if (only !== undefined) return { selection: only };
  if (card !== undefined) {
    if (cards.some(row => row.card_id === card)) return { selection: 'card', only: row => row.card_id === card };
    throw new CliError('not_found', { message: `the copy holds no card ${card}`, hint: 'cardwright books sync' });
  }
  if (label === undefined) return {};
  const fits = glob(label);
  if (cards.some(row => fits(row.label ?? ''))) return { selection: 'cards', only: row => fits(row.label ?? '') };
  throw new CliError('not_found', {
    message: `the copy holds no card whose label is like ${JSON.stringify(label)}; * stands for any text`,
    hint: 'cardwright cards list --offline',
  });
}

const MOST_REASONS = 10;

/** Tells a person why a statement is provisional; resolves to what it is. */
export function showStanding(
  ctx: Context,
  statement: Statement,
  accounts: Iterable<Pick<StatementAccount, 'provisional'>>,
) {
  const standing = standingOf(statement, accounts);
  const { provisional } = standing;
  for (const reason of provisional.slice(0, MOST_REASONS)) {
    ctx.notice(`${statement.period.name} is provisional: ${reason}`);
  }
  const more = provisional.length - MOST_REASONS;
  if (more > 0)
    ctx.notice(`${statement.period.name} is provisional for ${more} more reasons: books statement --json has all`);
  return standing;
}
