/** Carries out one routed request: checks its input, runs its handler in a transaction, keeps its idempotency record. */
import { shapeProblem } from '../contract/check.ts';
import type { Shape } from '../contract/field.ts';
import { LIMITS } from '../contract/limits.ts';
import { centsOf } from '../money.ts';
import { type Answer, isStored, refusalAnswer, replayed, replyAnswer } from './answer.ts';
import { sandboxNow } from './clock.ts';
import type { Call } from './handler.ts';
import { Refused } from './handler.ts';
import { type Claim, claim, fingerprintOf, finish, LeaseLost, release } from './idempotency.ts';
import type { Route } from './routing.ts';
import { type ServiceParts, surroundings } from './service.ts';
import { StoreBroken } from './store/faults.ts';
import { type Sql, StoreBusy } from './store/sql.ts';

type Fields = Readonly<Record<string, unknown>>;
type AnyHandler = (call: Call<never>) => Promise<unknown>;

export interface Ask {
  readonly route: Route;
  readonly path: string;
  readonly params: Fields;
  readonly query: Fields;
  readonly body: Fields;
  /** Idempotency key, only where it is honoured. */
  readonly key: string | undefined;
  readonly requestId: string;
}

/** Throws `Refused` for a definite no that is not stored, `StoreBusy` when nothing happened. */
export async function perform(parts: ServiceParts, ask: Ask): Promise<Answer> {
  const { store } = parts;
  if (ask.key !== undefined) return performKeyed(parts, ask, ask.key);
  refuseProblem(ask);
  const work = (sql: Sql) => carriedOut(parts, sql, ask);
  return ask.route.row.method === 'GET' ? store.read(work) : store.write(work);
}

/** The key a request is to be kept under; undefined where none is honoured. Throws `invalid_request`. */
export function honouredKey(route: Route, header: string | undefined): string | undefined {
  if (header === undefined || route.surface === 'admin' || route.row.method !== 'POST') return undefined;
  if (/^[\x20-\x7e]+$/.test(header) && header.length <= LIMITS.idempotencyKey.max) return header;
  throw new Refused(
    'invalid_request',
    `An idempotency key has 1 to ${LIMITS.idempotencyKey.max} printable ASCII characters.`,
  );
}

async function performKeyed(parts: ServiceParts, ask: Ask, key: string): Promise<Answer> {
  const { store, account, clock, random, owner, isGone } = parts;
  const { method } = ask.route.row;
  const base = {
    account,
    scope: scopeOf(ask, key),
    fingerprint: fingerprintOf(method, ask.path, ask.body),
    owner,
    isGone,
    token: Buffer.from(random.bytes(16)).toString('hex'),
    real: clock.now(),
    take: problemOf(ask) === undefined,
  };
  const claimed = await store.write(async sql =>
    claim(sql, { ...base, now: await sandboxNow(sql, account, clock.now()) }),
  );
  switch (claimed.kind) {
    case 'absent':
      refuseProblem(ask);
      throw new Error('a request was neither fit nor unfit');
    case 'other-body':
      throw new Refused('idempotency_key_reused', 'This idempotency key was used with another body.');
    case 'in-progress':
      throw inProgress();
    case 'replay':
      return replayed(claimed.answer);
    default:
      return performClaimed(parts, ask, { claim: base, idKey: `${claimed.generation} ${base.scope}` });
  }
}

/** Does the work under a record of ours; effect and record are one transaction. */
async function performClaimed(
  parts: ServiceParts,
  ask: Ask,
  mine: { claim: Omit<Claim, 'now'>; idKey: string },
): Promise<Answer> {
  const { store } = parts;
  try {
    return await store.write(async sql => {
      const now = await sandboxNow(sql, parts.account, parts.clock.now());
      const held: Claim = { ...mine.claim, now };
      const { answer, kept } = await attempt(parts, sql, { ask, idKey: mine.idKey });
      if (kept) await finish(sql, held, answer);
      else await release(sql, held);
      return answer;
    });
  } catch (error) {
    if (error instanceof LeaseLost) throw inProgress();
    if (!(error instanceof StoreBroken)) await giveBack(parts, { ...mine.claim, now: 0 });
    throw error;
  }
}

/** Runs the handler in a savepoint: a refusal undoes the effect and leaves the record. */
async function attempt(parts: ServiceParts, sql: Sql, { ask, idKey }: { ask: Ask; idKey: string }) {
  await sql.run('savepoint effect');
  try {
    const answer = await carriedOut(parts, sql, ask, idKey);
    await sql.run('release effect');
    return { answer, kept: true };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    await sql.run('rollback to effect');
    await sql.run('release effect');
    return { answer: refusalAnswer(error.refusal, error.message, ask.requestId), kept: isStored(error) };
  }
}

async function giveBack({ store }: ServiceParts, held: Claim): Promise<void> {
  try {
    await store.write(sql => release(sql, held));
  } catch (error) {
    // Still busy: the lease ends by itself.
    if (!(error instanceof StoreBusy)) throw error;
  }
}

async function carriedOut(parts: ServiceParts, sql: Sql, ask: Ask, idKey?: string): Promise<Answer> {
  const { surface, name, row } = ask.route;
  const table = (surface === 'admin' ? parts.adminHandlers : parts.handlers) as unknown as Record<string, AnyHandler>;
  const handler = table[name];
  if (handler === undefined) throw new Error(`no handler for ${name}`);
  const input = { ...ask.params, ...ask.query, ...withCents(row.body ?? {}, ask.body) };
  const call = { ...(await surroundings(parts, sql, idKey)), input };
  const reply = await handler(call as unknown as Call<never>);
  return replyAnswer(
    row,
    surface === 'admin' ? { ...(reply as Fields), ...factsFor(row.returns.shape, parts) } : reply,
  );
}

/** What the admin surface tells about the server; handlers know only the store's content. */
function factsFor(shape: Shape, { version, store }: ServiceParts): Fields {
  return {
    ...(Object.hasOwn(shape, 'version') && { version }),
    ...(Object.hasOwn(shape, 'store') && { store: store.path }),
  };
}

/** JSON numbers of USD become integer cents here and nowhere else. */
function withCents(shape: Shape, body: Fields): Fields {
  const converted = Object.entries(body).map(([name, value]) => {
    const isMoney = Object.hasOwn(shape, name) && shape[name]?.kind === 'money' && typeof value === 'number';
    return [name, isMoney ? centsOf(value) : value];
  });
  return Object.fromEntries(converted);
}

function problemOf({ route: { row }, params, query, body }: Ask) {
  return (
    shapeProblem(row.params ?? {}, params) ?? shapeProblem(row.query ?? {}, query) ?? shapeProblem(row.body ?? {}, body)
  );
}

function refuseProblem(ask: Ask): void {
  const problem = problemOf(ask);
  if (problem !== undefined) throw new Refused('invalid_request', `${problem.field}: ${problem.text}`);
}

/** the account is part of the record's key already. */
export function scopeOf({ route, path }: Pick<Ask, 'route' | 'path'>, key: string): string {
  return `${route.row.method} ${path} ${key}`;
}

function inProgress(): Refused {
  return new Refused('idempotency_in_progress', 'A request with this idempotency key is still being worked on.');
}
