import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from './run-admin.ts';

/** Prints a scenario of what was done, for `sandbox simulate run`. */
export const recordScenario = command({
  path: 'sandbox simulate record',
  summary: 'Write a scenario from what was done in the started sandbox',
  about: [
    'Each change that went through is a step, in its order: of all, or of one card. Ids that a step made stand as references to its answer; other ids stand as they are, and must be there when it is played. Reads, secrets and what was refused are left out, and of addresses all but where they lead to.',
    'Simulations and other changes through the control surface are remembered since the sandbox was started, changes of your code since the inspector was first opened (sandbox open), the newest 1,000. --after takes the number that the last recording ended with.',
  ],
  operation: 'scenarios.record',
  flags: { card: 'query.card_id', after: 'query.after' },
  examples: [
    { does: 'All of it, as a file', run: 'sandbox simulate record' },
    { does: 'The life of one card', run: 'sandbox simulate record --card card_1' },
  ],
  run: (ctx, { card, after }) =>
    runAdmin(ctx, 'scenarios.record', { card_id: card, after }, () => ctx.servers.control()),
  show: ({ text, steps }) => ({
    ...(steps === 0 && { notes: ['Nothing was done that could be a step.'] }),
    noun: 'scenario',
    idField: 'last',
    columns: [
      { field: 'steps', title: 'STEPS', kind: 'integer', priority: 1 },
      { field: 'last', title: 'LAST', kind: 'integer', priority: 1 },
      { field: 'text', title: 'TEXT', kind: 'text', priority: 2 },
    ],
    prose: text,
  }),
});
