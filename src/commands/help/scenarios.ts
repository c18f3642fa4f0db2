import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { STEP_OPERATIONS } from '../../contract/sandbox/step-operations.ts';
import { SCENARIO_STEPS } from '../../core/input-limits.ts';
import { EXAMPLES, PURCHASE } from '../../scenario/examples.ts';
import { showTopic } from './topic.ts';

const WORDS = [
  { word: 'scenario', means: 'Title of the scenario, at the top of the file, beside about and steps.' },
  {
    word: 'steps',
    means: `A list of at most ${SCENARIO_STEPS.toLocaleString('en-US')}, executed in order. A step is one operation with its fields as a map, or without fields.`,
  },
  { word: 'as', means: 'Saves the answer of the step under a name, for later steps.' },
  {
    word: '$name.field',
    means: 'A value of a saved answer, in place of any value: $card.id, $bins.data.0.id. $$ is a plain $.',
  },
  {
    word: 'expect',
    means: 'What the answer must contain. Only the named members are compared, at any depth; lists entry by entry.',
  },
  { word: 'fails', means: 'The error that the step must be refused with, such as insufficient_funds.' },
  { word: 'note', means: 'A comment.' },
] as const;

/** How a scenario file is written. */
export const helpScenarios = command({
  path: 'help scenarios',
  summary: 'The format of scenario files',
  answers: { list: { word: tells.text('Word of the file.'), means: tells.text('What it means.') } },
  examples: [
    { does: 'As a page', run: 'help scenarios' },
    { does: 'As data', run: 'help scenarios --json' },
  ],
  run: async () => WORDS,
  show: rows => {
    const operations = [...STEP_OPERATIONS.keys()].join(', ');
    const page = showTopic({
      noun: 'word',
      fields: ['word', 'means'],
      rows,
      before: [
        'A scenario is a YAML file with steps for the sandbox and their expected results. cardwright sandbox simulate run <file> first checks the whole file (an error is exit 2, with line and column) and then runs it. The first step with another result than expected is exit 15.',
      ],
      list: rows.map(({ word, means }) => [word, means]),
      after: [`Operations, with the fields of their commands: ${operations}.`],
    });
    return { ...page, prose: `${page.prose}\n${Object.keys(EXAMPLES)[0]}:\n\n${indented(PURCHASE)}` };
  },
});

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
