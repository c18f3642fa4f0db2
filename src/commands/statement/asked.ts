/** The statement that a command line asks for, from the copy alone: nothing is sent. */
import { readPeriod, WallClock } from '../../books/period.ts';
import type { Statement } from '../../books/statement.ts';
import type { Context } from '../../cli/context.ts';
import { needs, OURS, option } from '../../cli/parsing/flag.ts';
import { must, text } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import { cents, dollars } from '../../core/money.ts';

export const STATEMENT_FLAGS = {
  period: needs(
    must(text({ doc: '2026-10, 2026-Q4, 2026, or days as 2026-10-01..2026-10-31.', basis: OURS })),
    '<period>',
  ),
  card: option(text({ doc: 'This card alone, without the wallet.', basis: OURS, names: 'card' })),
  tz: option(text({ doc: 'Time zone of the days; UTC when left out.', basis: OURS }), '<zone>'),
} as const;

interface Asked {
  readonly period: string;
  readonly card?: string | undefined;
  readonly tz?: string | undefined;
}

/** Throws `check_failed` where no exact cut proves the end of the period, and `not_found` for a card that has no copy. */
export async function askedStatement(ctx: Context, { period: name, card, tz = 'UTC' }: Asked): Promise<Statement> {
  const clock = new WallClock(tz);
  const period = readPeriod(name, clock);
  const [{ statementRows }, { statementOf }] = await Promise.all([
    import('../../mirror/statement-rows.ts'),
    import('../../books/statement.ts'),
  ]);
  using copy = await (await ctx.mirror()).read();
  const rows = statementRows(copy.db, period);
  if (card !== undefined && !rows.cards.some(row => row.card_id === card)) {
    throw new CliError('not_found', { message: `the mirror holds no card ${card}`, hint: 'cardwright mirror sync' });
  }
  const only = card === undefined ? {} : { only: (row: { readonly card_id: string }) => row.card_id === card };
  const statement = statementOf({ ...rows, ...only, period, clock, now: ctx.serviceNow() });
  for (const { date, cents: amount } of statement.straddling) {
    ctx.notice(`derived at ${date}: ${dollars(cents(amount))} came between two cuts around an end of ${name}`);
  }
  return statement;
}
