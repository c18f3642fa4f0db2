/** challenges.list */
import { wireChallenge } from '../account/objects.ts';
import type { Handlers } from '../calls/handler.ts';
import { openChallenges } from '../store/challenges.ts';

/** Listed if and only if pending and not expired, so that any other status finds nothing. */
export const listChallenges: Handlers['challenges.list'] = async ({ sql, account, now, input }) => {
  const { card_id, status = 'pending' } = input;
  const rows = status === 'pending' ? await openChallenges(sql, account, { now, card_id }) : [];
  return { data: rows.map(wireChallenge), page: {} };
};
