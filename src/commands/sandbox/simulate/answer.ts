import { command } from '../../../cli/parsing/command.ts';
import { OURS, option } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { flag, text } from '../../../contract/field.ts';
import { challenge } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** The card holder types a code. */
export const simulateAnswer = command({
  path: 'sandbox simulate answer',
  summary: 'Answer a 3DS challenge as the card holder',
  operation: 'simulate.answer',
  args: { challenge },
  flags: {
    right: option(flag({ doc: 'With the right code.', basis: OURS })),
    wrong: option(flag({ doc: 'With a wrong code; the third one ends the challenge.', basis: OURS })),
    code: option(text({ doc: 'With this code, as 3ds list shows it.', basis: OURS })),
  },
  examples: [
    { does: 'Rightly', run: 'sandbox simulate answer tds_1 --right' },
    { does: 'With what was read', run: 'sandbox simulate answer tds_1 --code 614729' },
  ],
  run(ctx, { challenge, right, wrong, code }) {
    const given = [right, wrong, code].filter(value => value !== undefined);
    if (given.length !== 1) throw usage('sandbox simulate answer needs one of --right, --wrong and --code');
    const typed = code === undefined ? { answer: right ? ('right' as const) : ('wrong' as const) } : { otp: code };
    return runAdmin(ctx, 'simulate.answer', { challenge_id: challenge, ...typed });
  },
  show: showSimulated,
});
