import { command } from '../../../cli/parsing/command.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** A merchant asks for an authorization. */
export const simulateAuthorize = command({
  path: 'sandbox simulate authorize',
  summary: 'Simulate an authorization on a card',
  about: ['A declined authorization is a result, not a failure: the command ends with 0 and says why.'],
  operation: 'simulate.authorize',
  flags: {
    card: 'body.card_id',
    amount: 'body.amount',
    merchant: 'body.merchant',
    mcc: 'body.mcc',
    country: 'body.country',
    decline: 'body.force_decline',
    '3ds': 'body.three_ds',
    mismatch: 'body.mismatch',
  },
  examples: [
    { does: 'A coffee', run: 'sandbox simulate authorize --card card_1 --amount 4.50' },
    {
      does: 'One that needs a code first',
      run: 'sandbox simulate authorize --card card_1 --amount 59 --3ds challenge',
    },
  ],
  run: (ctx, { card, amount, merchant, mcc, country, decline, mismatch, '3ds': threeDs }) =>
    runAdmin(ctx, 'simulate.authorize', {
      card_id: card,
      amount,
      merchant,
      mcc,
      country,
      force_decline: decline,
      three_ds: threeDs,
      mismatch,
    }),
  show: showSimulated,
});
