/** simulate.challenge, .answer, .challenge-expire, .cancel */
import { timingSafeEqual } from 'node:crypto';
import { type Act, cardOf } from '../account/acting.ts';
import { answer, cancelChallenge, failChallenge, openChallenge } from '../account/challenges.ts';
import { impossible, Refused } from '../calls/handler.ts';
import { type ChallengeRow, challengeById } from '../store/challenges.ts';
import { authorizeOutcome, usual } from './simulate-authorizations.ts';
import { simulation } from './simulated.ts';

const said = ({ status }: ChallengeRow) => (status === 'pending' ? 'open' : status);

/** With `then: authorize`, the right code runs an authorization of the same amount. */
export const simulateChallenge = simulation('simulate.challenge', async (act, input) => {
  const { merchant = usual('merchant'), amount, then = 'nothing' } = input;
  const card = await cardOf(act, input.card_id);
  const purchase = { amount, merchant, mcc: usual('mcc'), country: usual('country') };
  const opened = await openChallenge(act, card, { merchant, amount, ...(then === 'authorize' && { purchase }) });
  const made = { card_id: card.id, challenge_id: opened.challenge.id };
  return opened.transaction === undefined
    ? { outcome: said(opened.challenge), ...made }
    : { ...authorizeOutcome(opened.transaction), ...made };
});

/** With an authorization attached the outcome is what became of that one. */
export const simulateAnswer = simulation('simulate.answer', async (act, input) => {
  const { otp, answer: given } = input;
  if ((otp === undefined) === (given === undefined)) {
    throw new Refused('invalid_request', 'one of otp and answer is needed');
  }
  const challenge = await openOne(act, input.challenge_id);
  const code = given ?? (isCode(otp ?? '', challenge.otp) ? 'right' : 'wrong');
  const ended = await answer(act, challenge, code);
  const { id, card_id } = ended.challenge;
  const outcome =
    ended.transaction === undefined ? { outcome: said(ended.challenge) } : authorizeOutcome(ended.transaction);
  return { ...outcome, card_id, challenge_id: id };
});

/** An attached authorization declines `three_ds_failed`. */
export const simulateChallengeExpire = simulation('simulate.challenge-expire', async (act, { challenge_id }) => {
  const challenge = await openOne(act, challenge_id);
  const { transaction } = await failChallenge(act, challenge, 'expired');
  const made = { card_id: challenge.card_id, challenge_id };
  return transaction === undefined ? { outcome: 'expired', ...made } : { ...authorizeOutcome(transaction), ...made };
});

/** Nothing is recorded, an attached authorization neither. */
export const simulateCancel = simulation('simulate.cancel', async (act, { challenge_id }) => {
  const { card_id } = await cancelChallenge(act, await openOne(act, challenge_id));
  return { outcome: 'cancelled', card_id, challenge_id };
});

/** Compared in constant time, as a code that lets money go should be. */
function isCode(given: string, code: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(code)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function openOne({ sql, account, now }: Act, id: string): Promise<ChallengeRow> {
  const challenge = await challengeById(sql, account, id);
  if (challenge === undefined) throw new Refused('not_found', `no challenge ${id}`);
  if (challenge.status !== 'pending' || now >= challenge.expires_at) {
    const state = challenge.status === 'pending' ? 'expired' : challenge.status;
    throw impossible(`challenge ${id} is ${state}, not pending: it takes no answer`);
  }
  return challenge;
}
