import { command } from '../../cli/parsing/command.ts';
import { cards } from './arguments.ts';
import { changeState, STATE_ANSWERS, showState } from './state.ts';

/** End cards for good; their balance returns to the wallet. */
export const terminateCards = command({
  path: 'cards terminate',
  summary: 'End cards for good; their balance returns to the wallet',
  answers: STATE_ANSWERS,
  about: [
    'Asks for the last four digits, for several cards for their count; --yes skips the question. Already terminated is success with changed: false.',
    '--where chooses every card that meets a condition, as cards list does, and --idle 90d those without a transaction for so long.',
  ],
  operation: 'cards.terminate',
  bulk: {},
  args: { cards },
  examples: [
    { does: 'End one card, asked for by its last four digits', run: 'cards terminate card_1' },
    { does: 'In a script', run: 'cards terminate card_1 --yes' },
    { does: 'Every card of one campaign', run: "cards terminate --where 'label~ads' --yes" },
  ],
  run: (ctx, { cards }) => changeState(ctx, 'cards.terminate', cards),
  show: result => showState(result, { done: 'Terminated', already: 'Terminated already' }),
});
