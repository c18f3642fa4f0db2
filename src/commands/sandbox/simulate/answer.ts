import { command } from '../../../cli/command.ts';
import { OURS, option } from '../../../cli/flag.ts';
import { usage } from '../../../cli/values.ts';
import { flag } from '../../../contract/field.ts';
import { challenge } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** The card holder types a code. */
export const simulateAnswer = command({
  path: 'sandbox simulate answer',
  summary: 'The card holder answers a 3DS challenge',
  operation: 'simulate.answer',
  args: { challenge },
  flags: {
    right: option(flag({ doc: 'With the right code.', basis: OURS })),
    wrong: option(flag({ doc: 'With a wrong code; the third one ends the challenge.', basis: OURS })),
  },
  examples: [{ does: 'Rightly', run: 'sandbox simulate answer tds_1 --right' }],
  run(ctx, { challenge, right, wrong }) {
    if (right === wrong) throw usage('sandbox simulate answer needs one of --right and --wrong');
    return runAdmin(ctx, 'simulate.answer', { challenge_id: challenge, answer: right ? 'right' : 'wrong' });
  },
  show: showSimulated,
});
