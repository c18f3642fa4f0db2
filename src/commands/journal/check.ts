import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { CliError } from '../../core/errors.ts';

/** Holds the journal against its audit lines, and the cards of the service against the journal. */
export const checkJournal = command({
  path: 'journal check',
  summary: 'Check that the journal was changed by nothing else, and knows every card of its own',
  answers: {
    one: {
      place: tells.text('The journal.'),
      account: tells.text('The account.'),
      lines: tells.count('Audit lines that were followed.'),
      flaws: tells.json('What does not fit: what, and op where it is about one.'),
      strangers: tells.json('Cards whose mark no operation knows: card_id and marker.'),
    },
  },
  reach: 'service',
  ends: { check_failed: 'Something does not fit; all of it is shown.' },
  about: [
    'Follows the chain of audit lines from its beginning, holds each operation against the line that it was begun with and the one that it ended with, and reads the list of cards.',
    'A colleague with the rights of an operator can change rows of a shared journal by SQL, as they hold the API key anyway. This finds it; it cannot keep them from it.',
  ],
  examples: [
    { does: 'After a restore, or from time to time', run: 'journal check' },
    { does: 'As data', run: 'journal check --json' },
  ],
  run: async ctx => (await ctx.journalAdmin()).check(),
  show: found => {
    const count = found.flaws.length + found.strangers.length;
    return {
      data: {
        place: found.place,
        account: found.account,
        lines: found.lines,
        flaws: found.flaws.map(each => ({ ...each })),
        strangers: found.strangers.map(each => ({ ...each })),
      },
      noun: 'journal',
      columns: [
        { field: 'account', title: 'ACCOUNT', kind: 'text', priority: 1 },
        { field: 'lines', title: 'LINES', kind: 'integer', priority: 1 },
      ],
      blocks: [
        { kind: 'line', text: `${found.lines} audit lines of ${found.account} in ${found.place}` },
        ...found.flaws.map(({ what }) => ({ kind: 'line', text: `does not fit: ${what}` }) as const),
        ...found.strangers.map(
          ({ card_id, marker }) =>
            ({ kind: 'line', text: `no operation knows ${card_id}, which carries the mark ${marker}` }) as const,
        ),
      ],
      ...(count > 0 && {
        failure: new CliError('check_failed', {
          message: `${count} ${count === 1 ? 'thing does' : 'things do'} not fit in the journal of ${found.account}`,
          hint: 'cardwright ops list',
          outcome: 'not_sent',
        }),
      }),
    };
  },
});
