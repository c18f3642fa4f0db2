/** Statements on `requests`: what was asked of the service, without secrets, the newest of it. */

import type { KeyAccess } from '../../contract/sandbox/state.ts';
import type { Sql, SqlValue } from './sql.ts';

export interface RequestRow {
  readonly request_id: string;
  /** ms UTC on the clock of the sandbox. */
  readonly at: number;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly error: string | null;
  readonly replayed: number;
  readonly fault: string | null;
  readonly idempotency_key: string | null;
  readonly card_id: string | null;
  /** JSON. */
  readonly body: string | null;
  /** Text of the answer, perhaps its beginning alone. */
  readonly answer: string | null;
  /** JSON. */
  readonly request_headers: string | null;
  readonly key_last4: string | null;
  /** Real ms. */
  readonly took: number | null;
  readonly query: string | null;
  readonly body_bytes: number | null;
  /** JSON: parts that are not as they were sent, with the reason. */
  readonly not_kept: string | null;
}

export interface RequestFilter {
  readonly operation?: string | undefined;
  /** ms UTC. */
  readonly since?: number | undefined;
  readonly idempotency_key?: string | undefined;
  readonly card_id?: string | undefined;
  readonly status?: number | undefined;
}

/** Rows that are kept at least; at most `SLACK` more. */
export const KEPT_REQUESTS = 1_000;
const SLACK = 100;

const NAMES = [
  'request_id',
  'at',
  'operation',
  'method',
  'path',
  'status',
  'error',
  'replayed',
  'fault',
  'idempotency_key',
  'card_id',
  'body',
  'answer',
  'request_headers',
  'key_last4',
  'took',
  'query',
  'body_bytes',
  'not_kept',
] as const satisfies readonly (keyof RequestRow)[];
const COLUMNS = NAMES.join(', ');
const REQUESTS = { table: 'requests', columns: ['account_id', 'position', ...NAMES], number: 'position' };

export async function insertRequest(sql: Sql, account: string, row: RequestRow): Promise<void> {
  const position = await sql.next(REQUESTS, account);
  await sql.append(REQUESTS, account, position, ...NAMES.map(name => row[name]));
  if (position % SLACK !== 0) return;
  await sql.run('delete from requests where account_id = ? and position <= ?', account, position - KEPT_REQUESTS);
}

/** Which rows, and how many of the newest of all there are count at most; those that wait to be written push others out. */
interface WantedRequests {
  readonly filter: RequestFilter;
  readonly newest: number;
}

function filtered(account: string, { filter, newest }: WantedRequests): { where: string; values: SqlValue[] } {
  const behind = 'position > (select coalesce(max(position), 0) from requests where account_id = ?) - ?';
  const wanted: readonly (readonly [string, SqlValue | undefined])[] = [
    ['operation = ?', filter.operation],
    ['at >= ?', filter.since],
    ['idempotency_key = ?', filter.idempotency_key],
    ['card_id = ?', filter.card_id],
    ['status = ?', filter.status],
  ];
  const given = wanted.filter((entry): entry is readonly [string, SqlValue] => entry[1] !== undefined);
  return {
    where: ['account_id = ?', behind, ...given.map(([text]) => text)].join(' and '),
    values: [account, account, newest, ...given.map(([, value]) => value)],
  };
}

/** Whether a row is one that a filter asks for, for rows that are in no store yet. */
export function fitsRequest(row: RequestRow, { since, ...wanted }: RequestFilter): boolean {
  const isWanted = Object.entries(wanted).every(
    ([name, value]) => value === undefined || row[name as keyof RequestRow] === value,
  );
  return isWanted && (since === undefined || row.at >= since);
}

export async function countRequests(sql: Sql, account: string, wanted: WantedRequests): Promise<number> {
  const { where, values } = filtered(account, wanted);
  const row = await sql.get<{ total: number }>(`select count(*) as total from requests where ${where}`, ...values);
  return row?.total ?? 0;
}

export const requestById = (sql: Sql, account: string, id: string) =>
  sql.get<RequestRow>(
    `select ${COLUMNS} from requests where account_id = ? and request_id = ? order by position desc limit 1`,
    account,
    id,
  );

/** Newest first. */
export function pageOfRequests(
  sql: Sql,
  account: string,
  { limit, offset, ...wanted }: WantedRequests & { readonly limit: number; readonly offset: number },
): Promise<readonly RequestRow[]> {
  const { where, values } = filtered(account, wanted);
  return sql.all<RequestRow>(
    `select ${COLUMNS} from requests where ${where} order by position desc limit ? offset ?`,
    ...values,
    limit,
    offset,
  );
}

// Statements on `api_keys`: what is kept of a key is its digest, never the key.

export interface ApiKeyRow {
  readonly id: string;
  /** SHA-256 of the key, hexadecimal. */
  readonly digest: string;
  readonly last4: string;
  readonly access: KeyAccess;
  readonly created_at: number;
}

const KEY_COLUMNS = 'id, digest, last4, access, created_at';

export const insertApiKey = (sql: Sql, account: string, row: ApiKeyRow) =>
  sql.run(
    `insert into api_keys (account_id, ${KEY_COLUMNS}) values (?, ?, ?, ?, ?, ?)`,
    account,
    row.id,
    row.digest,
    row.last4,
    row.access,
    row.created_at,
  );

export const allApiKeys = (sql: Sql, account: string) =>
  sql.all<ApiKeyRow>(`select ${KEY_COLUMNS} from api_keys where account_id = ? order by created_at, id`, account);

export const apiKeyByDigest = (sql: Sql, account: string, digest: string) =>
  sql.get<ApiKeyRow>(`select ${KEY_COLUMNS} from api_keys where account_id = ? and digest = ?`, account, digest);

// Statements on `faults`: the rules of docs/design/sandbox.md, section 5. What they say is JSON that SQL never looks into.

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

const RULE_COLUMNS = 'id, position, meets, rule, times, seen, struck, expires_at, created_at';
const CAN_STRIKE = `(times is null or struck < times) and (expires_at is null or expires_at > ?)`;

export const insertFault = (sql: Sql, account: string, row: FaultRow) =>
  sql.run(
    `insert into faults (account_id, ${RULE_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
  sql.all<FaultRow>(`select ${RULE_COLUMNS} from faults where account_id = ? order by position`, account);

export const faultById = (sql: Sql, account: string, id: string) =>
  sql.get<FaultRow>(`select ${RULE_COLUMNS} from faults where account_id = ? and id = ?`, account, id);

/** Those that can still apply at `now`, in the order they were added. */
export const activeFaults = (
  sql: Sql,
  account: string,
  { meets, now }: { readonly meets: FaultRow['meets']; readonly now: number },
) =>
  sql.all<FaultRow>(
    `select ${RULE_COLUMNS} from faults where account_id = ? and meets = ? and ${CAN_STRIKE} order by position`,
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
