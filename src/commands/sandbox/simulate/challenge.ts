import { command } from '../../../cli/parsing/command.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** A merchant opens a 3DS challenge. */
export const simulateChallenge = command({
  path: 'sandbox simulate challenge',
  summary: 'Open a 3DS challenge on a card',
  operation: 'simulate.challenge',
  flags: { card: 'body.card_id', amount: 'body.amount', merchant: 'body.merchant', then: 'body.then' },
  examples: [
    { does: 'For $59', run: 'sandbox simulate challenge --card card_1 --amount 59 --merchant "Acme Ltd"' },
    { does: 'Its id, for the next command', run: 'sandbox simulate challenge --card card_1 --amount 12.50 -q' },
  ],
  run: (ctx, { card, ...asked }) => runAdmin(ctx, 'simulate.challenge', { card_id: card, ...asked }),
  show: showSimulated,
});
