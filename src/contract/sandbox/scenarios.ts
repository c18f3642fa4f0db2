/** Scenarios in a sandbox that serves other programs: checked, played, and written from what was done. */
import { choice, integer, list, must, nullable, object, text, time } from '../field.ts';
import { listOf, one, operation } from '../operation.ts';
import { change, described, ours, traceless } from './basis.ts';

/** Characters of a scenario that is sent; a file may be longer. */
const LONGEST_SCENARIO = 32_768;

const SCENARIO_STATES = ['running', 'as_expected', 'failed'] as const;

/** Who asked the control surface for a change: a session of the page, or a program with the admin token. */
const ACTORS = ['page', 'program'] as const;

const scenario = must(text({ ...described('The scenario, in YAML.'), maxLength: LONGEST_SCENARIO }));

const PROBLEM = {
  line: must(integer(described('Line of the text, from 1.'))),
  column: must(integer(described('Column, from 1.'))),
  text: must(text(described('What is wrong there.'))),
} as const;

const STEP_STATES = ['waiting', 'as_expected', 'failed', 'not_done'] as const;

const PLAYED_STEP = {
  step: must(integer(described('Number of the step, from 1.'))),
  line: must(integer(described('Line of the text.'))),
  operation: must(text(described('What is done.'))),
  state: must(choice(STEP_STATES, described('How far it is; not_done: a step before it was not as expected.'))),
  outcome: nullable(text(described('ok, or the error it was refused with, as expected; null before it is done.'))),
  id: nullable(text(described('What was made or changed.'))),
  says: nullable(text(described('What was found, and what was expected, of a step that was not as expected.'))),
} as const;

const PLAYED = {
  id: must(text(described('Identifier of this run.'))),
  state: must(choice(SCENARIO_STATES, described('How far it is.'))),
  steps: must(list(object(PLAYED_STEP, described('One of them.')), described('All steps of it, in their order.'))),
  says: nullable(text(described('What was not as expected, with what was expected and what was found.'))),
} as const;

/** A change that somebody asked the control surface for. */
const ACT = {
  number: must(integer(described('Counted from 1, since the sandbox was started.'))),
  at: must(time(described('When, on the clock of the sandbox.'))),
  by: must(choice(ACTORS, described('The page, or a program.'))),
  operation: must(text(described('What was done.'))),
  about: nullable(text(described('What it was done to.'))),
} as const;

export const SCENARIO_OPERATIONS = {
  scenarios: operation({
    ...traceless,
    summary: 'List example scenarios',
    path: '/scenarios',
    returns: listOf(
      { name: must(text(described('File name of it.'))), text: must(text(described('The scenario, in YAML.'))) },
      ours,
    ),
  }),
  'scenarios.check': operation({
    ...traceless,
    summary: 'Check a scenario without a step of it being done',
    method: 'POST',
    path: '/scenarios/check',
    body: { text: scenario },
    returns: one(
      {
        name: nullable(text(described('Its title; null where it has errors.'))),
        steps: must(integer(described('How many steps it has; 0 where it has errors.'))),
        problems: must(list(object(PROBLEM, described('One of them.')), described('Errors, in the order of lines.'))),
      },
      ours,
    ),
  }),
  'scenarios.play': operation({
    ...change,
    summary: 'Play a scenario in this sandbox, one at a time',
    path: '/scenarios',
    effect: 'irreversible',
    body: { text: scenario },
    returns: one(PLAYED, ours, 201),
  }),
  'scenarios.record': operation({
    ...traceless,
    summary: 'Write a scenario from what was done',
    path: '/scenarios/recorded',
    query: {
      card_id: text({ ...described('Only what was done with this card.'), names: 'card' }),
      after: integer({ ...described('Only what was done after this number.'), min: 0 }),
    },
    returns: one(
      {
        text: must(text(described('The scenario, in YAML.'))),
        steps: must(integer(described('How many steps it has.'))),
        last: must(integer(described('Number of the last thing that was done: to record from here on.'))),
      },
      ours,
    ),
  }),
  'scenarios.show': operation({
    ...traceless,
    summary: 'Show how far a scenario is that was played',
    path: '/scenarios/{run_id}',
    params: { run_id: must(text({ ...described('The run.'), maxLength: 64 })) },
    returns: one(PLAYED, ours),
  }),
  acts: operation({
    ...traceless,
    summary: 'List the newest changes that were made through the control surface',
    path: '/acts',
    returns: listOf(ACT, ours),
  }),
} as const;
