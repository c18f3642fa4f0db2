/** The statement that a command line asks for, from the copy, which is brought up to date first. */
import { type Period, readPeriod, WallClock } from '../../books/period.ts';
import type { Statement, StraddlingLine } from '../../books/statement-model.ts';
import type { Context } from '../../cli/context.ts';
import { MAX_AGE, maxAge, OFFLINE } from '../../cli/offline.ts';
import { needs, OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { flag, must, text } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import { glob } from '../../core/glob.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { cents, dollars } from '../../core/money.ts';
import type { Copy } from '../../mirror/mirror.ts';
import { leftOutText } from '../tx/sums.ts';

export const STATEMENT_FLAGS = {
  period: needs(
    must(text({ doc: '2026-10, 2026-Q4, 2026, or days as 2026-10-01..2026-10-31.', basis: OURS })),
    '<period>',
  ),
  card: option(text({ doc: 'This card alone, without the wallet.', basis: OURS, names: 'card' })),
  label: option(
    text({ doc: 'Cards whose label is like this, as "saas*", without the wallet.', basis: OURS }),
    '<glob>',
  ),
  tz: option(text({ doc: 'Time zone of the days; UTC when left out.', basis: OURS }), '<zone>'),
  unreconciled: option(
    flag({ doc: 'Without the exact cut: by what the copy shows, with lines for what is not explained.', basis: OURS }),
  ),
  offline: OFFLINE,
  maxAge: MAX_AGE,
} as const;

export const STATEMENT_ENDS = {
  check_failed: 'No exact cut stands at or after the end of the period.',
  contract_mismatch: 'No exact cut proves the period, and records of it are in another currency than USD.',
  unreachable: 'With --offline there is no copy, or the service cannot be asked.',
  not_found: 'The mirror holds no such card.',
} as const;

export interface StatementQuery {
  readonly period: string;
  readonly card?: string | undefined;
  readonly label?: string | undefined;
  readonly tz?: string | undefined;
  readonly unreconciled?: boolean | undefined;
  readonly offline?: boolean | undefined;
  readonly maxAge?: string | undefined;
  /** With the open authorizations of the period. */
  readonly pending?: boolean | undefined;
}

/**
 * Hands the statement to `use` while the copy is open, with the instant of the copy (ISO 8601 UTC). Throws `check_failed` where no exact cut proves the end of the
 * period, and `not_found` for a card that has no copy.
 */
export async function statementFor<T>(
  ctx: Context,
  asked: StatementQuery,
  use: (statement: Statement, as_of: string) => T | Promise<T>,
): Promise<T> {
  const { period: name, card, label, tz = 'UTC', offline, maxAge: age, unreconciled, pending = false } = asked;
  if (card !== undefined && label !== undefined) throw usage('give --card or --label, not both');
  const clock = new WallClock(tz);
  const period = readPeriod(name, clock);
  const allowed = maxAge(age);
  const mirror = await ctx.mirror();
  using copy = offline ? await mirror.read() : await mirror.readFresh(allowed);
  ctx.progress.clear();
  const statement = await readStatement(ctx, copy, { period, clock, card, label, unreconciled, pending });
  for (const line of statement.straddling) ctx.notice(straddlingText(line, name));
  const { knownSince } = statement;
  if (knownSince !== undefined) {
    const begin = isoSeconds(knownSince);
    ctx.notice(
      `${name} is not reconciled: the books begin at ${begin}, the first reconcile; balances before it are not known`,
    );
  } else if (!statement.reconciled) {
    ctx.notice(`${name} is not reconciled: no exact cut proves its closing balances`);
  }
  await sayOtherCurrencies(ctx, copy, { period, isProved: statement.reconciled || knownSince !== undefined });
  return await use(statement, copy.as_of);
}

function straddlingText({ kind, card_id, cents: amount, ...line }: StraddlingLine, period: string): string {
  const whose = kind === 'wallet' ? 'wallet' : `card ${card_id}`;
  const moved = `${whose}: ${dollars(cents(amount))} moved between ${line.since_date} and ${line.until_date}`;
  return `${moved}. It is counted on ${line.date}, and may ${line.may} ${period}`;
}

/** An exact cut proves the dollars without records in another currency; where none does they may be what is missing. */
async function sayOtherCurrencies(
  ctx: Context,
  { db }: Copy,
  { period, isProved }: { readonly period: Period; readonly isProved: boolean },
): Promise<void> {
  const { leftOutOfPeriod } = await import('../../mirror/other-currencies.ts');
  const { records, currencies } = leftOutOfPeriod(db, period);
  if (records === 0) return;
  if (isProved) return ctx.notice(leftOutText(records));
  throw new CliError('contract_mismatch', {
    message: `records of ${period.name} are in ${currencies.join(', ')}, and amounts are understood in USD alone`,
    hint: 'cardwright reconcile',
    operation: 'transactions.list',
  });
}

interface Wish {
  readonly period: Period;
  readonly clock: WallClock;
  readonly card: string | undefined;
  readonly label: string | undefined;
  readonly unreconciled: boolean | undefined;
  readonly pending: boolean;
}

async function readStatement(ctx: Context, { db, as_of }: Copy, wish: Wish): Promise<Statement> {
  const { period, clock, card, label } = wish;
  const [{ pendingRows, statementRows }, { statementOf }] = await Promise.all([
    import('../../mirror/statement-rows.ts'),
    import('../../books/statement.ts'),
  ]);
  const rows = statementRows(db, period, { unreconciled: wish.unreconciled ?? false });
  if (card !== undefined && !rows.cards.some(row => row.card_id === card)) {
    throw new CliError('not_found', { message: `the mirror holds no card ${card}`, hint: 'cardwright mirror sync' });
  }
  const fits = label === undefined ? undefined : glob(label);
  if (fits !== undefined && !rows.cards.some(row => fits(row.label ?? ''))) {
    throw new CliError('not_found', {
      message: `the mirror holds no card whose label is like ${JSON.stringify(label)}; * stands for any text`,
      hint: 'cardwright cards list --offline',
    });
  }
  const only = {
    ...(card !== undefined && { only: isCard(card), isOneCard: true }),
    ...(fits && { only: isLike(fits) }),
  };
  const pending = wish.pending ? pendingRows(db, period) : [];
  // Where nothing was sent the clock of this machine is all there is, and the copy may be of a later time.
  const now = Math.max(ctx.serviceNow(), Date.parse(as_of));
  return statementOf({ ...rows, ...only, pending, period, clock, now });
}

const isCard = (card: string) => (row: { readonly card_id: string }) => row.card_id === card;
const isLike = (fits: (text: string) => boolean) => (row: { readonly label: string | null }) => fits(row.label ?? '');
