import { command } from '../../cli/parsing/command.ts';
import type { Reader } from '../../contract/service.ts';
import { dollars } from '../../core/money.ts';
import { card } from './arguments.ts';
import { balancesBefore, FUNDING_COLUMNS, movedBlocks } from './funding.ts';
import { intent, intentNamed, withIntent } from './intent-flag.ts';
import { idempotencyKey } from './key-flag.ts';

/** Moves card money back to the wallet. */
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
  flags: { amount: 'body.amount', intent, idempotencyKey },
  examples: [
    { does: 'Take $5 back', run: 'cards withdraw card_1 --amount 5' },
    { does: 'See the request first', run: 'cards withdraw card_1 --amount 5 --dry-run' },
    { does: 'Leave $10 on every card that holds more', run: "cards withdraw --to 10 --where 'balance>10' --yes" },
  ],
  run: (ctx, { card, amount, intent: name, idempotencyKey: key }) =>
    ctx.write(
      'cards.withdraw',
      { card_id: card, amount },
      {
        key,
        intentName: intentNamed(name),
        intent: `Move ${dollars(amount)} from ${card} back to the wallet`,
        ...(ctx.forPeople && { before: (reader: Reader) => balancesBefore(reader, card) }),
      },
    ),
  show: moved => ({
    data: withIntent(moved.result, moved.intent),
    noun: 'withdrawal',
    idField: 'card_id',
    columns: FUNDING_COLUMNS,
    blocks: movedBlocks('Withdrew from', moved),
  }),
});
