/** simulate.challenge, .answer */
import { type Act, cardOf } from '../acting.ts';
import { answer, openChallenge } from '../challenges.ts';
import { Refused } from '../handler.ts';
import { type ChallengeRow, challengeById } from '../store/challenges.ts';
import { saidOf, usual } from './simulate-authorizations.ts';
import { simulation } from './simulated.ts';

const said = ({ status }: ChallengeRow) => (status === 'pending' ? 'open' : status);

export const simulateChallenge = simulation('simulate.challenge', async (act, input) => {
  const { merchant = usual('merchant'), amount } = input;
  const card = await cardOf(act, input.card_id);
  const { challenge } = await openChallenge(act, card, { merchant, amount });
  return { outcome: said(challenge), card_id: card.id, challenge_id: challenge.id };
});

/** With an authorization attached the outcome is what became of that one. */
export const simulateAnswer = simulation('simulate.answer', async (act, input) => {
  const ended = await answer(act, await openOne(act, input.challenge_id), input.answer);
  const { id, card_id } = ended.challenge;
  const outcome = ended.transaction === undefined ? { outcome: said(ended.challenge) } : saidOf(ended.transaction);
  return { ...outcome, card_id, challenge_id: id };
});

async function openOne({ sql, account, now }: Act, id: string): Promise<ChallengeRow> {
  const challenge = await challengeById(sql, account, id);
  if (challenge === undefined) throw new Refused('not_found', `no challenge ${id}`);
  if (challenge.status !== 'pending' || now >= challenge.expires_at) {
    const state = challenge.status === 'pending' ? 'expired' : challenge.status;
    throw new Refused('invalid_request', `challenge ${id} is ${state}: it takes no answer`);
  }
  return challenge;
}
