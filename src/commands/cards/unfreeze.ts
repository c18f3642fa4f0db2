import { command } from '../../cli/parsing/command.ts';
import { cards } from './arguments.ts';
import { changeState, STATE_ANSWERS, showState } from './state.ts';

/** Unfreeze cards, so that they can be used again. */
export const unfreezeCards = command({
  path: 'cards unfreeze',
  summary: 'Unfreeze cards, so that they can be used again',
  answers: STATE_ANSWERS,
  about: [
    'A card that is already active is a success with changed: false. --where chooses frozen cards that meet a condition, as in cards list.',
  ],
  operation: 'cards.unfreeze',
  bulk: {},
  args: { cards },
  examples: [
    { does: 'Unfreeze one card', run: 'cards unfreeze card_1' },
    { does: 'As JSON', run: 'cards unfreeze card_1 --json' },
  ],
  run: (ctx, named) => changeState(ctx, 'cards.unfreeze', named),
  show: result => showState(result, { done: 'Active again', already: 'Active already' }),
});
