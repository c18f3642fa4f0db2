/** Interface 3: states and transitions, stated for cards, assumed for the rest. Rules of the sandbox cite these rows. */
import { assumed, type Basis, stated } from './basis.ts';
import type { EventName } from './events.ts';

export interface Transition {
  readonly from: readonly string[];
  readonly trigger: string;
  readonly condition?: string;
  readonly to: string;
  readonly also?: string;
  readonly emits?: EventName;
  readonly basis: Basis;
}

export const CARD_TRANSITIONS = [
  {
    from: [],
    trigger: 'cards.create',
    condition: 'valid request and enough wallet funds',
    to: 'active',
    also: 'The card is funded with the initial amount.',
    emits: 'card.created',
    basis: stated('3'),
  },
  {
    from: ['active'],
    trigger: 'cards.freeze',
    to: 'frozen',
    also: 'New authorizations decline; the balance stays.',
    emits: 'card.frozen',
    basis: stated('3', assumed('A-153', 'whether settlements still post is not shown')),
  },
  {
    from: ['frozen'],
    trigger: 'cards.unfreeze',
    to: 'active',
    also: 'Transactions resume.',
    emits: 'card.unfrozen',
    basis: stated('3'),
  },
  {
    from: ['active'],
    trigger: 'balance drops',
    condition: 'auto_freeze_at is set and the balance is below it',
    to: 'frozen',
    also: 'The purchase that crosses the line is approved.',
    emits: 'card.frozen',
    basis: stated('3', assumed('A-163', 'which decreases count is not shown')),
  },
  {
    from: ['active', 'frozen'],
    trigger: 'cards.terminate',
    to: 'terminated',
    also: 'Permanent. The remaining balance returns to the wallet at once; open holds stay and settle.',
    emits: 'card.terminated',
    basis: stated('3', assumed('A-155', 'what happens to open holds is not shown')),
  },
  {
    from: ['active', 'frozen'],
    trigger: 'cards.fund',
    condition: 'not expired',
    to: 'same',
    emits: 'card.funded',
    basis: stated('4.3', assumed('A-154', 'whether a frozen card can be funded is not shown')),
  },
  {
    from: ['terminated'],
    trigger: 'cards.terminate',
    to: 'terminated',
    also: 'Answered card_terminated; to the client it is the wanted state.',
    basis: assumed('A-158', 'a second terminate is not shown'),
  },
] as const satisfies readonly Transition[];

const lifecycle = (id: Parameters<typeof assumed>[0]) => assumed(id, 'the transaction lifecycle is not shown');

export const AUTHORIZATION_TRANSITIONS = [
  {
    from: [],
    trigger: 'authorize',
    condition: 'every check in A-48 passes',
    to: 'pending',
    emits: 'transaction.authorized',
    basis: lifecycle('A-48'),
  },
  {
    from: [],
    trigger: 'authorize',
    condition: 'a check fails',
    to: 'declined',
    emits: 'transaction.declined',
    basis: lifecycle('A-47'),
  },
  {
    from: ['pending'],
    trigger: 'settle',
    condition: 'final',
    to: 'settled',
    also: 'The rest of the hold is released.',
    emits: 'transaction.settled',
    basis: lifecycle('A-152'),
  },
  {
    from: ['pending'],
    trigger: 'settle above the hold',
    to: 'settled',
    also: 'The excess leaves the card, which may go negative.',
    emits: 'transaction.settled',
    basis: lifecycle('A-151'),
  },
  {
    from: ['pending'],
    trigger: 'reverse',
    to: 'reversed',
    also: 'No record, no event.',
    basis: lifecycle('A-46'),
  },
  {
    from: ['pending'],
    trigger: 'due: 7 days, 31 for travel',
    to: 'expired',
    also: 'The hold is released.',
    basis: lifecycle('A-159'),
  },
  {
    from: ['settled', 'reversed', 'expired'],
    trigger: 'settle',
    to: 'settled',
    also: 'Posted as a force post.',
    emits: 'transaction.settled',
    basis: lifecycle('A-160'),
  },
  {
    from: ['settled'],
    trigger: 'refund',
    condition: 'at most what settled',
    to: 'settled',
    also: 'To the wallet once the card is terminated.',
    emits: 'transaction.refunded',
    basis: lifecycle('A-156'),
  },
] as const satisfies readonly Transition[];

const challenge = assumed('A-50', 'only pending occurs in the interface');

export const CHALLENGE_TRANSITIONS = [
  {
    from: [],
    trigger: 'opened on an active card',
    to: 'pending',
    emits: '3ds.challenge',
    basis: stated('3', assumed('A-51', 'its life is not shown')),
  },
  { from: ['pending'], trigger: 'right code', to: 'approved', also: 'It leaves the list.', basis: challenge },
  {
    from: ['pending'],
    trigger: 'third wrong code',
    to: 'failed',
    basis: assumed('A-53', 'the number of attempts is not shown'),
  },
  { from: ['pending'], trigger: 'expires_at passed', to: 'expired', basis: challenge },
] as const satisfies readonly Transition[];

export const DEPOSIT_TRANSITIONS = [
  {
    from: [],
    trigger: 'detected',
    to: 'pending',
    also: 'Counted in pending_deposits.',
    emits: 'deposit.pending',
    basis: stated('6', assumed('A-66', 'the lifecycle is not shown')),
  },
  {
    from: ['pending'],
    trigger: 'confirmed',
    to: 'confirmed',
    also: 'Credited exactly once.',
    emits: 'deposit.confirmed',
    basis: stated('6', assumed('A-66', 'the lifecycle is not shown')),
  },
  {
    from: ['pending'],
    trigger: 'failed',
    to: 'failed',
    also: 'No event.',
    basis: assumed('A-66', 'the lifecycle is not shown'),
  },
] as const satisfies readonly Transition[];
