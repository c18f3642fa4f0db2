/**
 * Carries out one routed request in one transaction: who asks how often, its name, its idempotency record, its effect.
 * All of it commits together and is answered after, so that a request costs one sync, shared with its turn's others.
 */
import type { Shape } from '../../contract/field.ts';
import { isBusy, losesAll } from '../../engine/faults.ts';
import { type Call, Refused } from '../calls/handler.ts';
import { strikeOf } from '../faults/rules.ts';
import { waitBefore } from '../faults/strike.ts';
import { type Answer, isStored, refusedAnswer, replayed, replyAnswer } from '../http/answer.ts';
import { Gone } from '../http/body.ts';
import { type Keyed, keepAnswer, lookUp } from '../http/idempotency.ts';
import type { Allowance } from '../http/limits.ts';
import type { Strike } from '../http/request.ts';
import {
  type Ask,
  bodyOf,
  type Fields,
  type Keying,
  type Passed,
  problemOf,
  refuseProblem,
  withCents,
} from '../http/request.ts';
import { logRequest, requestRow } from '../service/request-log.ts';
import { catchUp, type ServiceParts, type Steering, surroundings } from '../service/service.ts';
import type { Sql } from '../store/sql.ts';
import { type Admitted, admit, isPlainRead } from './admission.ts';

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

/** Requests to the control surface that read or replace everything. */
const GOES_THROUGH_ALL: readonly string[] = ['reset', 'status', 'ledger.check'];

async function once(parts: ServiceParts, ask: Ask, heedsTimers: boolean): Promise<Tried | Put> {
  const { store, requestNumbers } = parts;
  const work: Work = { ask, heedsTimers, number: undefined, access: 'write', isCareful: false };
  if (!isPlainRead(parts, ask.route)) {
    try {
      const how = GOES_THROUGH_ALL.includes(ask.route.name) ? 'large' : 'repeatable';
      return await store.write(sql => worked(parts, sql, work), how);
    } catch (error) {
      // Few requests have something to undo, so only those pay for a savepoint: they are carried out once more.
      if (!(error instanceof ToUndo)) throw error;
      return store.write(sql => worked(parts, sql, { ...work, isCareful: true }), 'repeatable');
    }
  }
  const number = requestNumbers.ready() ?? (await requestNumbers.next(parts));
  const reading: Work = { ask, heedsTimers, number, access: 'read', isCareful: false };
  const read = await store.read(sql => worked(parts, sql, reading));
  if (read !== 'faults are to be counted') return read;
  return store.write(sql => worked(parts, sql, { ...work, number, isCareful: true }));
}

/** Work that was refused or failed after it had written something; all of its transaction's part is undone. */
class ToUndo extends Error {
  override readonly name = 'ToUndo';
}

interface Work {
  readonly ask: Ask;
  readonly heedsTimers: boolean;
  readonly number: number | undefined;
  readonly access: 'read' | 'write';
  /** What it wrote can be undone without the rest of its transaction. */
  readonly isCareful: boolean;
}

async function worked(parts: ServiceParts, sql: Sql, work: Work): Promise<Tried | Put> {
  const { account } = parts;
  const { ask, heedsTimers, number, access, isCareful } = work;
  const { route, passed } = ask;
  const admitted = await admit(parts, sql, { route, scope: ask.keyed?.scope, heedsTimers, number, passed });
  if (admitted === 'something is due') return admitted;
  const { requestId, allowance, now, hasFaults } = admitted;
  const isLimited = allowance?.retryAfter !== undefined && passed === undefined;
  if (hasFaults && access === 'read') return 'faults are to be counted';
  const meets = !isLimited && passed === undefined && (hasFaults || ask.fault !== undefined);
  const strike = meets ? await strikeOf(sql, { account, ask, now, requestId }) : undefined;
  // Logged when it is over.
  if (strike !== undefined && waitBefore(strike) !== undefined) return { requestId, allowance, now, strike };
  const outcome: Outcome = isLimited
    ? { answer: refusedAnswer(tooMany(allowance), requestId) }
    : strike?.phase === 'before'
      ? {}
      : await attended(parts, sql, { ask, admitted, isCareful });
  if (route.surface === 'service') {
    const row = requestRow(ask, { requestId, now, answer: outcome.answer, strike: strike ?? passed?.strike });
    if (access === 'write') await logRequest(sql, account, row);
    else parts.requestLog.keep(row);
  }
  const tried: Tried = { requestId, allowance, now, strike, answer: outcome.answer };
  return 'fault' in outcome ? { ...tried, fault: outcome.fault } : tried;
}

function tooMany({ limit }: Allowance): Refused {
  return new Refused('rate_limited', `At most ${limit} such requests a minute.`);
}

interface Admission {
  readonly ask: Ask;
  readonly admitted: Admitted;
  readonly isCareful: boolean;
}

type Outcome = { readonly answer?: Answer; readonly refused?: Refused; readonly fault?: unknown };

async function attended(parts: ServiceParts, sql: Sql, admission: Admission): Promise<Outcome> {
  const { ask, admitted, isCareful } = admission;
  const { requestId } = admitted;
  if (ask.keyed !== undefined) return underKey(parts, sql, { ask, admitted, isCareful, keyed: ask.keyed });
  if (steeringOf(parts, ask) !== undefined) {
    return carefully(sql, { requestId, writes: false, isCareful }, async () => void refuseProblem(ask));
  }
  const writes = ask.route.row.method !== 'GET';
  return carefully(sql, { requestId, writes, isCareful }, async () => {
    refuseProblem(ask);
    return carriedOut(parts, sql, admission);
  });
}

/** Runs work so that a refusal or a fault undoes what it did, and nothing else of the transaction. */
async function carefully(
  sql: Sql,
  { requestId, writes, isCareful }: { requestId: string; writes: boolean; isCareful: boolean },
  work: () => Promise<Answer | undefined>,
): Promise<Outcome> {
  const hasPoint = writes && isCareful;
  if (hasPoint) await sql.run('savepoint effect');
  const before = sql.written();
  try {
    const answer = await work();
    if (hasPoint) await sql.run('release effect');
    return answer === undefined ? {} : { answer };
  } catch (error) {
    // Of these the transaction itself is lost, or must be tried again.
    if (losesAll(error) || isBusy(error)) throw error;
    if (hasPoint) {
      await sql.run('rollback to effect');
      await sql.run('release effect');
    } else if (sql.written() > before) {
      throw new ToUndo('there is something to undo', { cause: error });
    }
    if (error instanceof Refused) return { refused: error, answer: refusedAnswer(error, requestId) };
    return { fault: error };
  }
}

/** Effect and record are one transaction. */
async function underKey(
  parts: ServiceParts,
  sql: Sql,
  { ask, admitted, isCareful, keyed }: Admission & { readonly keyed: Keying },
): Promise<Outcome> {
  const { requestId, now } = admitted;
  const { scope, fingerprint, rival } = keyed;
  const refuse = (refused: Refused): Outcome => ({ answer: refusedAnswer(refused, requestId) });
  if (rival !== undefined) return refuse(rival === fingerprint ? inProgress() : otherBody());
  const problem = problemOf(ask);
  const mine: Keyed = { account: parts.account, scope, fingerprint, now };
  const found = await lookUp(sql, mine);
  if (found.kind === 'other-body') return refuse(otherBody());
  if (found.kind === 'replay') return { answer: replayed(found.answer) };
  if (problem !== undefined) return refuse(problem);
  const { generation } = found;
  const outcome = await carefully(sql, { requestId, writes: true, isCareful }, () =>
    carriedOut(parts, sql, { ask, admitted, isCareful, idKey: `${generation} ${scope}` }),
  );
  const { answer, refused } = outcome;
  const isKept = answer !== undefined && (refused === undefined || isStored(refused));
  if (isKept) await keepAnswer(sql, mine, { generation, answer });
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
  const input = Object.assign({}, ask.params, ask.query, withCents(row.body ?? {}, bodyOf(ask)));
  const call = surroundings(
    parts,
    sql,
    { now: admitted.now, real: admitted.real, meta: admitted.meta, key: idKey },
    input,
  );
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
