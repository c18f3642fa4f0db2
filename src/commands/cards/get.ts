import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Result } from '../../contract/calls.ts';
import { CARD } from '../../contract/card.ts';
import { cards } from './arguments.ts';
import { CARD_COLUMNS, cardPairs } from './columns.ts';

type Card = Result<'cards.get'>;

/** Shows cards; never a number. One that is typed is an object; several, or ids from standard input, are a list. */
export const getCard = command({
  path: 'cards get',
  summary: 'Show cards, without their numbers',
  operation: 'cards.get',
  answers: { either: [{ one: CARD }, { list: CARD }] },
  args: { cards },
  flags: { offline: OFFLINE },
  examples: [
    { does: 'In words', run: 'cards get card_1' },
    { does: 'Its balance for a script', run: 'cards get card_1 --json --fields balance' },
    { does: 'Each card of a list, read now', run: 'cards get - < ids.txt' },
  ],
  async run(ctx, { cards: ids, fromInput }): Promise<{ readonly found: readonly Card[]; readonly isList: boolean }> {
    const found: Card[] = [];
    for (const id of ids) found.push(await ctx.read('cards.get', { card_id: id }));
    return { found, isList: fromInput === true || ids.length !== 1 };
  },
  show({ found, isList }) {
    const [only] = found;
    if (!isList && only !== undefined) {
      return {
        data: only,
        noun: 'card',
        columns: CARD_COLUMNS,
        blocks: [{ kind: 'pairs', pairs: [['Id', only.id], ...cardPairs(only)] }],
      };
    }
    async function* batches() {
      yield found;
    }
    return {
      listing: { batches: batches(), page: () => ({ total: found.length }) },
      noun: 'card',
      columns: CARD_COLUMNS,
    };
  },
});
