import { command } from '../../cli/parsing/command.ts';
import type { Reader } from '../../contract/service.ts';
import { dollars } from '../../core/money.ts';
import { card } from './arguments.ts';
import { balancesBefore, FUNDING_COLUMNS, movedBlocks } from './funding.ts';
import { intent, intentNamed, withIntent } from './intent-flag.ts';
import { idempotencyKey } from './key-flag.ts';

/** Moves wallet money onto a card. The row's effect puts guard, dry run and confirmation around the call. */
export const fundCard = command({
  path: 'cards fund',
  summary: 'Move money from the wallet to a card',
  about: [
    '--where chooses every card that meets the conditions, as cards list does, and --to is the balance that each card is filled up to. A card that changed in the meantime is not filled above it. The cards are shown and confirmed first. Running the same command again moves nothing twice.',
  ],
  operation: 'cards.fund',
  bulk: {},
  args: { card },
  flags: { amount: 'body.amount', intent, idempotencyKey },
  examples: [
    { does: 'Top up a card by $25', run: 'cards fund card_1 --amount 25' },
    { does: 'Look first', run: 'cards fund card_1 --amount 25 --dry-run' },
    { does: 'Bring every card below $30 to $50', run: "cards fund --to 50 --where 'balance<30' --yes" },
  ],
  run: (ctx, { card, amount, intent: name, idempotencyKey: key }) =>
    ctx.write(
      'cards.fund',
      { card_id: card, amount },
      {
        key,
        intentName: intentNamed(name),
        intent: `Move ${dollars(amount)} from the wallet to ${card}`,
        ...(ctx.forPeople && { before: (reader: Reader) => balancesBefore(reader, card) }),
      },
    ),
  show: moved => ({
    data: withIntent(moved.result, moved.intent),
    noun: 'funding',
    idField: 'card_id',
    columns: FUNDING_COLUMNS,
    blocks: movedBlocks('Funded', moved),
  }),
});
