/** Statements on `requests`: what was asked of the service, without secrets, the newest of it. */

import type { KeyAccess } from '../../contract/sandbox/state.ts';
import { listed, type Page, type Sql } from './sql.ts';

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

export function insertRequest(sql: Sql, row: RequestRow): void {
  const position = sql.insert('requests', row);
  if (position % SLACK === 0) sql.run('delete from requests where position <= ?', position - KEPT_REQUESTS);
}

/** Which rows, and how many of the newest of all there are count at most; those that wait to be written push others out. */
interface WantedRequests {
  readonly filter: RequestFilter;
  readonly newest: number;
}

/** Whether a row is one that a filter asks for, for rows that are in no store yet. */
export function fitsRequest(row: RequestRow, { since, ...wanted }: RequestFilter): boolean {
  const isWanted = Object.entries(wanted).every(
    ([name, value]) => value === undefined || row[name as keyof RequestRow] === value,
  );
  return isWanted && (since === undefined || row.at >= since);
}

export const requestById = (sql: Sql, id: string) =>
  sql.get<RequestRow>('select * from requests where request_id = ? order by position desc limit 1', id);

/** A page, newest first. */
export function pageOfRequests(sql: Sql, { filter, newest }: WantedRequests, page: Page) {
  const { operation, since, idempotency_key, card_id, status } = filter;
  const wanted = {
    'position > (select coalesce(max(position), 0) from requests) - ?': newest,
    'operation = ?': operation,
    'at >= ?': since,
    'idempotency_key = ?': idempotency_key,
    'card_id = ?': card_id,
    'status = ?': status,
  };
  return listed<RequestRow>(sql, { from: 'requests', wanted, order: 'position desc' }, page);
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

export const allApiKeys = (sql: Sql) => sql.all<ApiKeyRow>('select * from api_keys order by created_at, id');

export const apiKeyByDigest = (sql: Sql, digest: string) =>
  sql.get<ApiKeyRow>('select * from api_keys where digest = ?', digest);

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

/** Those that can still apply at `now`, in the order they were added. */
export const activeFaults = (sql: Sql, { meets, now }: { readonly meets: FaultRow['meets']; readonly now: number }) =>
  sql.all<FaultRow>(
    `select * from faults where meets = ? and (times is null or struck < times)
       and (expires_at is null or expires_at > ?) order by position`,
    meets,
    now,
  );

export const countMatch = (sql: Sql, { id, isApplied }: { id: string; isApplied: boolean }) =>
  sql.run('update faults set seen = seen + 1, struck = struck + ? where id = ?', isApplied ? 1 : 0, id);
