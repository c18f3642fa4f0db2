import { command } from '../../../cli/parsing/command.ts';
import { argument, OURS } from '../../../cli/parsing/flag.ts';
import { text } from '../../../contract/field.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** Ids of the sandbox say what they are. */
const isChallenge = (id: string) => id.startsWith('tds_');

/** The time of an authorization or a challenge is over. */
export const simulateExpire = command({
  path: 'sandbox simulate expire',
  summary: 'Expire an authorization or a 3DS challenge now',
  about: ['Only this one expires; the clock does not move. sandbox clock advance moves the clock for all of them.'],
  operation: 'simulate.expire',
  args: { pending: argument(text({ doc: 'Authorization or challenge.', basis: OURS, names: 'pending' })) },
  examples: [
    { does: 'Give a hold back', run: 'sandbox simulate expire txn_1' },
    { does: 'Let a code run out', run: 'sandbox simulate expire tds_1' },
  ],
  run: (ctx, { pending }) =>
    isChallenge(pending)
      ? runAdmin(ctx, 'simulate.challenge-expire', { challenge_id: pending })
      : runAdmin(ctx, 'simulate.expire', { authorization_id: pending }),
  show: showSimulated,
});
