/** simulate.authorize, .increment, .settle, .reverse, .expire, .refund, .force-post, .unlinked-refund */
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { type Cents, plainAmount } from '../../core/money.ts';
import { type Act, cardOf, minus } from '../account/acting.ts';
import { authorizationOf, authorize, type Purchase, refund, release, settle } from '../account/authorizations.ts';
import { openChallenge } from '../account/challenges.ts';
import { forcePost, increment, unlinkedRefund } from '../account/unplanned.ts';
import { impossible, Refused } from '../calls/handler.ts';
import { isMcc } from '../rules/categories.ts';
import type { CardRow } from '../store/cards.ts';
import type { TransactionRow } from '../store/transactions.ts';
import { type Done, simulation } from './simulated.ts';

const COUNTRY = /^[A-Z]{2}$/;

/** What a merchant is when a simulation does not say; the contract tells it too. */
export function usual(field: 'merchant' | 'mcc' | 'country'): string {
  return String(ADMIN_OPERATIONS['simulate.authorize'].body[field].defaults);
}

interface Shop {
  readonly merchant?: string | undefined;
  readonly mcc?: string | undefined;
  readonly country?: string | undefined;
}

/** The purchase an input tells of; throws `invalid_request` for a code or a country that is none. */
function purchaseOf({ merchant = usual('merchant'), ...input }: Shop & { readonly amount: Cents }): Purchase {
  const { mcc = usual('mcc'), country = usual('country'), amount } = input;
  if (!isMcc(mcc)) throw new Refused('invalid_request', `mcc: ${JSON.stringify(mcc)} is not four digits`);
  if (!COUNTRY.test(country)) {
    throw new Refused('invalid_request', `country: ${JSON.stringify(country)} is not two capital letters`);
  }
  return { amount, merchant, mcc, country };
}

/** With `challenge`, a 3DS challenge opens and the checks run at its right answer. */
export const simulateAuthorize = simulation('simulate.authorize', async (act, input) => {
  const purchase: Purchase = { ...purchaseOf(input), forced: input.force_decline, mismatch: input.mismatch };
  const card = await cardOf(act, input.card_id);
  if (input.three_ds !== 'challenge') return authorizeOutcome(await authorize(act, card, purchase));
  const opened = await openChallenge(act, card, { merchant: purchase.merchant, amount: purchase.amount, purchase });
  const challenge = { challenge_id: opened.challenge.id };
  return opened.transaction === undefined
    ? { outcome: 'challenged', card_id: card.id, ...challenge }
    : { ...authorizeOutcome(opened.transaction), ...challenge };
});

/** What an attempt to authorize became. */
export function authorizeOutcome(row: TransactionRow): Done {
  const made = { transaction_id: row.id, card_id: row.card_id };
  return row.decline_reason === null
    ? { outcome: 'approved', ...made, authorization_id: row.id }
    : { outcome: 'declined', ...made, decline_reason: row.decline_reason };
}

export const simulateIncrement = simulation('simulate.increment', async (act, { authorization_id, amount }) => {
  const row = await increment(act, await pending(act, authorization_id), amount);
  return row.decline_reason === null
    ? { outcome: 'incremented', card_id: row.card_id, authorization_id }
    : { ...authorizeOutcome(row), authorization_id };
});

/** Without an amount all that is held; after that only a named amount can be posted. */
export const simulateSettle = simulation('simulate.settle', async (act, { authorization_id, amount, final = true }) => {
  const authorization = await authorizationOf(act, authorization_id);
  const asked = amount ?? authorization.held;
  if (asked === 0) {
    const { status } = authorization;
    throw impossible(`authorization ${authorization_id} is ${status} and holds nothing: name the amount to post`);
  }
  const row = await settle(act, authorization, { amount: asked, final });
  return { outcome: 'settled', card_id: row.card_id, transaction_id: row.id, authorization_id };
});

export const simulateReverse = simulation('simulate.reverse', async (act, { authorization_id, amount }) => {
  const authorization = await pending(act, authorization_id);
  const { held, card_id } = authorization;
  const asked = amount ?? held;
  if (asked > held) {
    throw impossible(
      `authorization ${authorization_id} holds ${plainAmount(held)} USD, ${plainAmount(asked)} USD asked`,
    );
  }
  await release(act, authorization, { amount: asked, ending: 'reversed' });
  return { outcome: 'reversed', card_id, authorization_id };
});

export const simulateExpire = simulation('simulate.expire', async (act, { authorization_id }) => {
  const authorization = await pending(act, authorization_id);
  await release(act, authorization, { amount: authorization.held, ending: 'expired' });
  return { outcome: 'expired', card_id: authorization.card_id, authorization_id };
});

async function pending(act: Act, id: string): Promise<TransactionRow> {
  const authorization = await authorizationOf(act, id);
  if (authorization.status === 'pending') return authorization;
  throw impossible(`authorization ${id} is ${authorization.status}, not pending: nothing is held`);
}

export const simulateRefund = simulation('simulate.refund', async (act, { authorization_id, amount }) => {
  const authorization = await authorizationOf(act, authorization_id);
  const left = minus(authorization.settled, authorization.refunded);
  const asked = amount ?? left;
  if (asked === 0 || asked > left) {
    const { status, settled, refunded } = authorization;
    const sums = `${plainAmount(settled)} USD settled, ${plainAmount(refunded)} USD refunded`;
    throw impossible(
      `authorization ${authorization_id} is ${status}, ${sums}: ${plainAmount(left)} USD can be refunded`,
    );
  }
  const row = await refund(act, authorization, asked);
  return { outcome: 'refunded', card_id: row.card_id, transaction_id: row.id, authorization_id };
});

type Posting = (act: Act, card: CardRow, purchase: Purchase) => Promise<TransactionRow>;

const unlinked =
  (outcome: 'settled' | 'refunded', post: Posting) =>
  async (act: Act, input: Shop & { readonly card_id: string; readonly amount: Cents }): Promise<Done> => {
    const purchase = purchaseOf(input);
    const row = await post(act, await cardOf(act, input.card_id), purchase);
    return { outcome, card_id: row.card_id, transaction_id: row.id };
  };

export const simulateForcePost = simulation('simulate.force-post', unlinked('settled', forcePost));
export const simulateUnlinkedRefund = simulation('simulate.unlinked-refund', unlinked('refunded', unlinkedRefund));
