import { orNull, tells } from '../../cli/answer-fields.ts';
import { ENVIRONMENT } from '../../cli/docs/environment.ts';
import { command } from '../../cli/parsing/command.ts';
import { EMPTY_VARIABLES } from '../../core/variables.ts';
import { showTopic } from './topic.ts';

/** The table of environment variables. */
export const helpEnvironment = command({
  path: 'help environment',
  summary: 'Environment variables and what they mean',
  answers: {
    list: {
      name: tells.text('Variable.'),
      means: tells.text('What it means.'),
      option: orNull(tells.text('Option that says the same.')),
    },
  },
  examples: [
    { does: 'As a page', run: 'help environment' },
    { does: 'As data', run: 'help environment --json' },
  ],
  run: async () => ENVIRONMENT,
  show: rows =>
    showTopic({
      noun: 'variable',
      fields: ['name', 'option', 'means'],
      rows,
      before: [
        `An option on the command line wins over its variable. ${EMPTY_VARIABLES} Any other empty variable counts as not set.`,
      ],
      list: rows.map(({ name, option, means }) => [name, option === null ? means : `${means} (${option})`]),
    }),
});
