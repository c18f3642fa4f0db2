/** Scenarios in a sandbox that serves other programs: checked and played. */
import { must, nullable } from '../field.ts';
import { choice, integer, rows, text } from '../own-field.ts';
import { change, listOf, look, one } from './row.ts';

/** A file may be longer. */
const scenario = must(text('The scenario, in YAML.', { maxLength: 32_768 }));

const PROBLEM = {
  line: must(integer('Line of the text, from 1.')),
  column: must(integer('Column, from 1.')),
  text: must(text('What is wrong there.')),
} as const;

const PLAYED_STEP = {
  step: must(integer('Number of the step, from 1.')),
  line: must(integer('Line of the text.')),
  operation: must(text('What is done.')),
  state: must(
    choice(
      ['waiting', 'as_expected', 'failed', 'not_done'],
      'How far it is; not_done: a step before it was not as expected.',
    ),
  ),
  outcome: nullable(text('ok, or the error it was refused with, as expected; null before it is done.')),
  id: nullable(text('What was made or changed.')),
  says: nullable(text('What was found, and what was expected, of a step that was not as expected.')),
} as const;

const PLAYED = {
  id: must(text('Identifier of this run.')),
  state: must(choice(['running', 'as_expected', 'failed'], 'How far it is.')),
  steps: must(rows(PLAYED_STEP, 'All steps of it, in their order.')),
  says: nullable(text('What was not as expected, with what was expected and what was found.')),
} as const;

export const SCENARIO_OPERATIONS = {
  scenarios: look('List example scenarios', 'GET /scenarios', {
    returns: listOf({ name: must(text('File name of it.')), text: must(text('The scenario, in YAML.')) }),
  }),
  'scenarios.check': look('Check a scenario without a step of it being done', 'POST /scenarios/check', {
    body: { text: scenario },
    returns: one({
      name: nullable(text('Its title; null where it has errors.')),
      steps: must(integer('How many steps it has; 0 where it has errors.')),
      problems: must(rows(PROBLEM, 'Errors, in the order of lines.')),
    }),
  }),
  'scenarios.play': change('Play a scenario in this sandbox, one at a time', 'POST /scenarios', {
    effect: 'irreversible',
    body: { text: scenario },
    returns: one(PLAYED, 201),
  }),
  'scenarios.show': look('Show how far a scenario is that was played', 'GET /scenarios/{run_id}', {
    params: { run_id: must(text('The run.', { maxLength: 64 })) },
    returns: one(PLAYED),
  }),
} as const;
