import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { SCENARIO_STEPS } from '../../core/input-limits.ts';
import { EXAMPLES, PURCHASE } from '../../scenario/examples.ts';
import { STEP_OPERATIONS } from '../../scenario/operations.ts';
import { showTopic } from './topic.ts';

const WORDS = [
  { word: 'scenario', means: 'What the story is called. At the top of the file, beside about and steps.' },
  {
    word: 'steps',
    means: `A list of at most ${SCENARIO_STEPS.toLocaleString('en-US')}, carried out in order. A step is one operation with its fields: a map, or nothing for none.`,
  },
  { word: 'as', means: 'Keeps what the step answered under a name, for the steps after it.' },
  {
    word: '$name.field',
    means: 'A value of such an answer, wherever a value may stand: $card.id, $bins.data.0.id. $$ begins a plain $.',
  },
  {
    word: 'expect',
    means: 'What must be in the answer: the members named are compared, however deep; lists entry by entry.',
  },
  { word: 'fails', means: 'The identifier of the error the step must be refused with, such as insufficient_funds.' },
  { word: 'note', means: 'Text for whoever reads the file.' },
] as const;

/** How a scenario file is written. */
export const helpScenarios = command({
  path: 'help scenarios',
  summary: 'How a scenario file for sandbox simulate run is written',
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
        'A scenario is a YAML file: what happens in the sandbox, step by step, and what must come of it. cardwright sandbox simulate run <file> checks all of it first (a fault is exit 2, with its line and column), then plays it; the first step that is not as expected is exit 15.',
      ],
      list: rows.map(({ word, means }) => [word, means]),
      after: [`Operations, with the fields their commands have: ${operations}.`],
    });
    return { ...page, prose: `${page.prose}\n${Object.keys(EXAMPLES)[0]}:\n\n${indented(PURCHASE)}` };
  },
});

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
