import { command } from '../../cli/parsing/command.ts';
import { cards } from './arguments.ts';
import { intent, intentNamed } from './intent-flag.ts';
import { changeState, STATE_ANSWERS, showState } from './state.ts';

/** Terminate cards for good; their balance returns to the wallet. */
export const terminateCards = command({
  path: 'cards terminate',
  summary: 'Terminate cards for good; their balance returns to the wallet',
  answers: STATE_ANSWERS,
  about: [
    'Asks for the last four digits of the card. For several cards it asks how many they are. --yes skips the question. A card that is already terminated is a success with changed: false.',
    'Outside the sandbox, for cards named as arguments, the wallet is read before and after each. If it did not grow by the balance of the card, a note says so.',
    '--where chooses cards that meet a condition, as in cards list. --idle 90d chooses cards without a transaction for 90 days.',
  ],
  operation: 'cards.terminate',
  bulk: {},
  args: { cards },
  flags: { intent },
  examples: [
    { does: 'End one card, asked for by its last four digits', run: 'cards terminate card_1' },
    { does: 'In a script', run: 'cards terminate card_1 --yes' },
    { does: 'Every card of one campaign', run: "cards terminate --where 'label~ads' --yes" },
  ],
  run: (ctx, { intent: name, ...named }) => changeState(ctx, 'cards.terminate', named, intentNamed(name)),
  show: result => showState(result, { done: 'Terminated', already: 'Terminated already' }),
});
