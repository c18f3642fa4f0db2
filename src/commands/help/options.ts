import { orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { GLOBALS, type GlobalOption } from '../../cli/parsing/globals.ts';
import { showTopic } from './topic.ts';

/** The options every command takes. */
export const helpOptions = command({
  path: 'help options',
  summary: 'The options every command takes',
  answers: {
    list: {
      option: tells.text('Option.'),
      variable: orNull(tells.text('Variable that says the same.')),
      means: tells.text('What it means.'),
    },
  },
  examples: [
    { does: 'As a page', run: 'help options' },
    { does: 'As data', run: 'help options --json' },
  ],
  run: async () =>
    (GLOBALS as readonly GlobalOption[]).map(({ name, short, value, means, env }) => ({
      option: `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
      variable: env ?? null,
      means,
    })),
  show: rows =>
    showTopic({
      noun: 'option',
      fields: ['option', 'variable', 'means'],
      rows,
      before: ['They stand before or after the words of the command.'],
      list: rows.map(({ option, variable, means }) => [option, variable === null ? means : `${means} (${variable})`]),
    }),
});
