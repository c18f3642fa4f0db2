/**
 * Idempotency records (A-90 to A-99): `running` stands in a short transaction of its own before the work, `done` is
 * committed with the effect, only by whoever still holds the lease. So one key has one effect and one answer.
 */
import { hash } from 'node:crypto';
import type { Sql } from './store/sql.ts';

/** A request under its key. */
export interface Keyed {
  readonly account: string;
  /** Method, path and key (A-91). */
  readonly scope: string;
  readonly fingerprint: string;
}

export interface Claim extends Keyed {
  /** ms UTC on the clock of the sandbox; records end by it. */
  readonly now: number;
  /** Real time, ms UTC; leases end by it. */
  readonly real: number;
  /** The process that does the work, see owner.ts. */
  readonly owner: string;
  readonly token: string;
  readonly isGone: (owner: string) => boolean;
  /** False to look only: the request is not fit to be worked on. */
  readonly take: boolean;
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Exact text of the body. */
  readonly body: string;
}

export type Claimed =
  | { readonly kind: 'absent' | 'other-body' | 'in-progress' }
  /** Ours to do; `generation` goes up when an expired key is used again. */
  | { readonly kind: 'taken'; readonly generation: number }
  | { readonly kind: 'replay'; readonly answer: StoredAnswer };

interface Row {
  readonly fingerprint: string;
  readonly state: 'running' | 'done' | 'expired';
  readonly generation: number;
  readonly owner: string;
  readonly lease_until: number;
  readonly status: number | null;
  readonly headers: string | null;
  readonly body: string | null;
}

/** How long a finished answer is repeated, on the clock of the sandbox (A-93). */
const RETENTION = 24 * 3_600_000;
const LEASE = 30_000;

/** Somebody else took the record over; the effect must not be committed. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Looks the key up and, if it is free or left behind, takes it. */
export async function claim(sql: Sql, ask: Claim): Promise<Claimed> {
  await forgetExpired(sql, ask);
  const row = await sql.get<Row>(
    `select fingerprint, state, generation, owner, lease_until, status, headers, body
     from idempotency where account_id = ? and scope = ?`,
    ask.account,
    ask.scope,
  );
  if (row !== undefined && row.state !== 'expired') {
    if (row.fingerprint !== ask.fingerprint) return { kind: 'other-body' };
    if (row.state === 'done') return { kind: 'replay', answer: answerIn(row) };
    if (row.lease_until > ask.real && !ask.isGone(row.owner)) return { kind: 'in-progress' };
  }
  if (!ask.take) return { kind: 'absent' };
  // An expired key gives new ids, or they would be given out twice.
  const generation = row === undefined ? 0 : row.generation + (row.state === 'expired' ? 1 : 0);
  await sql.run(
    `insert into idempotency (account_id, scope, fingerprint, state, generation, owner, lease_token, lease_until)
     values (?, ?, ?, 'running', ?, ?, ?, ?)
     on conflict (account_id, scope) do update set fingerprint = excluded.fingerprint, state = excluded.state,
       generation = excluded.generation, owner = excluded.owner, lease_token = excluded.lease_token,
       lease_until = excluded.lease_until, status = null, headers = null, body = null, expires_at = null`,
    ask.account,
    ask.scope,
    ask.fingerprint,
    generation,
    ask.owner,
    ask.token,
    ask.real + LEASE,
  );
  return { kind: 'taken', generation };
}

/** Stores the answer in the transaction of the effect (A-99). Throws `LeaseLost` when the record is ours no more. */
export async function finish(sql: Sql, ask: Claim, answer: StoredAnswer): Promise<void> {
  const changed = await sql.run(
    `update idempotency set state = 'done', status = ?, headers = ?, body = ?, expires_at = ?
     where account_id = ? and scope = ? and lease_token = ? and state = 'running'`,
    answer.status,
    JSON.stringify(answer.headers),
    answer.body,
    ask.now + RETENTION,
    ask.account,
    ask.scope,
    ask.token,
  );
  if (changed !== 1) throw new LeaseLost('the idempotency record was taken over');
}

/** Gives the key back: nothing happened, or the answer is of a kind that is not kept (A-97). */
export async function release(sql: Sql, ask: Claim): Promise<void> {
  // The row stays, so that an earlier generation's ids are not given out again.
  await sql.run(
    `update idempotency set state = 'expired', generation = generation - 1
     where account_id = ? and scope = ? and lease_token = ? and state = 'running'`,
    ask.account,
    ask.scope,
    ask.token,
  );
}

/** SHA-256 of method, path and canonical JSON (A-92). */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  return hash('sha256', `${method} ${path}\n${canonical(body)}`, 'hex');
}

/** JSON with the keys of every object in order, so that their order makes no other body. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const parts = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${parts.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join(',')}}`;
}

async function forgetExpired(sql: Sql, { account, now }: Claim): Promise<void> {
  // Looking is cheap; an update builds a list of its rows first, even of none.
  const first = await sql.get(
    "select scope from idempotency where account_id = ? and state = 'done' and expires_at <= ? limit 1",
    account,
    now,
  );
  if (first === undefined) return;
  await sql.run(
    `update idempotency set state = 'expired', headers = null, body = null
     where account_id = ? and state = 'done' and expires_at <= ?`,
    account,
    now,
  );
}

function answerIn(row: Row): StoredAnswer {
  const headers = JSON.parse(row.headers ?? '{}') as Record<string, string>;
  return { status: row.status ?? 0, headers, body: row.body ?? '' };
}
