/**
 * Carries out one routed request in one transaction: who asks how often, its name, its idempotency record, its effect.
 * All of it commits together and is answered after, so that a request costs one sync, shared with its turn's others.
 */
import type { Shape } from '../contract/field.ts';
import { type Admitted, admit, isPlainRead } from './admission.ts';
import { type Answer, isStored, refusedAnswer, replayed, replyAnswer } from './answer.ts';
import { type Ask, bodyOf, type Fields, type Keying, type Passed, problemOf, refuseProblem, withCents } from './ask.ts';
import { Gone } from './body.ts';
import { strikeOf } from './faults/rules.ts';
import { type Strike, waitBefore } from './faults/strike.ts';
import { type Call, Refused } from './handler.ts';
import { type Claim, claim, finish, LeaseLost, release } from './idempotency.ts';
import type { Allowance } from './limits.ts';
import { logRequest, requestRow } from './request-log.ts';
import { catchUp, type ServiceParts, surroundings } from './service.ts';
import type { Steering } from './steering.ts';
import { isBusy, losesAll } from './store/faults.ts';
import type { Sql } from './store/sql.ts';

type AnyHandler = (call: Call<never>) => Promise<unknown>;

export interface Performed {
  readonly requestId: string;
  /** ms UTC on the clock of the sandbox. */
  readonly now?: number | undefined;
  readonly allowance: Allowance | undefined;
  /** Missing where a fault kept the work from happening. */
  readonly answer?: Answer | undefined;
  readonly strike?: Strike | undefined;
}

/** What was carried out, with an error nobody expected instead of its answer. */
interface Tried extends Performed {
  readonly fault?: unknown;
}

/** Why nothing was done yet. */
type Put = 'something is due' | 'faults are to be counted';

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
  if (typeof tried === 'string') throw new Error(`${tried}, after that was done`);
  told(tried);
  const { requestId, allowance, strike } = tried;
  if ('fault' in tried) throw tried.fault;
  if (ask.route.name === 'reset') {
    parts.requestLog.forget();
    parts.requestNumbers.forget();
  }
  if (tried.answer !== undefined) return tried;
  if (strike !== undefined) return afterWait(parts, { ...ask, passed: { requestId, allowance, strike } }, told);
  const steer = steeringOf(parts, ask);
  if (steer === undefined) throw new Error(`${ask.route.name} was not carried out`);
  const input = { ...ask.params, ...ask.query, ...bodyOf(ask) };
  return { requestId, allowance, answer: replyAnswer(ask.route.row, await steer(parts, input as never)) };
}

/** Held up and then carried out, although the caller may be gone by then; or not carried out at all. */
async function afterWait(
  parts: ServiceParts,
  ask: Ask & { readonly passed: Passed },
  told: (tried: Tried) => void,
): Promise<Performed> {
  const ms = waitBefore(ask.passed.strike);
  if (ms === undefined) return ask.passed;
  await parts.clock.sleep(ms, ask.stopping).catch((reason: unknown) => {
    throw ask.stopping.aborted ? new Gone('the server stops') : reason;
  });
  return { ...(await perform(parts, ask, told)), strike: ask.passed.strike };
}

async function once(parts: ServiceParts, ask: Ask, heedsTimers: boolean): Promise<Tried | Put> {
  const { store, requestNumbers } = parts;
  if (!isPlainRead(parts, ask.route)) {
    return store.write(sql => worked(parts, sql, { ask, heedsTimers, number: undefined, access: 'write' }));
  }
  const number = await requestNumbers.next(parts);
  const read = await store.read(sql => worked(parts, sql, { ask, heedsTimers, number, access: 'read' }));
  if (read !== 'faults are to be counted') return read;
  return store.write(sql => worked(parts, sql, { ask, heedsTimers, number, access: 'write' }));
}

interface Work {
  readonly ask: Ask;
  readonly heedsTimers: boolean;
  readonly number: number | undefined;
  readonly access: 'read' | 'write';
}

async function worked(parts: ServiceParts, sql: Sql, { ask, heedsTimers, number, access }: Work): Promise<Tried | Put> {
  const { account } = parts;
  const { route, passed } = ask;
  const admitted = await admit(parts, sql, { route, scope: ask.keyed?.scope, heedsTimers, number, passed });
  if (admitted === 'something is due') return admitted;
  const { requestId, allowance, now, hasFaults } = admitted;
  const isLimited = allowance?.retryAfter !== undefined && passed === undefined;
  if (hasFaults && access === 'read') return 'faults are to be counted';
  const meets = !isLimited && passed === undefined && (hasFaults || ask.fault !== undefined);
  const strike = meets ? await strikeOf(sql, { account, ask, now, requestId }) : undefined;
  const tried = { requestId, allowance, now, ...(strike && { strike }) };
  // Logged when it is over.
  if (strike !== undefined && waitBefore(strike) !== undefined) return tried;
  const outcome = isLimited
    ? { answer: refusedAnswer(tooMany(allowance), requestId) }
    : strike?.phase === 'before'
      ? {}
      : await attended(parts, sql, { ask, admitted });
  if (route.surface === 'service') {
    const row = requestRow(ask, { requestId, now, answer: outcome.answer, strike: strike ?? passed?.strike });
    if (access === 'write') await logRequest(sql, account, row);
    else parts.requestLog.keep(row);
  }
  return { ...tried, ...outcome };
}

function tooMany({ limit }: Allowance): Refused {
  return new Refused('rate_limited', `At most ${limit} such requests a minute.`);
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
  const { dialect } = parts.speech;
  const isAdmin = surface === 'admin';
  const [usual, others] = isAdmin ? [parts.adminHandlers, dialect.adminHandlers] : [parts.handlers, dialect.handlers];
  const handler = handlerIn(others, name) ?? handlerIn(usual, name);
  if (handler === undefined) throw new Error(`no handler for ${name}`);
  const input = { ...ask.params, ...ask.query, ...withCents(row.body ?? {}, bodyOf(ask)) };
  const call = { ...surroundings(parts, sql, { ...admitted, key: idKey }), input };
  const reply = await handler(call as unknown as Call<never>);
  if (isAdmin) return replyAnswer(row, { ...(reply as Fields), ...factsFor(row.returns.shape, parts) });
  const told = dialect.reply === undefined ? reply : await dialect.reply(call, name, reply);
  return replyAnswer(row, told);
}

function handlerIn(table: object | undefined, name: string): AnyHandler | undefined {
  return (table as Readonly<Record<string, AnyHandler>> | undefined)?.[name];
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

function inProgress(): Refused {
  return new Refused('idempotency_in_progress', 'A request with this idempotency key is still being worked on.');
}

function otherBody(): Refused {
  return new Refused('idempotency_key_reused', 'This idempotency key was used with another body.');
}
