/**
 * What the world outside does to a sandbox: merchants, card holders, the chain. Every row names an object that is
 * there and answers with all ids it made and the balances after (docs/design/sandbox.md, section 4).
 */
import { CARD_ID, CARD_STATUSES } from '../card.ts';
import { type Field, must } from '../field.ts';
import { LIMITS } from '../limits.ts';
import { type Operation, oneOf, rowsWith } from '../operation.ts';
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
  ...{ section: 'sandbox', basis: {}, effect: 'reversible', repeat: 'never' },
  returns: one(SIMULATED, 201),
});

/** What is done to a thing that is there, which its path names. */
const doneTo =
  <const Id extends string>(id: Id, things: string, facts: Pick<Field<string, string>, 'names'> = {}) =>
  <const Takes extends Partial<Operation> = Record<never, never>>(
    what: string,
    summary: string,
    doc: string,
    takes = {} as Takes,
  ) => {
    const params = { [id]: must(text(doc, facts)) } as { readonly [Name in Id]: Field<string, string, true> };
    return simulation(summary, `POST /simulate/${things}/{${id}}/${what}`, { params, ...takes });
  };
const ofAuthorization = doneTo('authorization_id', 'authorizations', { names: 'transaction' });
const ofChallenge = doneTo('challenge_id', 'challenges', { names: 'challenge' });
const ofDeposit = doneTo('deposit_id', 'deposits');

export const SIMULATIONS = {
  'simulate.authorize': simulation('Simulate an authorization on a card', 'POST /simulate/authorizations', {
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
  'simulate.increment': ofAuthorization(
    'increment',
    'Simulate an increase of a pending authorization',
    'Authorization to raise.',
    { body: { amount } },
  ),
  'simulate.settle': ofAuthorization(
    'settle',
    'Simulate the settlement of an authorization',
    'Authorization to settle.',
    { body: { amount: someAmount, final: flag('Release the rest of the hold.', { defaults: 'true' }) } },
  ),
  'simulate.reverse': ofAuthorization('reverse', 'Simulate a reversal: release a hold', 'Authorization to reverse.', {
    body: { amount: someAmount },
  }),
  'simulate.expire': ofAuthorization('expire', 'Expire a pending authorization now', 'Authorization to end.'),
  'simulate.refund': ofAuthorization(
    'refund',
    'Simulate a refund of a settled purchase',
    'Authorization whose settlement is refunded.',
    { body: { amount: someAmount } },
  ),
  'simulate.force-post': simulation('Simulate a settlement without an authorization', 'POST /simulate/force-posts', {
    body: { card_id: CARD_ID, amount, merchant, mcc, country },
  }),
  'simulate.unlinked-refund': simulation('Simulate a refund without a purchase before it', 'POST /simulate/refunds', {
    body: { card_id: CARD_ID, amount, merchant, mcc, country },
  }),
  'simulate.challenge': simulation('Open a 3DS challenge on a card', 'POST /simulate/challenges', {
    body: {
      card_id: CARD_ID,
      amount,
      merchant,
      then: choice(['nothing', 'authorize'], 'What happens after the right code.', { defaults: 'nothing' }),
    },
  }),
  'simulate.answer': ofChallenge('attempts', 'Answer a 3DS challenge with a code', 'Challenge to answer.', {
    body: {
      answer: choice(['right', 'wrong'], 'Which code is typed.'),
      otp: text('The code that is typed.', { maxLength: 8, secret: true }),
    },
    together: oneOf('otp', 'answer'),
  }),
  'simulate.challenge-expire': ofChallenge('expire', 'Expire a pending 3DS challenge now', 'Challenge to end.'),
  'simulate.cancel': ofChallenge('cancel', 'Cancel a 3DS challenge as the card holder', 'Challenge to cancel.'),
  'simulate.deposit': simulation('Simulate a crypto deposit', 'POST /simulate/deposits', {
    body: {
      currency: must(choice(CURRENCIES, 'Cryptocurrency.')),
      amount: money('Amount, USD.', { min: 1, max: MOST }),
      crypto_amount: text('Amount in the cryptocurrency, in place of USD.', { maxLength: 24 }),
      confirmations: choice(['timed', 'manual'], 'One for every block, or only by hand.', { defaults: 'timed' }),
    },
    together: oneOf('amount', 'crypto_amount'),
  }),
  'simulate.confirmations': ofDeposit(
    'confirmations',
    'Add confirmations to a pending deposit',
    'Deposit to count for.',
    { body: { add: must(integer('How many confirmations come.', { min: 1, max: 1000 })) } },
  ),
  'simulate.confirm': ofDeposit('confirm', 'Confirm a pending deposit and credit it', 'Deposit to confirm.'),
  'simulate.fail': ofDeposit('fail', 'Let a pending deposit fail; it is never credited', 'Deposit to fail.'),
} as const;
