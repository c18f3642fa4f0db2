import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { needs, option, optionalArguments, takes } from '../../cli/parsing/flag.ts';
import { must } from '../../contract/field.ts';
import { CliError, notSent, usage } from '../../core/errors.ts';
import { capital, rowCount, rowsNamed, rowWords } from '../../core/row-words.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { Closing, Resolution, Resolved } from '../../journal/types.ts';
import { declined } from '../../writes/guard.ts';
import { KEPT_OR_NOT, OP_DETAIL, op, showDetail } from './ops.ts';

export const resolveOp = command({
  path: 'ops resolve',
  summary: 'Record the outcome of rows by hand, with a note',
  answers: { one: OP_DETAIL },
  effect: 'reversible',
  effectSays: 'writes to the journal of this machine; what was recorded cannot be taken back',
  ends: {
    not_found: 'This machine knows no such operation.',
    not_confirmed:
      'Rows that a resume would send would be given up, and nobody agreed, or a row that a reading speaks for was not insisted on. Nothing was recorded.',
    guarded:
      'Another process works on it, or done was said of rows that were never sent, or not-done of a row that a reading speaks for and nobody could be asked, or the card is that of another row. Nothing was recorded.',
    outcome_unknown: KEPT_OR_NOT,
  },
  about: [
    'Changes nothing at the service. Before a row is recorded as not done the service is read, as ops resume --dry-run reads it. Where a card carries the mark of the row, or the card or the wallet has moved by its amount, now or when it was looked at before, a terminal asks again and all else ends with 14. What cannot be found out is a warning, and recorded.',
    'It prints the rows that were recorded. The note is kept in the journal. What was recorded stays: a row that was declared not done is never sent by a resume.',
    'With --card a create that is recorded as done names its card, which is looked up first where the service answers. A card with the mark of another row, of another BIN, or that another row is done with, is refused (14). The same command with the same --intent shows that card then. Recorded without it, it ends with 15.',
    'Without rows, done is recorded for every unknown row, and the rows that a resume would send stay open. Without rows, not-done is recorded for those as well: that is asked first, and needs --yes in a script.',
  ],
  args: {
    op,
    rows: optionalArguments(
      takes.integer(
        'Only these rows; 3..7 are all from 3 to 7. Without them: done for every unknown row, not-done for every row that is not settled.',
        { min: 1 },
      ),
    ),
  },
  flags: {
    as: needs(takes.choice(['done', 'not-done'], 'The outcome.')),
    card: option(
      takes.text('With done: the card that a create has made, its whole id, so that its intent finds it.', {
        names: 'card',
        maxLength: 100,
      }),
      '<card>',
    ),
    note: needs(must(takes.text('How you know the outcome.', { maxLength: 500 })), '<text>'),
  },
  examples: {
    'Support has confirmed it': 'ops resolve op_00000000000000000000000001 1 --as done --note "ticket 4711"',
    'Two rows did not happen': 'ops resolve op_00000000000000000000000001 3 7 --as not-done --note "no such cards"',
  },
  async run(ctx, { op, rows, as, note, card }) {
    if (card !== undefined && as !== 'done') throw usage('--card goes with --as done', 'cardwright ops resolve --help');
    const shownCard = card === undefined ? undefined : await readCard(ctx, card);
    const resolved = await (await ctx.journal.open()).resolve({
      ...{ op, rows, as, note, card, shownCard },
      insist: why => insisted(ctx, op, why),
      agree: async closing => (rows === undefined ? agreed(ctx, { op, note }, closing) : undefined),
    });
    for (const line of saidOf(op, as, resolved)) ctx.ui.notice(line);
    const recorded = new Set([...resolved.closed.unknown, ...resolved.closed.unsent]);
    return { ...resolved.detail, changes: resolved.detail.changes.filter(({ n }) => recorded.has(n)) };
  },
  // What follows is said with what was recorded.
  show: detail => ({ ...showDetail(detail), notes: [] }),
});

/** What is recorded stays. A service that cannot be asked is no reason to keep what a person knows. */
async function readCard(ctx: Context, card: string): Promise<Resolution['shownCard']> {
  try {
    return await ctx.api.read('cards.get', { card_id: card });
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'not_found' || thrown.kind === 'internal') throw thrown;
    ctx.ui.notice(`warning: whether there is a card ${card} could not be looked up: ${thrown.message}`);
    return undefined;
  }
}

/** That a row is not done although a reading speaks for it a person says at a terminal; `--yes` is not enough. */
async function insisted({ ui }: Context, op: string, why: string): Promise<void> {
  if (!ui.canAsk) {
    throw notSent('guarded', `${why}. Nothing was recorded`, {
      op,
      notes: ['Whoever knows better says so at a terminal, where the same command asks.'],
      hint: `cardwright ops resume ${op}`,
    });
  }
  if (!(await ui.prompts.confirm(`${why}. Record it as not done all the same?`, { flag: 'a terminal' })))
    throw declined();
}

/** Rows that were never sent are given up by whoever names no row: that is asked, unless it is all there is to mean. */
async function agreed(
  ctx: Context,
  { op, note }: { readonly op: string; readonly note: string },
  { unknown, unsent }: Closing,
): Promise<void> {
  const isMixed = unknown.length + unsent.length > 1;
  if (unsent.length === 0 || !isMixed) return;
  const intent = `Declare ${whichOf({ unknown, unsent })} of ${op} not done; no resume sends them then`;
  if (unknown.length > 0) {
    const alone = `cardwright ops resolve ${op} ${rowWords(unknown)} --as not-done --note ${shellWord(note)}`;
    ctx.ui.notice(`note: for ${rowsNamed(unknown)} alone: ${alone}`);
  }
  await ctx.ui.confirmed(intent, `${intent}. Continue?`);
}

function whichOf({ unknown, unsent }: Closing): string {
  const parts = [
    ...(unknown.length > 0 ? [`${rowCount(unknown.length)} of unknown outcome`] : []),
    ...(unsent.length > 0 ? [`${rowCount(unsent.length)} that a resume would send`] : []),
  ];
  return parts.join(' and ');
}

/** What was recorded, and what of the operation is still to be settled. */
function saidOf(op: string, as: 'done' | 'not-done', { closed, left }: Resolved): string[] {
  const lines: string[] = [];
  if (closed.unknown.length + closed.unsent.length > 0)
    lines.push(`Recorded as ${as === 'done' ? 'done' : 'not done'}: ${whichOf(closed)}.`);
  if (left.unsent.length > 0) {
    const stay = left.unsent.length === 1 ? 'stays open' : 'stay open';
    lines.push(`${capital(rowsNamed(left.unsent))} ${stay}: cardwright ops resume ${op} sends what is open.`);
  }
  if (left.unknown.length > 0) {
    const stay = left.unknown.length === 1 ? 'is still unknown' : 'are still unknown';
    lines.push(`${capital(rowsNamed(left.unknown))} ${stay}: cardwright ops show ${op}`);
  }
  if (left.unsent.length + left.unknown.length === 0) lines.push(`Nothing of ${op} is still open.`);
  return lines;
}
