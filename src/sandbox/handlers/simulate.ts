/** What merchants, card holders and the chain do: every simulation, with the ids it made, its events and the balances after. */

import type { EventName } from '../../contract/events.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin.ts';
import { SIMULATIONS as ROWS } from '../../contract/sandbox/simulations.ts';
import { isSameKey } from '../../core/key-print.ts';
import { type Cents, plainAmount } from '../../core/money.ts';
import {
  authorizationOf,
  authorize,
  increment,
  type Purchase,
  postUnlinked,
  refund,
  release,
  settle,
} from '../account/authorizations.ts';
import {
  answer,
  confirmDeposit,
  countConfirmations,
  detectDeposit,
  type Ended,
  failChallenge,
  failDeposit,
  finish,
  openChallenge,
} from '../account/challenges.ts';
import { type Act, balances, cardOf, minus } from '../account/ledger.ts';
import { type AdminHandlers, found, impossible, Refused } from '../calls/handler.ts';
import { isMcc } from '../rules/declines.ts';
import { coinsWorth } from '../rules/money.ts';
import type { ChallengeRow, DepositRow, TransactionRow } from '../store/rows.ts';

type Simulation = Extract<keyof AdminHandlers, `simulate.${string}`>;
type InputOf<N extends Simulation> = Parameters<AdminHandlers[N]>[0]['input'];
/** What a simulation did, without the events and the balances after. */
type Done = Partial<ReplyOf<AdminOperations['simulate.authorize']>>;
type Shop = Pick<InputOf<'simulate.force-post'>, 'amount' | 'merchant' | 'mcc' | 'country'>;

/** What a merchant is when a simulation does not say; the contract tells it too. */
function usual(field: 'merchant' | 'mcc' | 'country'): string {
  return String(ROWS['simulate.authorize'].body[field].defaults);
}

/** The purchase an input tells of; throws `invalid_request` for a code or a country that is none. */
function purchaseOf({ merchant = usual('merchant'), ...input }: Shop): Purchase {
  const { mcc = usual('mcc'), country = usual('country'), amount } = input;
  if (!isMcc(mcc)) throw new Refused('invalid_request', `mcc: ${JSON.stringify(mcc)} is not four digits`);
  if (!/^[A-Z]{2}$/.test(country)) {
    throw new Refused('invalid_request', `country: ${JSON.stringify(country)} is not two capital letters`);
  }
  return { amount, merchant, mcc, country };
}

const WORK = {
  /** With `challenge`, a 3DS challenge opens and the checks run at its right answer. */
  'simulate.authorize': (act, input) => {
    const purchase: Purchase = { ...purchaseOf(input), forced: input.force_decline, mismatch: input.mismatch };
    const card = cardOf(act, input.card_id);
    if (input.three_ds !== 'challenge') return saidOfRecord(authorize(act, card, purchase));
    const opened = openChallenge(act, card, { merchant: purchase.merchant, amount: purchase.amount, purchase });
    return saidOfChallenge(opened, 'challenged');
  },

  'simulate.increment': (act, { authorization_id, amount }) => {
    const row = increment(act, pending(act, authorization_id), amount);
    return row.decline_reason === null
      ? { outcome: 'incremented', card_id: row.card_id, authorization_id }
      : { ...saidOfRecord(row), authorization_id };
  },

  /** Without an amount all that is held; after that only a named amount can be posted. */
  'simulate.settle': (act, { authorization_id, amount, final = true }) => {
    const authorization = authorizationOf(act, authorization_id);
    const asked = amount ?? authorization.held;
    if (asked === 0) {
      const { status } = authorization;
      throw impossible(`authorization ${authorization_id} is ${status} and holds nothing: name the amount to post`);
    }
    return saidOfRecord(settle(act, authorization, { amount: asked, final }));
  },

  'simulate.reverse': (act, { authorization_id, amount }) => {
    const authorization = pending(act, authorization_id);
    const { held, card_id } = authorization;
    const asked = amount ?? held;
    if (asked > held) {
      throw impossible(
        `authorization ${authorization_id} holds ${plainAmount(held)} USD, ${plainAmount(asked)} USD asked`,
      );
    }
    release(act, authorization, { amount: asked, ending: 'reversed' });
    return { outcome: 'reversed', card_id, authorization_id };
  },

  'simulate.expire': (act, { authorization_id }) => {
    const authorization = pending(act, authorization_id);
    release(act, authorization, { amount: authorization.held, ending: 'expired' });
    return { outcome: 'expired', card_id: authorization.card_id, authorization_id };
  },

  'simulate.refund': (act, { authorization_id, amount }) => {
    const authorization = authorizationOf(act, authorization_id);
    const left = minus(authorization.settled, authorization.refunded);
    const asked = amount ?? left;
    if (asked === 0 || asked > left) {
      const { status, settled, refunded } = authorization;
      const sums = `${plainAmount(settled)} USD settled, ${plainAmount(refunded)} USD refunded`;
      throw impossible(
        `authorization ${authorization_id} is ${status}, ${sums}: ${plainAmount(left)} USD can be refunded`,
      );
    }
    return saidOfRecord(refund(act, authorization, asked));
  },

  'simulate.force-post': (act, input) => {
    const purchase = purchaseOf(input);
    return saidOfRecord(postUnlinked(act, cardOf(act, input.card_id), purchase, 'settlement'));
  },

  'simulate.unlinked-refund': (act, input) => {
    const purchase = purchaseOf(input);
    return saidOfRecord(postUnlinked(act, cardOf(act, input.card_id), purchase, 'refund'));
  },

  /** With `then: authorize`, the right code runs an authorization of the same amount. */
  'simulate.challenge': (act, input) => {
    const { merchant = usual('merchant'), amount, then = 'nothing' } = input;
    const card = cardOf(act, input.card_id);
    const purchase = { amount, merchant, mcc: usual('mcc'), country: usual('country') };
    return saidOfChallenge(openChallenge(act, card, { merchant, amount, ...(then === 'authorize' && { purchase }) }));
  },

  'simulate.answer': (act, input) => {
    const { otp, answer: given } = input;
    const challenge = openOne(act, input.challenge_id);
    const code = given ?? (isSameKey(otp ?? '', challenge.otp) ? 'right' : 'wrong');
    return saidOfChallenge(answer(act, challenge, code));
  },

  /** An attached authorization declines `three_ds_failed`. */
  'simulate.challenge-expire': (act, { challenge_id }) =>
    saidOfChallenge(failChallenge(act, openOne(act, challenge_id), 'expired')),

  /** Nothing is recorded, an attached authorization neither. */
  'simulate.cancel': (act, { challenge_id }) =>
    saidOfChallenge({ challenge: finish(act, openOne(act, challenge_id), 'cancelled') }),

  'simulate.deposit': (act, input) => {
    const { currency, confirmations = 'timed' } = input;
    return saidOfDeposit(detectDeposit(act, { currency, amount: amountOf(input), confirmations }));
  },

  /** The last one needed credits the deposit; more than that make no difference. */
  'simulate.confirmations': (act, { deposit_id, add }) =>
    saidOfDeposit(countConfirmations(act, pendingDeposit(act, deposit_id), add)),

  /** At once, whatever confirmations are missing. A second time is refused: a deposit is credited exactly once. */
  'simulate.confirm': (act, { deposit_id }) => saidOfDeposit(confirmDeposit(act, pendingDeposit(act, deposit_id))),

  /** No event of its own: none is in the interface's list. */
  'simulate.fail': (act, { deposit_id }) => saidOfDeposit(failDeposit(act, pendingDeposit(act, deposit_id))),
} satisfies { readonly [N in Simulation]: (act: Act, input: InputOf<N>) => Done };

/** Each with the events it caused and the balances after. */
export const SIMULATIONS = Object.fromEntries(
  Object.entries(WORK).map(([name, work]) => [
    name,
    (call: Act & { readonly input: never }) => {
      const { sql, now, idSource } = call;
      const events: EventName[] = [];
      const emit: Act['emit'] = (event, data) => {
        events.push(event);
        call.emit(event, data);
      };
      const done: Done = work({ sql, now, idSource, emit }, call.input);
      return { ...done, ...balances(sql, done.card_id), events };
    },
  ]),
) as unknown as Pick<AdminHandlers, Simulation>;

const OUTCOMES = { authorization: 'approved', decline: 'declined', settlement: 'settled', refund: 'refunded' } as const;

/** What came of it, by the record that was made, with the authorization that it is or belongs to. */
function saidOfRecord({ id, type, card_id, authorization_id, decline_reason }: TransactionRow): Done {
  const authorization = type === 'authorization' ? id : authorization_id;
  return {
    ...{ outcome: OUTCOMES[type], transaction_id: id, card_id },
    ...(authorization !== null && { authorization_id: authorization }),
    ...(decline_reason !== null && { decline_reason }),
  };
}

/** With an authorization attached the outcome is what became of that one, else where the challenge stands. */
function saidOfChallenge({ challenge, transaction }: Ended, open = 'open'): Done {
  const { id, card_id, status } = challenge;
  const became = transaction && saidOfRecord(transaction);
  return { outcome: status === 'pending' ? open : status, ...became, card_id, challenge_id: id };
}

function pending(act: Act, id: string): TransactionRow {
  const authorization = authorizationOf(act, id);
  if (authorization.status === 'pending') return authorization;
  throw impossible(`authorization ${id} is ${authorization.status}, not pending: nothing is held`);
}

function openOne({ sql, now }: Act, id: string): ChallengeRow {
  const challenge = found(sql.row('challenges', { id }), 'challenge', id);
  if (challenge.status !== 'pending' || now >= challenge.expires_at) {
    const state = challenge.status === 'pending' ? 'expired' : challenge.status;
    throw impossible(`challenge ${id} is ${state}, not pending: it takes no answer`);
  }
  return challenge;
}

function saidOfDeposit({ id, status, confirmations, required_confirmations }: DepositRow) {
  return { outcome: status, deposit_id: id, confirmations, required_confirmations };
}

function amountOf({ currency, amount, crypto_amount: coins }: InputOf<'simulate.deposit'>): Cents {
  const value = amount ?? coinsWorth(currency, coins ?? '');
  if (value !== undefined && value > 0) return value;
  throw new Refused('invalid_request', `crypto_amount: ${JSON.stringify(coins)} of ${currency} is worth no whole cent`);
}

function pendingDeposit({ sql }: Act, id: string): DepositRow {
  const deposit = found(sql.row('deposits', { id }), 'deposit', id);
  if (deposit.status !== 'pending') throw impossible(`deposit ${id} is ${deposit.status} already`);
  return deposit;
}
