import { command } from '../../../cli/parsing/command.ts';
import { OURS, option } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { text } from '../../../contract/field.ts';
import { maybeAuthorization } from './arguments.ts';
import { showSimulated } from './outcome.ts';
import { runAdmin } from './run-admin.ts';

/** The merchant refunds. */
export const simulateRefund = command({
  path: 'sandbox simulate refund',
  summary: 'Simulate a refund, with or without a purchase before it',
  about: ['With --card instead of an authorization the refund belongs to no purchase and can have any amount.'],
  operation: 'simulate.refund',
  args: { authorization: maybeAuthorization },
  flags: {
    amount: 'body.amount',
    card: option(text({ doc: 'Card that gets the money, without a purchase before it.', basis: OURS, names: 'card' })),
    merchant: option(text({ doc: 'Merchant name, with --card.', basis: OURS })),
  },
  examples: [
    { does: 'Two dollars of a purchase', run: 'sandbox simulate refund txn_1 --amount 2' },
    { does: 'Without a purchase', run: 'sandbox simulate refund --card card_1 --amount 5' },
  ],
  run(ctx, { authorization, amount, card, merchant }) {
    if (authorization !== undefined && card === undefined && merchant === undefined) {
      return runAdmin(ctx, 'simulate.refund', { authorization_id: authorization, amount });
    }
    if (card === undefined || authorization !== undefined) {
      throw usage('sandbox simulate refund needs an authorization or --card, not both');
    }
    if (amount === undefined) throw usage('sandbox simulate refund --card needs --amount <usd>');
    return runAdmin(ctx, 'simulate.unlinked-refund', { card_id: card, amount, merchant });
  },
  show: showSimulated,
});
