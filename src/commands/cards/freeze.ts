import { command } from '../../cli/parsing/command.ts';
import { FREEZING_ASKS } from '../../writes/guard.ts';
import { cards } from './arguments.ts';
import { changeState, STATE_ANSWERS, showState } from './state.ts';

/** Freeze cards: decline all new transactions. */
export const freezeCards = command({
  path: 'cards freeze',
  summary: 'Freeze cards: decline all new transactions',
  answers: STATE_ANSWERS,
  about: [
    'A frozen card keeps its balance and can be funded; new authorizations are declined. A card that is already frozen is a success with changed: false.',
    '--idle 30d chooses cards that are older than 30 days and had no transaction since, not even a decline. --where chooses cards that meet a condition, as in cards list.',
    FREEZING_ASKS,
    'A freeze of ids never asks the database of a shared journal.',
  ],
  operation: 'cards.freeze',
  bulk: {},
  args: { cards },
  examples: [
    { does: 'Freeze one card', run: 'cards freeze card_1' },
    { does: 'Two at once, a row each', run: 'cards freeze card_1 card_2' },
    { does: 'Every card without a transaction for 30 days', run: 'cards freeze --idle 30d --yes' },
  ],
  run: (ctx, named) => changeState(ctx, 'cards.freeze', named),
  show: result => showState(result, { done: 'Frozen', already: 'Frozen already' }),
});
