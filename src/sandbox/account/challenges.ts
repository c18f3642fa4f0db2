/** 3DS challenges: opened, answered, run out (docs/design/sandbox.md, section 9). */
import { CHALLENGE_ATTEMPTS, CHALLENGE_LIFE } from '../../contract/spans.ts';
import type { Cents } from '../../core/money.ts';
import { schedule, unschedule } from '../clock/timers.ts';
import { isExpired } from '../rules/dates.ts';
import type { CardRow } from '../store/cards.ts';
import { type ChallengeRow, insertChallenge, updateChallenge } from '../store/challenges.ts';
import type { TransactionRow } from '../store/transactions.ts';
import { type Act, cardOf } from './acting.ts';
import { authorize, decline, type Purchase } from './authorizations.ts';
import { wireChallenge } from './objects.ts';

export const CHALLENGE_EXPIRY = 'challenge.expiry';

export interface Opening {
  readonly merchant: string;
  readonly amount: Cents;
  /** Authorization that runs when the right code comes. */
  readonly purchase?: Purchase;
  /** ms; a data set gives its open challenge a longer one. */
  readonly life?: number;
}

export interface Ended {
  readonly challenge: ChallengeRow;
  /** What became of the attached authorization, when there is one. */
  readonly transaction?: TransactionRow | undefined;
}

/** Pending on an active, unexpired card; failed on any other, where the attached authorization declines at once. */
export async function openChallenge(act: Act, card: CardRow, opening: Opening): Promise<Ended> {
  const { sql, account, now, idSource } = act;
  const { life = CHALLENGE_LIFE } = opening;
  const id = await idSource.id('tds');
  const challenge: ChallengeRow = {
    id,
    card_id: card.id,
    merchant: opening.merchant,
    amount: opening.amount,
    otp: await idSource.digits('otp', 6),
    status: card.status === 'active' && !isExpired(card, now) ? 'pending' : 'failed',
    attempts: 0,
    purchase: opening.purchase === undefined ? null : JSON.stringify(opening.purchase),
    created_at: now,
    expires_at: now + life,
  };
  await insertChallenge(sql, account, challenge);
  if (challenge.status === 'failed') return { challenge, transaction: await runAttached(act, challenge) };
  await schedule(sql, { account, kind: CHALLENGE_EXPIRY, ref: id, dueAt: challenge.expires_at });
  await act.emit('3ds.challenge', wireChallenge(challenge));
  return { challenge };
}

/** Answers a pending challenge. The right code runs the attached authorization, the third wrong one declines it. */
export async function answer(act: Act, challenge: ChallengeRow, code: 'right' | 'wrong'): Promise<Ended> {
  if (code === 'right') {
    const approved = await finish(act, { ...challenge, status: 'approved' });
    return { challenge: approved, transaction: await runAttached(act, approved) };
  }
  const attempts = challenge.attempts + 1;
  if (attempts >= CHALLENGE_ATTEMPTS) return failChallenge(act, { ...challenge, attempts }, 'failed');
  const wrong: ChallengeRow = { ...challenge, attempts };
  await updateChallenge(act.sql, act.account, wrong);
  return { challenge: wrong };
}

/** Ends a pending challenge without the right code; the attached authorization declines `three_ds_failed`. */
export async function failChallenge(act: Act, challenge: ChallengeRow, status: 'failed' | 'expired'): Promise<Ended> {
  const ended = await finish(act, { ...challenge, status });
  const purchase = attachedTo(ended);
  if (purchase === undefined) return { challenge: ended };
  const card = await cardOf(act, ended.card_id);
  const declined = { ...purchase, reason: 'three_ds_failed' } as const;
  const judged = { asking: { ...purchase, forced: undefined, challengeFailed: true } };
  return { challenge: ended, transaction: await decline(act, card, declined, judged) };
}

/** Ends a pending challenge because the card holder gave up: nothing is recorded, nothing is tried. */
export function cancelChallenge(act: Act, challenge: ChallengeRow): Promise<ChallengeRow> {
  return finish(act, { ...challenge, status: 'cancelled' });
}

async function finish({ sql, account }: Act, challenge: ChallengeRow): Promise<ChallengeRow> {
  await updateChallenge(sql, account, challenge);
  await unschedule(sql, { account, kind: CHALLENGE_EXPIRY, ref: challenge.id });
  return challenge;
}

async function runAttached(act: Act, challenge: ChallengeRow): Promise<TransactionRow | undefined> {
  const purchase = attachedTo(challenge);
  if (purchase === undefined) return undefined;
  return authorize(act, await cardOf(act, challenge.card_id), {
    ...purchase,
    challengeFailed: challenge.status !== 'approved',
  });
}

function attachedTo({ purchase }: ChallengeRow): Purchase | undefined {
  return purchase === null ? undefined : (JSON.parse(purchase) as Purchase);
}
