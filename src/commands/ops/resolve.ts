import { command } from '../../cli/parsing/command.ts';
import { needs, OURS, optionalArgument } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { choice, integer, must, text } from '../../contract/field.ts';
import { op } from './arguments.ts';
import { OP_DETAIL } from './columns.ts';
import { showDetail } from './show.ts';

/** Settles rows by hand, for what only a person or the service's support can know. */
export const resolveOp = command({
  path: 'ops resolve',
  summary: 'Record the outcome of rows by hand, with a note',
  answers: { one: OP_DETAIL },
  effect: 'reversible',
  ends: { not_found: 'This machine knows no such operation.' },
  about: ['Sends nothing. The note is kept in the journal.'],
  args: {
    op,
    row: optionalArgument(
      integer({
        doc: 'Only this row. Without it: done for every unknown row, not-done for every row that is not settled.',
        basis: OURS,
        min: 1,
      }),
    ),
  },
  flags: {
    as: needs(choice(['done', 'not-done'], { doc: 'The outcome.', basis: OURS })),
    note: needs(must(text({ doc: 'How you know the outcome.', basis: OURS, maxLength: 500 })), '<text>'),
  },
  examples: [
    {
      does: 'Support has confirmed it',
      run: 'ops resolve op_00000000000000000000000001 1 --as done --note "ticket 4711"',
    },
    {
      does: 'It did not happen',
      run: 'ops resolve op_00000000000000000000000001 1 --as not-done --note "no such card"',
    },
  ],
  async run(ctx, { op, row, as, note }) {
    if (ctx.dryRun) throw usage('ops resolve sends nothing to the service; it has no dry run');
    return (await ctx.journal()).resolve({ op, row, as, note });
  },
  show: showDetail,
});
