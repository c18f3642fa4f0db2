/**
 * What the world outside does to a sandbox: merchants, card holders, the chain. Every row names an object that is
 * there and answers with all ids it made and the balances after (docs/design/sandbox.md, section 4).
 */
import { CARD_ID, CARD_STATUSES } from '../card.ts';
import { choice, flag, integer, list, money, must, text } from '../field.ts';
import { LIMITS } from '../limits.ts';
import { one, operation } from '../operation.ts';
import { CURRENCIES, DECLINE_REASONS } from '../resources.ts';
import { change, described, ours } from './basis.ts';

const seen = text(described('Identifier made or changed by it.'));

const OUTCOMES = [
  'approved',
  'declined',
  'challenged',
  'pending',
  'incremented',
  'settled',
  'reversed',
  'refunded',
  'confirmed',
  'failed',
  'open',
  'expired',
  'cancelled',
  'waiting',
] as const;

/** What a simulation did: every id it made, and the balances after. */
const SIMULATED = {
  outcome: must(choice(OUTCOMES, described('What became of it.'))),
  transaction_id: seen,
  authorization_id: seen,
  challenge_id: seen,
  deposit_id: seen,
  confirmations: integer(described('Confirmations of the deposit now.')),
  required_confirmations: integer(described('Confirmations at which it is credited.')),
  decline_reason: text(described('Why it was declined.')),
  card_id: text({ ...described('Card concerned.'), names: 'card' }),
  card_status: choice(CARD_STATUSES, described('Status of the card now.')),
  card_balance: money(described('Balance of the card now, USD.')),
  wallet_balance: must(money(described('Balance of the wallet now, USD.'))),
  events: list(text(described('Event name.')), described('Events it caused, in order.')),
} as const;

/** Far above any card, so that limits of BINs can be met; sums stay within whole cents. */
const MOST = 100_000_000_00;

const amount = must(money({ ...described('Amount, USD.'), min: 1, max: MOST }));
const someAmount = money({ ...described('Amount, USD; the rest by default.'), min: 1, max: MOST });
const merchant = text({ ...described('Merchant name.'), defaults: 'COFFEE SHOP', maxLength: LIMITS.labelLength.max });
const mcc = text({ ...described('Merchant category code, four digits.'), defaults: '5814' });
const country = text({ ...described('Country of the merchant.'), defaults: 'US' });
const done = one(SIMULATED, ours, 201);

const ofAuthorization = (doc: string) => ({ authorization_id: must(text(described(doc))) });
const ofChallenge = (doc: string) => ({ challenge_id: must(text(described(doc))) });
const ofDeposit = (doc: string) => ({ deposit_id: must(text(described(doc))) });

const PURCHASES = {
  'simulate.authorize': operation({
    ...change,
    summary: 'Simulate an authorization on a card',
    path: '/simulate/authorizations',
    body: {
      card_id: CARD_ID,
      amount,
      merchant,
      mcc,
      country,
      force_decline: choice(DECLINE_REASONS, described('Decline it with this reason.')),
      three_ds: choice(['challenge', 'frictionless'], described('Ask for a 3DS code first, or pass 3DS silently.')),
      mismatch: choice(['cvv', 'expiry'], described('Let the merchant send a wrong CVV or expiry.')),
    },
    returns: done,
  }),
  'simulate.increment': operation({
    ...change,
    summary: 'Simulate an increase of a pending authorization',
    path: '/simulate/authorizations/{authorization_id}/increment',
    params: ofAuthorization('Authorization to raise.'),
    body: { amount },
    returns: done,
  }),
  'simulate.settle': operation({
    ...change,
    summary: 'Simulate the settlement of an authorization',
    path: '/simulate/authorizations/{authorization_id}/settle',
    params: ofAuthorization('Authorization to settle.'),
    body: { amount: someAmount, final: flag({ ...described('Release the rest of the hold.'), defaults: 'true' }) },
    returns: done,
  }),
  'simulate.reverse': operation({
    ...change,
    summary: 'Simulate a reversal: release a hold',
    path: '/simulate/authorizations/{authorization_id}/reverse',
    params: ofAuthorization('Authorization to reverse.'),
    body: { amount: someAmount },
    returns: done,
  }),
  'simulate.expire': operation({
    ...change,
    summary: 'Expire a pending authorization now',
    path: '/simulate/authorizations/{authorization_id}/expire',
    params: ofAuthorization('Authorization to end.'),
    returns: done,
  }),
  'simulate.refund': operation({
    ...change,
    summary: 'Simulate a refund of a settled purchase',
    path: '/simulate/authorizations/{authorization_id}/refund',
    params: ofAuthorization('Authorization whose settlement is refunded.'),
    body: { amount: someAmount },
    returns: done,
  }),
  'simulate.force-post': operation({
    ...change,
    summary: 'Simulate a settlement without an authorization',
    path: '/simulate/force-posts',
    body: { card_id: CARD_ID, amount, merchant, mcc, country },
    returns: done,
  }),
  'simulate.unlinked-refund': operation({
    ...change,
    summary: 'Simulate a refund without a purchase before it',
    path: '/simulate/refunds',
    body: { card_id: CARD_ID, amount, merchant, mcc, country },
    returns: done,
  }),
} as const;

const CHALLENGES = {
  'simulate.challenge': operation({
    ...change,
    summary: 'Open a 3DS challenge on a card',
    path: '/simulate/challenges',
    body: {
      card_id: CARD_ID,
      amount,
      merchant,
      then: choice(['nothing', 'authorize'], {
        ...described('What happens after the right code.'),
        defaults: 'nothing',
      }),
    },
    returns: done,
  }),
  'simulate.answer': operation({
    ...change,
    summary: 'Answer a 3DS challenge with a code',
    path: '/simulate/challenges/{challenge_id}/attempts',
    params: ofChallenge('Challenge to answer.'),
    body: {
      answer: choice(['right', 'wrong'], described('Which code is typed.')),
      otp: text({ ...described('The code that is typed.'), maxLength: 8, secret: true }),
    },
    returns: done,
  }),
  'simulate.challenge-expire': operation({
    ...change,
    summary: 'Expire a pending 3DS challenge now',
    path: '/simulate/challenges/{challenge_id}/expire',
    params: ofChallenge('Challenge to end.'),
    returns: done,
  }),
  'simulate.cancel': operation({
    ...change,
    summary: 'Cancel a 3DS challenge as the card holder',
    path: '/simulate/challenges/{challenge_id}/cancel',
    params: ofChallenge('Challenge to cancel.'),
    returns: done,
  }),
} as const;

const DEPOSITS = {
  'simulate.deposit': operation({
    ...change,
    summary: 'Simulate a crypto deposit',
    path: '/simulate/deposits',
    body: {
      currency: must(choice(CURRENCIES, described('Cryptocurrency.'))),
      amount: money({ ...described('Amount, USD.'), min: 1, max: MOST }),
      crypto_amount: text({ ...described('Amount in the cryptocurrency, in place of USD.'), maxLength: 24 }),
      confirmations: choice(['timed', 'manual'], {
        ...described('One for every block, or only by hand.'),
        defaults: 'timed',
      }),
    },
    returns: done,
  }),
  'simulate.confirmations': operation({
    ...change,
    summary: 'Add confirmations to a pending deposit',
    path: '/simulate/deposits/{deposit_id}/confirmations',
    params: ofDeposit('Deposit to count for.'),
    body: { add: must(integer({ ...described('How many confirmations come.'), min: 1, max: 1000 })) },
    returns: done,
  }),
  'simulate.confirm': operation({
    ...change,
    summary: 'Confirm a pending deposit and credit it',
    path: '/simulate/deposits/{deposit_id}/confirm',
    params: ofDeposit('Deposit to confirm.'),
    returns: done,
  }),
  'simulate.fail': operation({
    ...change,
    summary: 'Let a pending deposit fail; it is never credited',
    path: '/simulate/deposits/{deposit_id}/fail',
    params: ofDeposit('Deposit to fail.'),
    returns: done,
  }),
} as const;

export const SIMULATIONS = { ...PURCHASES, ...CHALLENGES, ...DEPOSITS } as const;
