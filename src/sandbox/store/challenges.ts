/** Statements on `challenges`. */
import type { Cents } from '../../core/money.ts';
import type { Sql, SqlValue } from './sql.ts';

export interface ChallengeRow {
  readonly id: string;
  readonly card_id: string;
  readonly merchant: string;
  readonly amount: Cents;
  readonly otp: string;
  readonly status: 'pending' | 'approved' | 'failed' | 'expired' | 'cancelled';
  /** Wrong codes so far. */
  readonly attempts: number;
  /** The attached authorization as JSON text, or null. */
  readonly purchase: string | null;
  readonly created_at: number;
  readonly expires_at: number;
}

const COLUMNS = 'id, card_id, merchant, amount, otp, status, attempts, purchase, created_at, expires_at';

export const challengeById = (sql: Sql, account: string, id: string) =>
  sql.get<ChallengeRow>(`select ${COLUMNS} from challenges where account_id = ? and id = ?`, account, id);

export const insertChallenge = (sql: Sql, account: string, row: ChallengeRow) =>
  sql.run(
    `insert into challenges (account_id, ${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    row.id,
    row.card_id,
    row.merchant,
    row.amount,
    row.otp,
    row.status,
    row.attempts,
    row.purchase,
    row.created_at,
    row.expires_at,
  );

export const updateChallenge = (sql: Sql, account: string, row: ChallengeRow) =>
  sql.run(
    'update challenges set status = ?, attempts = ? where account_id = ? and id = ?',
    row.status,
    row.attempts,
    account,
    row.id,
  );

/** Those that can still be answered at `now`, newest first. */
export function openChallenges(
  sql: Sql,
  account: string,
  { now, card_id }: { now: number; card_id?: string | undefined },
): Promise<readonly ChallengeRow[]> {
  const ofCard: SqlValue[] = card_id === undefined ? [] : [card_id];
  return sql.all<ChallengeRow>(
    `select ${COLUMNS} from challenges where account_id = ? and status = 'pending' and expires_at > ?
     ${ofCard.length === 0 ? '' : 'and card_id = ?'} order by created_at desc, id desc`,
    account,
    now,
    ...ofCard,
  );
}

/** All of them, finished ones too, newest first; for the dialect that keeps them listed. */
export const everyChallenge = (sql: Sql, account: string) =>
  sql.all<ChallengeRow>(
    `select ${COLUMNS} from challenges where account_id = ? order by created_at desc, id desc`,
    account,
  );
