/** What happens by itself (docs/design/sandbox.md, section 6), under the same rules as what is asked for. */

import type { TimerActions, TimerCall } from '../clock/timers.ts';
import { challengeById } from '../store/challenges.ts';
import { depositById } from '../store/deposits.ts';
import { authorizationById } from '../store/transactions.ts';
import { AUTHORIZATION_EXPIRY, release } from './authorizations.ts';
import { CHALLENGE_EXPIRY, failChallenge } from './challenges.ts';
import { countBlock, DEPOSIT_CONFIRMATION } from './deposits.ts';

async function expireAuthorization(call: TimerCall): Promise<void> {
  const row = await authorizationById(call.sql, call.account, call.ref);
  if (row?.status === 'pending') await release(call, row, { amount: row.held, ending: 'expired' });
}

async function expireChallenge(call: TimerCall): Promise<void> {
  const row = await challengeById(call.sql, call.account, call.ref);
  if (row?.status === 'pending') await failChallenge(call, row, 'expired');
}

async function addConfirmation(call: TimerCall): Promise<void> {
  const row = await depositById(call.sql, call.account, call.ref);
  if (row?.status === 'pending') await countBlock(call, row);
}

export const TIMER_ACTIONS = {
  [AUTHORIZATION_EXPIRY]: expireAuthorization,
  [CHALLENGE_EXPIRY]: expireChallenge,
  [DEPOSIT_CONFIRMATION]: addConfirmation,
} as const satisfies TimerActions;
