/**
 * Statements on `faults`: the rules of docs/design/sandbox.md, section 5. What they say is JSON that SQL never looks
 * into.
 */
import type { Sql } from './sql.ts';

export interface FaultRow {
  readonly id: string;
  readonly position: number;
  readonly meets: 'requests' | 'deliveries';
  /** The rule as it was given, JSON. */
  readonly rule: string;
  readonly times: number | null;
  readonly seen: number;
  readonly struck: number;
  /** ms UTC on the clock of the sandbox. */
  readonly expires_at: number | null;
  readonly created_at: number;
}

const COLUMNS = 'id, position, meets, rule, times, seen, struck, expires_at, created_at';
const CAN_STRIKE = `(times is null or struck < times) and (expires_at is null or expires_at > ?)`;

export const insertFault = (sql: Sql, account: string, row: FaultRow) =>
  sql.run(
    `insert into faults (account_id, ${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    row.id,
    row.position,
    row.meets,
    row.rule,
    row.times,
    row.seen,
    row.struck,
    row.expires_at,
    row.created_at,
  );

export const allFaults = (sql: Sql, account: string) =>
  sql.all<FaultRow>(`select ${COLUMNS} from faults where account_id = ? order by position`, account);

export const faultById = (sql: Sql, account: string, id: string) =>
  sql.get<FaultRow>(`select ${COLUMNS} from faults where account_id = ? and id = ?`, account, id);

/** Those that can still apply at `now`, in the order they were added. */
export const activeFaults = (
  sql: Sql,
  account: string,
  { meets, now }: { readonly meets: FaultRow['meets']; readonly now: number },
) =>
  sql.all<FaultRow>(
    `select ${COLUMNS} from faults where account_id = ? and meets = ? and ${CAN_STRIKE} order by position`,
    account,
    meets,
    now,
  );

export const countMatch = (sql: Sql, account: string, { id, isApplied }: { id: string; isApplied: boolean }) =>
  sql.run(
    'update faults set seen = seen + 1, struck = struck + ? where account_id = ? and id = ?',
    isApplied ? 1 : 0,
    account,
    id,
  );

export const deleteFault = (sql: Sql, account: string, id: string) =>
  sql.run('delete from faults where account_id = ? and id = ?', account, id);

export const deleteAllFaults = (sql: Sql, account: string) =>
  sql.run('delete from faults where account_id = ?', account);
