import { command } from '../../../cli/parsing/command.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** A merchant posts without asking. */
export const simulateForcePost = command({
  path: 'sandbox simulate force-post',
  summary: 'Simulate a settlement without an authorization',
  about: [
    'It is never declined. The balance can fall below 0; on a terminated card the amount is taken from the wallet.',
  ],
  operation: 'simulate.force-post',
  flags: {
    card: 'body.card_id',
    amount: 'body.amount',
    merchant: 'body.merchant',
    mcc: 'body.mcc',
    country: 'body.country',
  },
  examples: [
    { does: 'A toll road', run: 'sandbox simulate force-post --card card_1 --amount 12 --mcc 4784' },
    {
      does: 'More than the card holds',
      run: 'sandbox simulate force-post --card card_1 --amount 200 --merchant "Toll road"',
    },
  ],
  run: (ctx, { card, ...purchase }) => runAdmin(ctx, 'simulate.force-post', { card_id: card, ...purchase }),
  show: showSimulated,
});
