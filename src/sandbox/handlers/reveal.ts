/** cards.reveal, challenges.reveal: what is secret, shown in the page to whoever confirms that he means it. */

import { Secret } from '../../core/secret.ts';
import { livingCard } from '../account/acting.ts';
import { type AdminHandlers, Refused } from '../calls/handler.ts';
import { challengeById } from '../store/challenges.ts';
import { cardDetails } from './cards.ts';

export const revealCard: AdminHandlers['cards.reveal'] = async call => {
  const { last4 } = await livingCard(call, call.input.card_id);
  if (last4 !== call.input.last4) {
    throw new Refused('invalid_request', 'last4: these are not the last four digits of this card');
  }
  const { number, cvv, exp_month, exp_year } = await cardDetails(call);
  return { number, cvv, exp_month, exp_year };
};

export const revealCode: AdminHandlers['challenges.reveal'] = async ({ sql, account, input: { challenge_id: id } }) => {
  const challenge = await challengeById(sql, account, id);
  if (challenge === undefined) throw new Refused('not_found', `no challenge ${id}`);
  return { otp: new Secret(challenge.otp) };
};
