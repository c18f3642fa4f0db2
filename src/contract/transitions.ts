/** Interface 3: states and transitions, stated for cards, assumed for the rest. */
import { assumed, type Basis, stated } from './basis.ts';

/** From these states to another, by what triggers it. */
const transition = (
  from: readonly string[],
  trigger: string,
  to: string,
  basis: Basis,
  more: { readonly condition?: string; readonly also?: string } = {},
) => ({ from, trigger, to, basis, ...more });

/** By what changes its state. */
export const TRANSITIONS = {
  card: [
    transition([], 'cards.create', 'active', stated('3'), {
      condition: 'valid request and enough wallet funds',
      also: 'The card is funded with the initial amount.',
    }),
    transition(['active'], 'cards.freeze', 'frozen', stated('3', 'A-153'), {
      also: 'New authorizations decline; the balance stays.',
    }),
    transition(['frozen'], 'cards.unfreeze', 'active', stated('3'), { also: 'Transactions resume.' }),
    transition(['active'], 'balance drops', 'frozen', stated('3', 'A-163'), {
      condition: 'auto_freeze_at is set and the balance is below it',
      also: 'The purchase that crosses the line is approved.',
    }),
    transition(['active', 'frozen'], 'cards.terminate', 'terminated', stated('3', 'A-155'), {
      also: 'Permanent. The remaining balance returns to the wallet at once; open holds stay and settle.',
    }),
    transition(['active', 'frozen'], 'cards.fund', 'same', stated('4.3', 'A-154'), { condition: 'not expired' }),
    transition(['terminated'], 'cards.terminate', 'terminated', assumed('A-158'), {
      also: 'Answered card_terminated; to the client it is the wanted state.',
    }),
  ],
  authorization: [
    transition([], 'authorize', 'pending', assumed('A-48'), { condition: 'every check in A-48 passes' }),
    transition([], 'authorize', 'declined', assumed('A-47'), { condition: 'a check fails' }),
    transition(['pending'], 'settle', 'settled', assumed('A-152'), {
      condition: 'final',
      also: 'The rest of the hold is released.',
    }),
    transition(['pending'], 'settle above the hold', 'settled', assumed('A-151'), {
      also: 'The excess leaves the card, which may go negative.',
    }),
    transition(['pending'], 'reverse', 'reversed', assumed('A-46'), { also: 'No record, no event.' }),
    transition(['pending'], 'due: 7 days, 31 for travel', 'expired', assumed('A-159'), {
      also: 'The hold is released.',
    }),
    transition(['settled', 'reversed', 'expired'], 'settle', 'settled', assumed('A-160'), {
      also: 'Posted as a force post.',
    }),
    transition(['settled'], 'refund', 'settled', assumed('A-156'), {
      condition: 'at most what settled',
      also: 'To the wallet once the card is terminated.',
    }),
  ],
  challenge: [
    transition([], 'opened on an active card', 'pending', stated('3', 'A-51')),
    transition(['pending'], 'right code', 'approved', assumed('A-50'), { also: 'It leaves the list.' }),
    transition(['pending'], 'third wrong code', 'failed', assumed('A-53')),
    transition(['pending'], 'expires_at passed', 'expired', assumed('A-50')),
  ],
  deposit: [
    transition([], 'detected', 'pending', stated('6', 'A-66'), { also: 'Counted in pending_deposits.' }),
    transition(['pending'], 'confirmed', 'confirmed', stated('6', 'A-66'), { also: 'Credited exactly once.' }),
    transition(['pending'], 'failed', 'failed', assumed('A-66'), { also: 'No event.' }),
  ],
} as const;
