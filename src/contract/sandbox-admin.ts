/**
 * The sandbox's own control surface below `/_sandbox/v1`: not part of the service, never below `/v1`, with a token
 * of its own. The same kind of rows, so that client, flags and routes are derived from them too (SANDBOX, section 4).
 */
import type { Basis } from './basis.ts';
import { CARD_ID, CARD_STATUSES } from './card.ts';
import { choice, flag, integer, list, money, must, text, time } from './field.ts';
import { LIMITS } from './limits.ts';
import { one, operation } from './operation.ts';
import { CURRENCIES, DECLINE_REASONS } from './resources.ts';

const ours: Basis = { why: 'control of the sandbox, not part of the service' };
const said = (doc: string) => ({ doc, basis: ours });

export const ADMIN_PATH = '/_sandbox/v1';
export const DATA_SETS = ['empty', 'demo'] as const;

const seen = text(said('Identifier made or changed by it.'));

/** What a simulation did: every id it made, and the balances after. */
const SIMULATED = {
  outcome: must(
    choice(
      [
        'approved',
        'declined',
        'challenged',
        'pending',
        'settled',
        'reversed',
        'refunded',
        'confirmed',
        'failed',
        'open',
        'expired',
        'cancelled',
      ],
      said('What became of it.'),
    ),
  ),
  transaction_id: seen,
  authorization_id: seen,
  challenge_id: seen,
  deposit_id: seen,
  decline_reason: text(said('Why it was declined.')),
  card_id: text({ ...said('Card concerned.'), names: 'card' }),
  card_status: choice(CARD_STATUSES, said('Status of the card now.')),
  card_balance: money(said('Balance of the card now, USD.')),
  wallet_balance: must(money(said('Balance of the wallet now, USD.'))),
  events: list(text(said('Event name.')), said('Events it caused, in order.')),
} as const;

const STATUS = {
  version: must(text(said('Version of cardwright that serves it.'))),
  store: must(text(said('Path of the store, or memory.'))),
  data_set: text(said('Data set it was seeded with.')),
  now: must(time(said('Clock of the sandbox.'))),
  bins: must(integer(said('BINs.'))),
  cards: must(integer(said('Cards.'))),
  transactions: must(integer(said('Transaction records.'))),
  webhooks: must(integer(said('Subscriptions.'))),
  events: must(integer(said('Events recorded.'))),
  wallet_balance: must(money(said('Balance of the wallet, USD.'))),
  ledger_ok: must(flag(said('The ledger invariants hold.'))),
  ledger_faults: list(text(said('Broken invariant.')), said('What does not hold.')),
} as const;

const amount = must(money({ ...said('Amount, USD.'), min: 1 }));
const someAmount = money({ ...said('Amount, USD; all that is left when left out.'), min: 1 });
const merchant = text({ ...said('Merchant name.'), defaults: 'COFFEE SHOP', maxLength: LIMITS.labelLength.max });
const done = one(SIMULATED, ours, 201);

/** A simulation changes the sandbox's own money only: no guard beyond being a sandbox is needed. */
const simulation = { section: 'sandbox', method: 'POST', basis: ours, effect: 'reversible', repeat: 'never' } as const;

export const ADMIN_OPERATIONS = {
  status: operation({
    summary: 'Show what the sandbox holds and whether its ledger is whole',
    section: 'sandbox',
    method: 'GET',
    path: '/status',
    basis: ours,
    effect: 'read',
    repeat: 'freely',
    returns: one(STATUS, ours),
  }),
  reset: operation({
    ...simulation,
    summary: 'Start over with a data set',
    path: '/reset',
    effect: 'irreversible',
    body: {
      data: choice(DATA_SETS, { ...said('Data set to load.'), defaults: 'demo' }),
      seed: integer({ ...said('Seed of ids, numbers and codes.'), min: 0 }),
    },
    returns: one(STATUS, ours),
  }),
  'simulate.authorize': operation({
    ...simulation,
    summary: 'A merchant asks for an authorization on a card',
    path: '/simulate/authorizations',
    body: {
      card_id: CARD_ID,
      amount,
      merchant,
      mcc: text({ ...said('Merchant category code, four digits.'), defaults: '5814' }),
      country: text({ ...said('Country of the merchant.'), defaults: 'US' }),
      force_decline: choice(DECLINE_REASONS, said('Decline it for this reason.')),
      three_ds: choice(['challenge', 'frictionless'], said('Ask for a 3DS code first, or pass 3DS silently.')),
      mismatch: choice(['cvv', 'expiry'], said('Let the merchant send a wrong CVV or expiry.')),
    },
    returns: done,
  }),
  'simulate.settle': operation({
    ...simulation,
    summary: 'The merchant settles an authorization',
    path: '/simulate/authorizations/{authorization_id}/settle',
    params: { authorization_id: must(text(said('Authorization to settle.'))) },
    body: { amount: someAmount, final: flag({ ...said('Release the rest of the hold.'), defaults: 'true' }) },
    returns: done,
  }),
  'simulate.reverse': operation({
    ...simulation,
    summary: 'The merchant gives a hold back',
    path: '/simulate/authorizations/{authorization_id}/reverse',
    params: { authorization_id: must(text(said('Authorization to reverse.'))) },
    body: { amount: someAmount },
    returns: done,
  }),
  'simulate.refund': operation({
    ...simulation,
    summary: 'The merchant refunds what was settled',
    path: '/simulate/authorizations/{authorization_id}/refund',
    params: { authorization_id: must(text(said('Authorization whose settlement is refunded.'))) },
    body: { amount: someAmount },
    returns: done,
  }),
  'simulate.challenge': operation({
    ...simulation,
    summary: 'A merchant opens a 3DS challenge on a card',
    path: '/simulate/challenges',
    body: { card_id: CARD_ID, amount, merchant },
    returns: done,
  }),
  'simulate.answer': operation({
    ...simulation,
    summary: 'Answer a 3DS challenge with the right or a wrong code',
    path: '/simulate/challenges/{challenge_id}/attempts',
    params: { challenge_id: must(text(said('Challenge to answer.'))) },
    body: { answer: must(choice(['right', 'wrong'], said('Which code is typed.'))) },
    returns: done,
  }),
  'simulate.deposit': operation({
    ...simulation,
    summary: 'A crypto deposit is detected',
    path: '/simulate/deposits',
    body: { currency: must(choice(CURRENCIES, said('Cryptocurrency.'))), amount },
    returns: done,
  }),
  'simulate.confirm': operation({
    ...simulation,
    summary: 'A pending deposit is confirmed and credited',
    path: '/simulate/deposits/{deposit_id}/confirm',
    params: { deposit_id: must(text(said('Deposit to confirm.'))) },
    returns: done,
  }),
} as const;
