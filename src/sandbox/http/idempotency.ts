/**
 * Idempotency records: looked up and kept in the one transaction of the effect, which holds the write
 * lock of the store from its beginning. So one key has one effect and one answer, whoever else asks.
 */
import { hash } from 'node:crypto';
import { KEY_RETENTION } from '../../contract/spans.ts';
import type { IDEMPOTENCY, RowOf } from '../store/schema.ts';
import type { Sql } from '../store/sql.ts';
import type { Answer } from './answer.ts';

/** A request under its key. */
interface Keyed {
  /** Method, path and key. */
  readonly scope: string;
  readonly fingerprint: string;
  /** ms UTC on the clock of the sandbox; records end by it. */
  readonly now: number;
}

type Found =
  | { readonly kind: 'other-body' }
  /** Nothing was done under it; `generation` goes up when an expired key is used again, whose record is there. */
  | { readonly kind: 'free'; readonly generation: number }
  | { readonly kind: 'replay'; readonly answer: Answer };

type Row = RowOf<typeof IDEMPOTENCY>;

/** What was done under the key so far. Answers whose time is over are forgotten on the way. */
export function findRecord(sql: Sql, { scope, fingerprint, now }: Keyed): Found {
  forgetExpired(sql, now);
  const row = sql.get<Row>('select * from idempotency where scope = ?', scope);
  if (row === undefined) return { kind: 'free', generation: 0 };
  // An expired key gives new ids, or they would be given out twice.
  if (row.state === 'expired' || (row.expires_at ?? 0) <= now) return { kind: 'free', generation: row.generation + 1 };
  return row.fingerprint === fingerprint ? { kind: 'replay', answer: answerIn(row) } : { kind: 'other-body' };
}

/** Keeps the answer to be repeated, in the transaction of the effect. */
export function keepAnswer(
  sql: Sql,
  { scope, fingerprint, now }: Keyed,
  { generation, answer }: { readonly generation: number; readonly answer: Answer },
): void {
  const { status, body } = answer;
  const headers = JSON.stringify(answer.headers);
  const record = { fingerprint, state: 'done', generation, status, headers, body, expires_at: now + KEY_RETENTION };
  if (generation === 0) sql.insert('idempotency', { scope, ...record });
  else sql.update('idempotency', { scope }, record);
}

/** SHA-256 of method, path and canonical JSON. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  return hash('sha256', `${method} ${path}\n${canonical(body)}`, 'hex');
}

/** JSON with the keys of every object in order, so that their order makes no other body. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  const parts = Object.keys(fields)
    .sort()
    .map(key => `${JSON.stringify(key)}:${canonical(fields[key])}`);
  return `{${parts.join(',')}}`;
}

function forgetExpired(sql: Sql, now: number): void {
  const first = sql.get<{ first_end: number | null }>(
    "select min(expires_at) as first_end from idempotency where state = 'done'",
  );
  if ((first?.first_end ?? Number.POSITIVE_INFINITY) > now) return;
  sql.run(
    `update idempotency set state = 'expired', headers = null, body = null
     where state = 'done' and expires_at <= ?`,
    now,
  );
}

function answerIn(row: Row): Answer {
  const headers = JSON.parse(row.headers ?? '{}') as Record<string, string>;
  return { status: row.status ?? 0, headers, body: row.body ?? '' };
}
