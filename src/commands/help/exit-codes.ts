import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { ERROR_KINDS } from '../../core/errors.ts';
import { showTopic } from './topic.ts';

const DONE = { exit: 0, kind: 'done', means: 'Done; also an empty list.', retryable: false };

/** The table of exit codes, from the error kinds. */
export const helpExitCodes = command({
  path: 'help exit-codes',
  summary: 'Exit codes, what each means, and what a script may do next',
  answers: {
    list: {
      exit: tells.count('Exit code.'),
      kind: tells.text('Kind of failure.'),
      means: tells.text('What it means.'),
      retryable: tells.yes('Whether a script may repeat.'),
    },
  },
  examples: [
    { does: 'As a page', run: 'help exit-codes' },
    { does: 'As data', run: 'help exit-codes --json' },
  ],
  run: async () => [
    DONE,
    ...Object.entries(ERROR_KINDS).map(([kind, { exit, means, ...more }]) => ({
      exit,
      kind,
      means,
      retryable: 'retryable' in more,
    })),
  ],
  show(rows) {
    const repeat = rows.filter(({ retryable }) => retryable).map(({ exit }) => exit);
    return showTopic({
      noun: 'exit code',
      fields: ['exit', 'kind', 'means', 'retryable'],
      rows,
      list: rows.map(({ exit, kind, means }) => [`${String(exit).padStart(3)}  ${kind}`, means]),
      after: [
        `A script may repeat the same command on ${repeat.join(' and ')}. It must never blindly repeat on ${ERROR_KINDS.outcome_unknown.exit}: the first attempt may have happened.`,
      ],
    });
  },
});
