import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { CliError } from '../../core/errors.ts';

/** Brings outcomes that a command of this machine has seen when the database was away. */
export const pushJournal = command({
  path: 'journal push',
  summary: 'Bring to a shared journal what this machine could not write there',
  answers: {
    one: {
      brought: tells.rows(
        { op: tells.text('The operation.'), rows: tells.count('Rows whose outcome it did not know.') },
        'What was brought.',
      ),
      missing: tells.texts('Operations that were begun there and are not there any longer.'),
    },
  },
  reach: 'files',
  about: [
    'Every command that uses the shared journal does this first; this one does nothing else. An outcome that was brought is shown by ops show, and ops resume finishes its operation.',
    'Operations that are not there any longer were lost with the database, or the address is that of another one. Their files stay on this machine.',
  ],
  ends: { guarded: 'The journal cannot be reached, or refuses the role.', check_failed: 'It has lost operations.' },
  examples: [
    { does: 'After the database was away', run: 'journal push' },
    { does: 'As data', run: 'journal push --json' },
  ],
  run: async ctx => (await ctx.journal()).push(),
  show: ({ brought, missing }) => ({
    data: { brought, missing },
    noun: 'push',
    columns: [],
    quiet: brought.map(({ op }) => op),
    blocks: [
      ...brought.map(
        ({ op, rows }) => ({ kind: 'line', text: `Brought ${op}: ${rows === 1 ? '1 row' : `${rows} rows`}.` }) as const,
      ),
      ...(brought.length === 0 ? [{ kind: 'line', text: 'Nothing was left on this machine.' } as const] : []),
    ],
    ...(missing.length > 0 && { failure: lostOps(missing) }),
  }),
});

function lostOps(missing: readonly string[]): CliError {
  return new CliError('check_failed', {
    message: `the shared journal does not hold ${missing.join(', ')}, which this machine has begun there`,
    notes: ['Look at the service itself before you do any of it again, and tell an admin of the journal.'],
    hint: 'cardwright journal status',
    outcome: 'unknown',
  });
}
