import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { card } from './arguments.ts';
import { CARD_COLUMNS, cardPairs } from './columns.ts';

/** Shows one card; never its number. */
export const getCard = command({
  path: 'cards get',
  summary: 'Show one card, without its number',
  operation: 'cards.get',
  args: { card },
  flags: { offline: OFFLINE },
  examples: [
    { does: 'In words', run: 'cards get card_1' },
    { does: 'Its balance for a script', run: 'cards get card_1 --json --fields balance' },
  ],
  run: (ctx, { card }) => ctx.read('cards.get', { card_id: card }),
  show: found => ({
    noun: 'card',
    columns: CARD_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: [['Id', found.id], ...cardPairs(found)] }],
  }),
});
