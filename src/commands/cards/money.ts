/** Money onto a card and back to the wallet. */

import type { Context, Shown } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { type Cents, dollars } from '../../core/money.ts';
import { lineBlock } from '../../terminal/view.ts';
import { card, money } from './cards.ts';
import { doneText, NAME_FLAGS, nameOf, withIntent } from './create.ts';
import { unread } from './state.ts';

type Transfer = Parameters<typeof nameOf>[0] & { readonly card: string; readonly amount: Cents };

async function transfer(
  ctx: Context,
  operation: 'cards.fund' | 'cards.withdraw',
  { card, amount, ...named }: Transfer,
  intent: string,
) {
  const made = await ctx.api.write(operation, { card_id: card, amount }, { ...nameOf(named), intent });
  const now = ctx.ui.forPeople ? await ctx.api.read('cards.get', { card_id: card }).catch(unread) : undefined;
  return { moved: withIntent(made.result, made.intent), status: now?.status };
}

/** A transfer for a person: what it moved, and the state of a card that does not take purchases. */
function showTransfer(verb: string, { moved, status }: Awaited<ReturnType<typeof transfer>>): Partial<Shown> {
  const { card_id, amount, card_balance: card, wallet_balance: wallet, intent } = moved;
  const line = `${verb} ${card_id ?? 'the card'}: ${money(amount)}. The card holds ${money(card)}, the wallet ${money(wallet)}.`;
  const state = status === undefined || status === 'active' ? '' : ` The card is ${status}: it declines purchases.`;
  return { data: moved, blocks: [lineBlock(doneText(intent, line + state))] };
}

const COLUMNS = ['card_id amount:2 card_balance wallet_balance', { card_id: 'CARD ID' }] as const;

export const fundCard = command({
  path: 'cards fund',
  summary: 'Move money from the wallet to a card',
  about:
    '--where chooses every card that meets the conditions, as cards list does, and --to is the balance that each card is filled up to. A card that changed in the meantime is not filled above it. The cards are shown and confirmed first. Running the same command again moves nothing twice.',
  operation: 'cards.fund',
  bulk: {},
  args: { card },
  flags: { amount: 'body.amount', ...NAME_FLAGS },
  examples: {
    'Top up a card by $25': 'cards fund card_1 --amount 25',
    'See the request first': 'cards fund card_1 --amount 25 --dry-run',
    'Bring every card below $30 to $50': "cards fund --to 50 --where 'balance<30' --yes",
  },
  run: (ctx, input) =>
    transfer(ctx, 'cards.fund', input, `Move ${dollars(input.amount)} from the wallet to ${input.card}`),
  noun: 'funding',
  idField: 'card_id',
  columns: COLUMNS,
  show: done => showTransfer('Funded', done),
});

export const withdrawCard = command({
  path: 'cards withdraw',
  summary: 'Move money from a card back to the wallet',
  about: [
    'When the balance falls below the auto-freeze amount of the card, the card freezes.',
    '--where and --idle choose cards, and --to is the balance that each card is brought down to.',
  ],
  operation: 'cards.withdraw',
  bulk: {},
  args: { card },
  flags: { amount: 'body.amount', intent: NAME_FLAGS.intent, idempotencyKey: NAME_FLAGS.idempotencyKey },
  examples: {
    'Take $5 back': 'cards withdraw card_1 --amount 5',
    'See the request first': 'cards withdraw card_1 --amount 5 --dry-run',
    'Leave $10 on every card that holds more': "cards withdraw --to 10 --where 'balance>10' --yes",
  },
  run: (ctx, input) =>
    transfer(ctx, 'cards.withdraw', input, `Move ${dollars(input.amount)} from ${input.card} back to the wallet`),
  noun: 'withdrawal',
  idField: 'card_id',
  columns: COLUMNS,
  show: done => showTransfer('Withdrew from', done),
});
