/**
 * Carries out one routed request in one transaction: who asks how often, its name, its idempotency record, its effect.
 * All of it commits together and is answered after, so that a request costs one sync, shared with its turn's others.
 */
import { shapeProblem } from '../contract/check.ts';
import type { Shape } from '../contract/field.ts';
import { LIMITS } from '../contract/limits.ts';
import { centsOf } from '../money.ts';
import { type Admitted, admit, isPlainRead } from './admission.ts';
import { type Answer, isStored, refusedAnswer, replayed, replyAnswer } from './answer.ts';
import type { Call } from './handler.ts';
import { Refused } from './handler.ts';
import { type Claim, claim, finish, LeaseLost, release } from './idempotency.ts';
import type { Allowance } from './limits.ts';
import type { Route } from './routing.ts';
import { catchUp, type ServiceParts, surroundings } from './service.ts';
import type { Steering } from './steering.ts';
import { isBusy, losesAll } from './store/faults.ts';
import type { Sql } from './store/sql.ts';

type Fields = Readonly<Record<string, unknown>>;
type AnyHandler = (call: Call<never>) => Promise<unknown>;

export interface Ask {
  readonly route: Route;
  readonly path: string;
  readonly params: Fields;
  readonly query: Fields;
  /** Fields of the body, or why there are none: said after the request was counted. */
  readonly body: Fields | Refused;
  /** Set where the request has a key that is honoured. */
  readonly keyed: Keying | undefined;
}

/** The idempotency record a request belongs to. */
export interface Keying {
  readonly scope: string;
  readonly fingerprint: string;
  /** Fingerprint of a request under the same key that this process is still working on. */
  readonly rival: string | undefined;
}

export interface Performed {
  readonly requestId: string;
  readonly allowance: Allowance | undefined;
  readonly answer: Answer;
}

/** What was carried out, with an error nobody expected instead of its answer. */
interface Tried extends Pick<Performed, 'requestId' | 'allowance'> {
  readonly answer?: Answer;
  readonly fault?: unknown;
}

/**
 * Throws `StoreBusy` when nothing happened, and `told` errors nobody expected: their effect is undone, the request
 * counted. Everything else, refusals too, is an answer.
 */
export async function perform(parts: ServiceParts, ask: Ask, told: (tried: Tried) => void): Promise<Performed> {
  let tried = await once(parts, ask, true);
  if (tried === 'something is due') {
    await catchUp(parts);
    tried = await once(parts, ask, false);
  }
  if (tried === 'something is due') throw new Error('timers are due that were just fired');
  told(tried);
  const { requestId, allowance } = tried;
  if ('fault' in tried) throw tried.fault;
  const steer = steeringOf(parts, ask);
  if (tried.answer !== undefined) return { requestId, allowance, answer: tried.answer };
  if (steer === undefined) throw new Error(`${ask.route.name} was not carried out`);
  return { requestId, allowance, answer: replyAnswer(ask.route.row, await steer(parts, bodyOf(ask) as never)) };
}

async function once(parts: ServiceParts, ask: Ask, heedsTimers: boolean): Promise<Tried | 'something is due'> {
  const { store, requestNumbers } = parts;
  if (isPlainRead(parts, ask.route)) {
    const number = await requestNumbers.next(parts);
    return store.read(sql => worked(parts, sql, { ask, heedsTimers, number }));
  }
  return store.write(sql => worked(parts, sql, { ask, heedsTimers, number: undefined }));
}

interface Work {
  readonly ask: Ask;
  readonly heedsTimers: boolean;
  readonly number: number | undefined;
}

async function worked(
  parts: ServiceParts,
  sql: Sql,
  { ask, heedsTimers, number }: Work,
): Promise<Tried | 'something is due'> {
  const admitted = await admit(parts, sql, { route: ask.route, scope: ask.keyed?.scope, heedsTimers, number });
  if (admitted === 'something is due') return admitted;
  const { requestId, allowance } = admitted;
  if (allowance?.retryAfter !== undefined) {
    const refused = new Refused('rate_limited', `At most ${allowance.limit} such requests a minute.`);
    return { requestId, allowance, answer: refusedAnswer(refused, requestId) };
  }
  return { requestId, allowance, ...(await attended(parts, sql, { ask, admitted })) };
}

interface Admission {
  readonly ask: Ask;
  readonly admitted: Admitted;
}

type Outcome = { readonly answer?: Answer; readonly refused?: Refused; readonly fault?: unknown };

async function attended(parts: ServiceParts, sql: Sql, { ask, admitted }: Admission): Promise<Outcome> {
  const { requestId } = admitted;
  if (ask.keyed !== undefined) return underKey(parts, sql, { ask, admitted, keyed: ask.keyed });
  if (steeringOf(parts, ask) !== undefined) {
    return carefully(sql, { requestId, writes: false }, async () => void refuseProblem(ask));
  }
  const writes = ask.route.row.method !== 'GET';
  return carefully(sql, { requestId, writes }, async () => {
    refuseProblem(ask);
    return carriedOut(parts, sql, { ask, admitted });
  });
}

/** Runs work so that a refusal or a fault undoes what it did, and nothing else of the transaction. */
async function carefully(
  sql: Sql,
  { requestId, writes }: { requestId: string; writes: boolean },
  work: () => Promise<Answer | undefined>,
): Promise<Outcome> {
  if (writes) await sql.run('savepoint effect');
  try {
    const answer = await work();
    if (writes) await sql.run('release effect');
    return answer === undefined ? {} : { answer };
  } catch (error) {
    // Of these the transaction itself is lost, or must be tried again.
    if (losesAll(error) || isBusy(error)) throw error;
    if (writes) {
      await sql.run('rollback to effect');
      await sql.run('release effect');
    }
    const refused = error instanceof LeaseLost ? inProgress() : error;
    if (refused instanceof Refused) return { refused, answer: refusedAnswer(refused, requestId) };
    return { fault: error };
  }
}

/** Effect and record are one transaction. */
async function underKey(
  parts: ServiceParts,
  sql: Sql,
  { ask, admitted, keyed }: Admission & { readonly keyed: Keying },
): Promise<Outcome> {
  const { requestId, now, real } = admitted;
  const refuse = (refused: Refused): Outcome => ({ answer: refusedAnswer(refused, requestId) });
  if (keyed.rival !== undefined) return refuse(keyed.rival === keyed.fingerprint ? inProgress() : otherBody());
  const problem = problemOf(ask);
  const mine: Claim = {
    account: parts.account,
    scope: keyed.scope,
    fingerprint: keyed.fingerprint,
    owner: parts.owner,
    isGone: parts.isGone,
    token: Buffer.from(parts.random.bytes(16)).toString('hex'),
    now,
    real,
    take: problem === undefined,
  };
  const claimed = await claim(sql, mine);
  if (claimed.kind === 'other-body') return refuse(otherBody());
  if (claimed.kind === 'in-progress') return refuse(inProgress());
  if (claimed.kind === 'replay') return { answer: replayed(claimed.answer) };
  if (claimed.kind !== 'taken') return refuse(problem ?? new Refused('invalid_request', 'The request is not fit.'));
  const idKey = `${claimed.generation} ${keyed.scope}`;
  const outcome = await carefully(sql, { requestId, writes: true }, async () => {
    const answer = await carriedOut(parts, sql, { ask, admitted, idKey });
    await finish(sql, mine, answer);
    return answer;
  });
  if (outcome.refused !== undefined && outcome.answer !== undefined && isStored(outcome.refused)) {
    await finish(sql, mine, outcome.answer);
  } else if (outcome.answer === undefined || outcome.refused !== undefined) {
    await release(sql, mine);
  }
  return outcome;
}

async function carriedOut(
  parts: ServiceParts,
  sql: Sql,
  { ask, admitted, idKey }: Admission & { readonly idKey?: string },
): Promise<Answer> {
  const { surface, name, row } = ask.route;
  const table = (surface === 'admin' ? parts.adminHandlers : parts.handlers) as unknown as Record<string, AnyHandler>;
  const handler = table[name];
  if (handler === undefined) throw new Error(`no handler for ${name}`);
  const input = { ...ask.params, ...ask.query, ...withCents(row.body ?? {}, bodyOf(ask)) };
  const call = { ...surroundings(parts, sql, { ...admitted, key: idKey }), input };
  const reply = await handler(call as unknown as Call<never>);
  return replyAnswer(
    row,
    surface === 'admin' ? { ...(reply as Fields), ...factsFor(row.returns.shape, parts) } : reply,
  );
}

function steeringOf({ steering }: ServiceParts, { route }: Ask) {
  return route.surface === 'admin' ? steering[route.name as keyof Steering] : undefined;
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

/** Throws when the body could not be read. */
function bodyOf({ body }: Ask): Fields {
  if (body instanceof Refused) throw body;
  return body;
}

function problemOf({ route: { row }, params, query, body }: Ask): Refused | undefined {
  if (body instanceof Refused) return body;
  const problem =
    shapeProblem(row.params ?? {}, params) ??
    shapeProblem(row.query ?? {}, query) ??
    shapeProblem(row.body ?? {}, body);
  return problem && new Refused('invalid_request', `${problem.field}: ${problem.text}`);
}

function refuseProblem(ask: Ask): void {
  const problem = problemOf(ask);
  if (problem !== undefined) throw problem;
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

/** the account is part of the record's key already. */
export function scopeOf({ route, path }: Pick<Ask, 'route' | 'path'>, key: string): string {
  return `${route.row.method} ${path} ${key}`;
}

function inProgress(): Refused {
  return new Refused('idempotency_in_progress', 'A request with this idempotency key is still being worked on.');
}

function otherBody(): Refused {
  return new Refused('idempotency_key_reused', 'This idempotency key was used with another body.');
}
