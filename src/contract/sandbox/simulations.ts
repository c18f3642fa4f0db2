/**
 * What the world outside does to a sandbox: merchants, card holders, the chain. Every row names an object that is
 * there and answers with all ids it made and the balances after (docs/design/sandbox.md, section 4).
 */
import { CARD_ID, CARD_STATUSES } from '../card.ts';
import { must } from '../field.ts';
import { LIMITS } from '../limits.ts';
import { rowsWith } from '../operation.ts';
import { choice, flag, integer, list, money, text } from '../own-field.ts';
import { CURRENCIES, DECLINE_REASONS } from '../resources.ts';
import { one } from './row.ts';

const seen = text('Identifier made or changed by it.');

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
  outcome: must(choice(OUTCOMES, 'What became of it.')),
  transaction_id: seen,
  authorization_id: seen,
  challenge_id: seen,
  deposit_id: seen,
  confirmations: integer('Confirmations of the deposit now.'),
  required_confirmations: integer('Confirmations at which it is credited.'),
  decline_reason: text('Why it was declined.'),
  card_id: text('Card concerned.', { names: 'card' }),
  card_status: choice(CARD_STATUSES, 'Status of the card now.'),
  card_balance: money('Balance of the card now, USD.'),
  wallet_balance: must(money('Balance of the wallet now, USD.')),
  events: list(text('Event name.'), 'Events it caused, in order.'),
} as const;

/** Far above any card, so that limits of BINs can be met; sums stay within whole cents. */
const MOST = 100_000_000_00;

const amount = must(money('Amount, USD.', { min: 1, max: MOST }));
const someAmount = money('Amount, USD; the rest by default.', { min: 1, max: MOST });
const merchant = text('Merchant name.', { defaults: 'COFFEE SHOP', maxLength: LIMITS.labelLength.max });
const mcc = text('Merchant category code, four digits.', { defaults: '5814' });
const country = text('Country of the merchant.', { defaults: 'US' });
const simulation = rowsWith({
  section: 'sandbox',
  basis: {},
  method: 'POST',
  effect: 'reversible',
  repeat: 'never',
  returns: one(SIMULATED, 201),
});

const ofAuthorization = (doc: string) => ({ authorization_id: must(text(doc)) });
const ofChallenge = (doc: string) => ({ challenge_id: must(text(doc)) });
const ofDeposit = (doc: string) => ({ deposit_id: must(text(doc)) });

const PURCHASES = {
  'simulate.authorize': simulation({
    summary: 'Simulate an authorization on a card',
    path: '/simulate/authorizations',
    body: {
      card_id: CARD_ID,
      amount,
      merchant,
      mcc,
      country,
      force_decline: choice(DECLINE_REASONS, 'Decline it with this reason.'),
      three_ds: choice(['challenge', 'frictionless'], 'Ask for a 3DS code first, or pass 3DS silently.'),
      mismatch: choice(['cvv', 'expiry'], 'Let the merchant send a wrong CVV or expiry.'),
    },
  }),
  'simulate.increment': simulation({
    summary: 'Simulate an increase of a pending authorization',
    path: '/simulate/authorizations/{authorization_id}/increment',
    params: ofAuthorization('Authorization to raise.'),
    body: { amount },
  }),
  'simulate.settle': simulation({
    summary: 'Simulate the settlement of an authorization',
    path: '/simulate/authorizations/{authorization_id}/settle',
    params: ofAuthorization('Authorization to settle.'),
    body: { amount: someAmount, final: flag('Release the rest of the hold.', { defaults: 'true' }) },
  }),
  'simulate.reverse': simulation({
    summary: 'Simulate a reversal: release a hold',
    path: '/simulate/authorizations/{authorization_id}/reverse',
    params: ofAuthorization('Authorization to reverse.'),
    body: { amount: someAmount },
  }),
  'simulate.expire': simulation({
    summary: 'Expire a pending authorization now',
    path: '/simulate/authorizations/{authorization_id}/expire',
    params: ofAuthorization('Authorization to end.'),
  }),
  'simulate.refund': simulation({
    summary: 'Simulate a refund of a settled purchase',
    path: '/simulate/authorizations/{authorization_id}/refund',
    params: ofAuthorization('Authorization whose settlement is refunded.'),
    body: { amount: someAmount },
  }),
  'simulate.force-post': simulation({
    summary: 'Simulate a settlement without an authorization',
    path: '/simulate/force-posts',
    body: { card_id: CARD_ID, amount, merchant, mcc, country },
  }),
  'simulate.unlinked-refund': simulation({
    summary: 'Simulate a refund without a purchase before it',
    path: '/simulate/refunds',
    body: { card_id: CARD_ID, amount, merchant, mcc, country },
  }),
} as const;

const CHALLENGES = {
  'simulate.challenge': simulation({
    summary: 'Open a 3DS challenge on a card',
    path: '/simulate/challenges',
    body: {
      card_id: CARD_ID,
      amount,
      merchant,
      then: choice(['nothing', 'authorize'], 'What happens after the right code.', { defaults: 'nothing' }),
    },
  }),
  'simulate.answer': simulation({
    summary: 'Answer a 3DS challenge with a code',
    path: '/simulate/challenges/{challenge_id}/attempts',
    params: ofChallenge('Challenge to answer.'),
    body: {
      answer: choice(['right', 'wrong'], 'Which code is typed.'),
      otp: text('The code that is typed.', { maxLength: 8, secret: true }),
    },
  }),
  'simulate.challenge-expire': simulation({
    summary: 'Expire a pending 3DS challenge now',
    path: '/simulate/challenges/{challenge_id}/expire',
    params: ofChallenge('Challenge to end.'),
  }),
  'simulate.cancel': simulation({
    summary: 'Cancel a 3DS challenge as the card holder',
    path: '/simulate/challenges/{challenge_id}/cancel',
    params: ofChallenge('Challenge to cancel.'),
  }),
} as const;

const DEPOSITS = {
  'simulate.deposit': simulation({
    summary: 'Simulate a crypto deposit',
    path: '/simulate/deposits',
    body: {
      currency: must(choice(CURRENCIES, 'Cryptocurrency.')),
      amount: money('Amount, USD.', { min: 1, max: MOST }),
      crypto_amount: text('Amount in the cryptocurrency, in place of USD.', { maxLength: 24 }),
      confirmations: choice(['timed', 'manual'], 'One for every block, or only by hand.', { defaults: 'timed' }),
    },
  }),
  'simulate.confirmations': simulation({
    summary: 'Add confirmations to a pending deposit',
    path: '/simulate/deposits/{deposit_id}/confirmations',
    params: ofDeposit('Deposit to count for.'),
    body: { add: must(integer('How many confirmations come.', { min: 1, max: 1000 })) },
  }),
  'simulate.confirm': simulation({
    summary: 'Confirm a pending deposit and credit it',
    path: '/simulate/deposits/{deposit_id}/confirm',
    params: ofDeposit('Deposit to confirm.'),
  }),
  'simulate.fail': simulation({
    summary: 'Let a pending deposit fail; it is never credited',
    path: '/simulate/deposits/{deposit_id}/fail',
    params: ofDeposit('Deposit to fail.'),
  }),
} as const;

export const SIMULATIONS = { ...PURCHASES, ...CHALLENGES, ...DEPOSITS } as const;
