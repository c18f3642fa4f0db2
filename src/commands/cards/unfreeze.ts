import { command } from '../../cli/parsing/command.ts';
import { cards } from './arguments.ts';
import { changeState, STATE_ANSWERS, showState } from './state.ts';

/** Let frozen cards transact again. */
export const unfreezeCards = command({
  path: 'cards unfreeze',
  summary: 'Let frozen cards transact again',
  answers: STATE_ANSWERS,
  about: [
    'Already active is success with changed: false. --where chooses the frozen cards that meet a condition, as cards list does.',
  ],
  operation: 'cards.unfreeze',
  bulk: {},
  args: { cards },
  examples: [
    { does: 'Unfreeze one card', run: 'cards unfreeze card_1' },
    { does: 'As JSON', run: 'cards unfreeze card_1 --json' },
  ],
  run: (ctx, { cards }) => changeState(ctx, 'cards.unfreeze', cards),
  show: result => showState(result, { done: 'Active again', already: 'Active already' }),
});
