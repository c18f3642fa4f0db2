/** simulate.authorize, .settle, .reverse, .refund */
import { ADMIN_OPERATIONS } from '../../contract/sandbox-admin.ts';
import { plainAmount } from '../../money.ts';
import { type Act, cardOf, minus } from '../acting.ts';
import { authorizationOf, authorize, type Purchase, refund, release, settle } from '../authorizations.ts';
import { openChallenge } from '../challenges.ts';
import { Refused } from '../handler.ts';
import { isMcc } from '../rules/categories.ts';
import type { TransactionRow } from '../store/transactions.ts';
import { type Done, simulation } from './simulated.ts';

const COUNTRY = /^[A-Z]{2}$/;

/** What a merchant is when a simulation does not say; the contract tells it too. */
export function usual(field: 'merchant' | 'mcc' | 'country'): string {
  return String(ADMIN_OPERATIONS['simulate.authorize'].body[field].defaults);
}

/** With `challenge`, a 3DS challenge opens and the checks run at its right answer. */
export const simulateAuthorize = simulation('simulate.authorize', async (act, input) => {
  const { mcc = usual('mcc'), country = usual('country'), merchant = usual('merchant'), amount } = input;
  if (!isMcc(mcc)) throw new Refused('invalid_request', `mcc: ${JSON.stringify(mcc)} is not four digits`);
  if (!COUNTRY.test(country)) {
    throw new Refused('invalid_request', `country: ${JSON.stringify(country)} is not two capital letters`);
  }
  const card = await cardOf(act, input.card_id);
  const purchase: Purchase = { amount, merchant, mcc, country, forced: input.force_decline, mismatch: input.mismatch };
  if (input.three_ds !== 'challenge') return saidOf(await authorize(act, card, purchase));
  const opened = await openChallenge(act, card, { merchant, amount, purchase });
  const challenge = { challenge_id: opened.challenge.id };
  return opened.transaction === undefined
    ? { outcome: 'challenged', card_id: card.id, ...challenge }
    : { ...saidOf(opened.transaction), ...challenge };
});

/** What an attempt to authorize became. */
export function saidOf(row: TransactionRow): Done {
  const made = { transaction_id: row.id, card_id: row.card_id };
  return row.decline_reason === null
    ? { outcome: 'approved', ...made, authorization_id: row.id }
    : { outcome: 'declined', ...made, decline_reason: row.decline_reason };
}

/** Without an amount all that is held; after that only a named amount can be posted. */
export const simulateSettle = simulation('simulate.settle', async (act, { authorization_id, amount, final = true }) => {
  const authorization = await authorizationOf(act, authorization_id);
  const asked = amount ?? authorization.held;
  if (asked === 0) {
    throw new Refused('invalid_request', `authorization ${authorization_id} holds nothing: name the amount to post`);
  }
  const row = await settle(act, authorization, { amount: asked, final });
  return { outcome: 'settled', card_id: row.card_id, transaction_id: row.id, authorization_id };
});

export const simulateReverse = simulation('simulate.reverse', async (act, { authorization_id, amount }) => {
  const authorization = await pending(act, authorization_id);
  const { held, card_id } = authorization;
  const asked = amount ?? held;
  if (asked > held) {
    throw new Refused('invalid_request', `amount: ${plainAmount(asked)} USD of ${plainAmount(held)} USD held`);
  }
  await release(act, authorization, { amount: asked, ending: 'reversed' });
  return { outcome: 'reversed', card_id, authorization_id };
});

async function pending(act: Act, id: string): Promise<TransactionRow> {
  const authorization = await authorizationOf(act, id);
  if (authorization.status === 'pending') return authorization;
  throw new Refused('invalid_request', `authorization ${id} is ${authorization.status}: nothing is held`);
}

export const simulateRefund = simulation('simulate.refund', async (act, { authorization_id, amount }) => {
  const authorization = await authorizationOf(act, authorization_id);
  const left = minus(authorization.settled, authorization.refunded);
  const asked = amount ?? left;
  if (asked === 0 || asked > left) {
    throw new Refused('invalid_request', `amount: ${plainAmount(left)} USD of ${authorization_id} can be refunded`);
  }
  const row = await refund(act, authorization, asked);
  return { outcome: 'refunded', card_id: row.card_id, transaction_id: row.id, authorization_id };
});
