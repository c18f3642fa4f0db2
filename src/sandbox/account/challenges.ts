/** 3DS challenges: opened, answered, run out (docs/design/sandbox.md, section 9). */
import { CHALLENGE_ATTEMPTS, CHALLENGE_LIFE } from '../../contract/spans.ts';
import { schedule, type TimerActions, unschedule } from '../clock/clock.ts';
import { isExpired } from '../rules/dates.ts';
import { blockInterval, COINS, cryptoAmount } from '../rules/money.ts';
import type { CardRow, ChallengeRow, DepositRow, TransactionRow } from '../store/rows.ts';
import { AUTHORIZATION_EXPIRY, authorize, decline, type Purchase, release } from './authorizations.ts';
import { type Act, cardOf, post } from './ledger.ts';
import { wireChallenge, wireDeposit } from './wire.ts';

const CHALLENGE_EXPIRY = 'challenge.expiry';

interface Opening extends Pick<ChallengeRow, 'merchant' | 'amount'> {
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
export function openChallenge(act: Act, card: CardRow, opening: Opening): Ended {
  const { sql, now, idSource } = act;
  const { life = CHALLENGE_LIFE } = opening;
  const id = idSource.id('tds');
  const challenge: ChallengeRow = {
    id,
    card_id: card.id,
    merchant: opening.merchant,
    amount: opening.amount,
    otp: idSource.digits('otp', 6),
    status: card.status === 'active' && !isExpired(card, now) ? 'pending' : 'failed',
    attempts: 0,
    purchase: opening.purchase === undefined ? null : JSON.stringify(opening.purchase),
    created_at: now,
    expires_at: now + life,
  };
  sql.insert('challenges', challenge);
  if (challenge.status === 'failed') return { challenge, transaction: runAttached(act, challenge) };
  schedule(sql, { kind: CHALLENGE_EXPIRY, ref: id, due_at: challenge.expires_at });
  act.emit('3ds.challenge', wireChallenge(challenge));
  return { challenge };
}

/** Answers a pending challenge. The right code runs the attached authorization, the third wrong one declines it. */
export function answer(act: Act, challenge: ChallengeRow, code: 'right' | 'wrong'): Ended {
  if (code === 'right') {
    const approved = finish(act, challenge, 'approved');
    return { challenge: approved, transaction: runAttached(act, approved) };
  }
  const attempts = challenge.attempts + 1;
  if (attempts >= CHALLENGE_ATTEMPTS) return failChallenge(act, { ...challenge, attempts }, 'failed');
  return { challenge: act.sql.change('challenges', challenge, { attempts }) };
}

/** Ends a pending challenge without the right code; the attached authorization declines `three_ds_failed`. */
export function failChallenge(act: Act, challenge: ChallengeRow, status: 'failed' | 'expired'): Ended {
  const ended = finish(act, challenge, status);
  const purchase = attachedTo(ended);
  if (purchase === undefined) return { challenge: ended };
  const card = cardOf(act, ended.card_id);
  const declined = { ...purchase, reason: 'three_ds_failed' } as const;
  const judged = { request: { ...purchase, forced: undefined, challengeFailed: true } };
  return { challenge: ended, transaction: decline(act, card, declined, judged) };
}

/** Ends a pending challenge; what is attached to it is the caller's. */
export function finish({ sql }: Act, challenge: ChallengeRow, status: ChallengeRow['status']): ChallengeRow {
  unschedule(sql, { kind: CHALLENGE_EXPIRY, ref: challenge.id });
  return sql.change('challenges', challenge, { status, attempts: challenge.attempts });
}

function runAttached(act: Act, challenge: ChallengeRow): TransactionRow | undefined {
  const purchase = attachedTo(challenge);
  if (purchase === undefined) return undefined;
  return authorize(act, cardOf(act, challenge.card_id), {
    ...purchase,
    challengeFailed: challenge.status !== 'approved',
  });
}

function attachedTo({ purchase }: ChallengeRow): Purchase | undefined {
  return purchase === null ? undefined : (JSON.parse(purchase) as Purchase);
}

// Crypto deposits: seen, counted, credited exactly once (docs/design/sandbox.md, section 9).

const DEPOSIT_CONFIRMATION = 'deposit.confirmation';

interface Detected extends Pick<DepositRow, 'currency' | 'amount'> {
  /** `manual` stays pending until it is confirmed by hand; else a confirmation comes with every block. */
  readonly confirmations?: 'timed' | 'manual';
}

/** A deposit is seen; its USD value is fixed now. */
export function detectDeposit(act: Act, { currency, amount, confirmations }: Detected): DepositRow {
  const { sql, now, idSource } = act;
  const id = idSource.id('dep');
  const [chain] = COINS[currency].networks;
  const row: DepositRow = {
    id,
    currency,
    network: chain.name,
    crypto_amount: cryptoAmount(currency, amount),
    amount,
    status: 'pending',
    tx_hash: idSource.digits('tx', 64),
    confirmations: 0,
    required_confirmations: chain.confirmations,
    created_at: now,
    confirmed_at: null,
  };
  sql.insert('deposits', row);
  if (confirmations !== 'manual') awaitBlock(act, row);
  act.emit('deposit.pending', wireDeposit(row));
  return row;
}

/** Blocks on top of a pending deposit; the last one needed credits it. A timer that is set stays as it is. */
export function countConfirmations(act: Act, deposit: DepositRow, add: number): DepositRow {
  const confirmations = deposit.confirmations + add;
  if (confirmations >= deposit.required_confirmations) return confirmDeposit(act, deposit);
  return act.sql.change('deposits', deposit, { confirmations });
}

/** A pending deposit that never comes: it is not credited and no block counts for it any more. */
export function failDeposit({ sql }: Act, deposit: DepositRow): DepositRow {
  unschedule(sql, { kind: DEPOSIT_CONFIRMATION, ref: deposit.id });
  return sql.change('deposits', deposit, { status: 'failed' });
}

/** Credits a pending deposit to the wallet. */
export function confirmDeposit(act: Act, deposit: DepositRow): DepositRow {
  const { sql, now } = act;
  const { amount } = deposit;
  const confirmed = { status: 'confirmed', confirmations: deposit.required_confirmations, confirmed_at: now } as const;
  const row = sql.change('deposits', deposit, confirmed);
  unschedule(sql, { kind: DEPOSIT_CONFIRMATION, ref: row.id });
  post(sql, { kind: 'deposit', ref: row.id, at: now, moves: { crypto: -amount, wallet: amount } });
  act.emit('deposit.confirmed', wireDeposit(row));
  return row;
}

function awaitBlock({ sql, now }: Act, { id, currency, network }: DepositRow): void {
  schedule(sql, { kind: DEPOSIT_CONFIRMATION, ref: id, due_at: now + blockInterval(currency, network) });
}

// What happens by itself (docs/design/sandbox.md, section 6), under the same rules as what is asked for.

export const TIMER_ACTIONS = {
  [AUTHORIZATION_EXPIRY]: call => {
    const row = call.sql.row('transactions', { id: call.ref, type: 'authorization' });
    if (row?.status === 'pending') release(call, row, { amount: row.held, ending: 'expired' });
  },
  [CHALLENGE_EXPIRY]: call => {
    const row = call.sql.row('challenges', { id: call.ref });
    if (row?.status === 'pending') failChallenge(call, row, 'expired');
  },
  /** A block on top of a pending deposit; the next one is awaited. */
  [DEPOSIT_CONFIRMATION]: call => {
    const deposit = call.sql.row('deposits', { id: call.ref });
    if (deposit?.status !== 'pending') return;
    const row = countConfirmations(call, deposit, 1);
    if (row.status === 'pending') awaitBlock(call, row);
  },
} as const satisfies TimerActions;
