/** What comes before the work of a request, in its transaction: what time it is, its name, its place under the limit. */

import type { Shape } from '../../contract/field.ts';
import { deterministicIds, requestIdOf } from '../calls/deterministic-ids.ts';
import { type Call, Refused } from '../calls/handler.ts';
import { type ClockRow, shownTime } from '../clock/clock.ts';
import { waitBefore } from '../faults/applied-fault.ts';
import { faultFor } from '../faults/rules.ts';
import { type Answer, isStored, refusedAnswer, replayed, replyAnswer } from '../http/answer.ts';
import { findRecord, type Keyed, keepAnswer } from '../http/idempotency.ts';
import { type Allowance, countRequest, isCounted } from '../http/limits.ts';
import {
  type AppliedFault,
  bodyOf,
  type Fields,
  Gone,
  type Keying,
  type ParsedRequest,
  type Passed,
  problemOf,
  type Route,
  refuseProblem,
  withCents,
} from '../http/request.ts';
import { logRequest, requestRow } from '../service/request-log.ts';
import { catchUp, type ServiceHandlers, type ServiceParts, transactionCall } from '../service/service.ts';
import type { IdForm } from '../store/open.ts';
import { endsTransaction, isRefusedStatement, type Sql } from '../store/sql.ts';

interface Admitted {
  readonly requestId: string;
  /** Where the caller stands; undefined where it is not counted. */
  readonly allowance: Allowance | undefined;
  /** Clock of the sandbox and real time, ms UTC. */
  readonly now: number;
  readonly real: number;
  readonly meta: { readonly seed: number; readonly ids: IdForm };
  /** There are fault rules to be asked. */
  readonly hasFaults: boolean;
}

/** A timer is due: it fires before the request is admitted. */
const TIMERS_DUE = 'timers-due';

interface Arrival {
  readonly route: Route;
  /** Scope of its idempotency key; names it when there is one. */
  readonly scope: string | undefined;
  /** Its number when it was handed out before; undefined to take the next one in the store. */
  readonly number: number | undefined;
  readonly heedsTimers: boolean;
  /** It was counted and named already. */
  readonly passed: Pick<Admitted, 'requestId' | 'allowance'> | undefined;
}

/**
 * Reading requests write nothing when nothing is limited: their numbers come from a block this process took. Where
 * limits are on, each request is a row, because every command is a process of its own and all share the limit; at
 * most 600 a minute get through, so those rows cost nothing worth saving.
 */
function isPlainRead({ rateLimits }: ServiceParts, { row }: Route): boolean {
  return rateLimits === 'none' && row.method === 'GET';
}

interface Facts extends ClockRow {
  readonly seed: number;
  readonly ids: IdForm;
  readonly due_at: number | null;
  readonly faults: number;
}

/** Everything a request needs to know about the store, in one statement. */
const FACTS = `select m.seed, m.ids, coalesce(c.mode, 'real') as mode, coalesce(c.at, 0) as at,
  coalesce(c.real_since, 0) as real_since, coalesce(c.rate_milli, 1000) as rate_milli,
  (select due_at from timers order by due_at limit 1) as due_at,
  case when exists (select 1 from faults where meets = 'requests'
    and (times is null or struck < times)) then 1 else 0 end as faults
  from meta m left join clock c on true where m.one = 1`;

/** Nothing is written when a timer is due: that comes first. */
async function admit(
  { clock, rateLimits, virtualLimits }: ServiceParts,
  sql: Sql,
  { route, scope, number, heedsTimers, passed }: Arrival,
): Promise<Admitted | typeof TIMERS_DUE> {
  const real = clock.now();
  const facts = await sql.get<Facts>(FACTS);
  if (facts === undefined) throw new Error('the store says nothing about itself');
  const now = shownTime(facts, real);
  if (heedsTimers && facts.due_at !== null && facts.due_at <= now) return TIMERS_DUE;
  const meta = { seed: facts.seed, ids: facts.ids };
  if (passed !== undefined) return { ...passed, now, real, meta, hasFaults: false };
  const bucket = route.row.effect === 'reveals-secret' ? 'details' : 'general';
  const isService = route.surface === 'service';
  const isLimited = (isService || bucket === 'details') && isCounted(rateLimits, bucket);
  const at = virtualLimits ? now : real;
  const allowance = isLimited ? await countRequest(sql, { bucket, real: at, shown: now }) : undefined;
  // One that is turned away comes again under its key, and that is another request.
  const key = allowance?.retryAfter === undefined ? scope : undefined;
  const requestId =
    number === undefined ? await deterministicIds({ sql, key, meta }).id('req') : requestIdOf(meta, number);
  return { requestId, allowance, now, real, meta, hasFaults: isService && facts.faults === 1 };
}

// Carries out one routed request in one transaction: who asks how often, its name, its idempotency record, its effect. All of it commits together and is answered after, so that a request costs one sync, shared with its turn's others.

type AnyHandler = (call: Call<never>) => Promise<unknown>;

interface Executed {
  readonly requestId: string;
  /** ms UTC on the clock of the sandbox. */
  readonly now?: number | undefined;
  readonly allowance: Allowance | undefined;
  /** Missing where a fault kept the work from happening. */
  readonly answer?: Answer | undefined;
  readonly appliedFault?: AppliedFault | undefined;
}

/** What was carried out, with an error nobody expected instead of its answer. */
interface Attempted extends Executed {
  readonly fault?: unknown;
}

/** Counting a match of a fault is a write: a read begins again as one. */
const FAULTS_NEED_WRITE = 'faults-need-write';
/** Why nothing was done yet. */
type NotYet = typeof TIMERS_DUE | typeof FAULTS_NEED_WRITE;

/**
 * Throws `StoreBusy` when nothing happened, and `told` errors nobody expected: their effect is undone, the request
 * counted. Everything else, refusals too, is an answer.
 */
export async function executeRequest(
  parts: ServiceParts,
  parsed: ParsedRequest,
  onAttempt: (attempted: Attempted) => void,
): Promise<Executed> {
  let attempted = await executeOnce(parts, parsed, true);
  if (attempted === TIMERS_DUE) {
    await catchUp(parts);
    attempted = await executeOnce(parts, parsed, false);
  }
  if (typeof attempted === 'string') throw new Error(`${attempted}, a second time`);
  onAttempt(attempted);
  const { requestId, allowance, appliedFault } = attempted;
  if ('fault' in attempted) throw attempted.fault;
  if (parsed.route.name === 'reset') {
    parts.requestLog.forget();
    parts.requestNumbers.forget();
  }
  if (attempted.answer !== undefined) return attempted;
  if (appliedFault !== undefined)
    return executeAfterWait(parts, { ...parsed, passed: { requestId, allowance, appliedFault } }, onAttempt);
  const serviceHandler = serviceHandlerOf(parts, parsed);
  if (serviceHandler === undefined) throw new Error(`${parsed.route.name} was not carried out`);
  const input = { ...parsed.params, ...parsed.query, ...bodyOf(parsed) };
  return { requestId, allowance, answer: replyAnswer(parsed.route.row, await serviceHandler(parts, input as never)) };
}

/** Held up and then carried out, although the caller may be gone by then; or not carried out at all. */
async function executeAfterWait(
  parts: ServiceParts,
  parsed: ParsedRequest & { readonly passed: Passed },
  onAttempt: (attempted: Attempted) => void,
): Promise<Executed> {
  const ms = waitBefore(parsed.passed.appliedFault);
  if (ms === undefined) return parsed.passed;
  await parts.clock.sleep(ms, parsed.stopping).catch((reason: unknown) => {
    throw parsed.stopping.aborted ? new Gone('the server stops') : reason;
  });
  return { ...(await executeRequest(parts, parsed, onAttempt)), appliedFault: parsed.passed.appliedFault };
}

/** Requests to the control surface that read or replace everything. */
const GOES_THROUGH_ALL: readonly string[] = ['reset', 'status', 'ledger.check'];

async function executeOnce(
  parts: ServiceParts,
  parsed: ParsedRequest,
  heedsTimers: boolean,
): Promise<Attempted | NotYet> {
  const { store, requestNumbers } = parts;
  const write = (number: number | undefined) => {
    const work = (sql: Sql) => executeWithin(parts, sql, { parsed, heedsTimers, number, access: 'write' });
    if (!GOES_THROUGH_ALL.includes(parsed.route.name)) return store.write(work);
    return store.write(work, 'large').catch((error: unknown) => {
      if (error instanceof ToUndo) return store.write(work);
      throw error;
    });
  };
  if (!isPlainRead(parts, parsed.route)) return write(undefined);
  const number = requestNumbers.ready() ?? (await requestNumbers.next(parts));
  const reading: Work = { parsed, heedsTimers, number, access: 'read' };
  const read = await store.read(sql => executeWithin(parts, sql, reading));
  return read === FAULTS_NEED_WRITE ? write(number) : read;
}

/** Work that was refused or failed after it had written something: it runs once more, where that alone can be undone. */
class ToUndo extends Error {
  override readonly name = 'ToUndo';
}

interface Work {
  readonly parsed: ParsedRequest;
  readonly heedsTimers: boolean;
  readonly number: number | undefined;
  readonly access: 'read' | 'write';
}

async function executeWithin(parts: ServiceParts, sql: Sql, work: Work): Promise<Attempted | NotYet> {
  const { parsed, heedsTimers, number, access } = work;
  const { route, passed } = parsed;
  const admitted = await admit(parts, sql, { route, scope: parsed.keyed?.scope, heedsTimers, number, passed });
  if (admitted === TIMERS_DUE) return admitted;
  const { requestId, allowance, now, hasFaults } = admitted;
  const isLimited = allowance?.retryAfter !== undefined && passed === undefined;
  if (hasFaults && access === 'read') return FAULTS_NEED_WRITE;
  const meets = !isLimited && passed === undefined && (hasFaults || parsed.fault !== undefined);
  const appliedFault = meets ? await faultFor(sql, { parsed, now, requestId }) : undefined;
  // Logged when it is over.
  if (appliedFault !== undefined && waitBefore(appliedFault) !== undefined)
    return { requestId, allowance, now, appliedFault };
  const outcome: Outcome = isLimited
    ? { answer: refusedAnswer(tooMany(allowance), requestId) }
    : appliedFault?.phase === 'before'
      ? {}
      : await answerWithin(parts, sql, { parsed, admitted });
  if (route.surface === 'service') {
    const row = requestRow(parsed, {
      requestId,
      now,
      answer: outcome.answer,
      appliedFault: appliedFault ?? passed?.appliedFault,
      took: Math.max(0, Math.round(parts.clock.monotonic() - parsed.arrivedAt)),
    });
    if (access === 'write') await logRequest(sql, row);
    else parts.requestLog.keep(row);
  }
  const attempted: Attempted = { requestId, allowance, now, appliedFault, answer: outcome.answer };
  return 'fault' in outcome ? { ...attempted, fault: outcome.fault } : attempted;
}

function tooMany({ limit }: Allowance): Refused {
  return new Refused('rate_limited', `At most ${limit} such requests a minute.`);
}

interface Admission {
  readonly parsed: ParsedRequest;
  readonly admitted: Admitted;
}

type Outcome = { readonly answer?: Answer; readonly refused?: Refused; readonly fault?: unknown };

async function answerWithin(parts: ServiceParts, sql: Sql, admission: Admission): Promise<Outcome> {
  const { parsed, admitted } = admission;
  const { requestId } = admitted;
  if (parsed.keyed !== undefined) return underKey(parts, sql, { parsed, admitted, keyed: parsed.keyed });
  if (serviceHandlerOf(parts, parsed) !== undefined) {
    return carefully(sql, { requestId, writes: false }, async () => void refuseProblem(parsed));
  }
  const writes = parsed.route.row.method !== 'GET';
  return carefully(sql, { requestId, writes }, async () => {
    refuseProblem(parsed);
    return carriedOut(parts, sql, admission);
  });
}

/** Runs work so that a refusal or a fault undoes what it did, and nothing else of the transaction. */
async function carefully(
  sql: Sql,
  { requestId, writes }: { requestId: string; writes: boolean },
  work: () => Promise<Answer | undefined>,
): Promise<Outcome> {
  const hasPoint = writes && sql.isAlone;
  if (hasPoint) await sql.run('savepoint effect');
  const before = sql.written();
  try {
    const answer = await work();
    if (hasPoint) await sql.run('release effect');
    return answer === undefined ? {} : { answer };
  } catch (error) {
    // Of these the transaction itself is lost, or must be tried again.
    if (endsTransaction(error)) throw error;
    if (hasPoint) {
      await sql.run('rollback to effect');
      await sql.run('release effect');
    } else if (sql.written() > before || isRefusedStatement(error)) {
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
  { parsed, admitted, keyed }: Admission & { readonly keyed: Keying },
): Promise<Outcome> {
  const { requestId, now } = admitted;
  const { scope, fingerprint, rival } = keyed;
  const refuse = (refused: Refused): Outcome => ({ answer: refusedAnswer(refused, requestId) });
  if (rival !== undefined) return refuse(rival === fingerprint ? inProgress() : otherBody());
  const problem = problemOf(parsed);
  const mine: Keyed = { scope, fingerprint, now };
  const found = await findRecord(sql, mine);
  if (found.kind === 'other-body') return refuse(otherBody());
  if (found.kind === 'replay') return { answer: replayed(found.answer) };
  if (problem !== undefined) return refuse(problem);
  const { generation } = found;
  const outcome = await carefully(sql, { requestId, writes: true }, () =>
    carriedOut(parts, sql, { parsed, admitted, idKey: `${generation} ${scope}` }),
  );
  const { answer, refused } = outcome;
  const isKept = answer !== undefined && (refused === undefined || isStored(refused));
  if (isKept) await keepAnswer(sql, mine, { generation, answer });
  return outcome;
}

async function carriedOut(
  parts: ServiceParts,
  sql: Sql,
  { parsed, admitted, idKey }: Admission & { readonly idKey?: string },
): Promise<Answer> {
  const { surface, name, row } = parsed.route;
  const { dialect } = parts.activeDialect;
  const isAdmin = surface === 'admin';
  const [usual, others] = isAdmin ? [parts.adminHandlers, dialect.adminHandlers] : [parts.handlers, dialect.handlers];
  const handler = handlerIn(others, name) ?? handlerIn(usual, name);
  if (handler === undefined) throw new Error(`no handler for ${name}`);
  const input = Object.assign({}, parsed.params, parsed.query, withCents(row.body ?? {}, bodyOf(parsed)));
  const call = transactionCall(
    parts,
    sql,
    { now: admitted.now, real: admitted.real, meta: admitted.meta, key: idKey },
    input,
  );
  const reply = await handler(call as unknown as Call<never>);
  if (isAdmin) return replyAnswer(row, { ...(reply as Fields), ...factsFor(row.returns.shape, parts) });
  const onAttempt = dialect.reply === undefined ? reply : await dialect.reply(call, name, reply);
  return replyAnswer(row, onAttempt);
}

function handlerIn(table: object | undefined, name: string): AnyHandler | undefined {
  return (table as Readonly<Record<string, AnyHandler>> | undefined)?.[name];
}

function serviceHandlerOf({ serviceHandlers }: ServiceParts, { route }: ParsedRequest) {
  return route.surface === 'admin' ? serviceHandlers[route.name as keyof ServiceHandlers] : undefined;
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
