/**
 * Executes one routed request in one transaction: its time, its number, its place under the limit, the fault it meets, its
 * idempotency record, its effect, its line of the log. All of it commits together and is answered after, so that a request
 * costs one sync, which those of the same turn share.
 */
import { ADMIN_HANDLERS, serviceHandlerOf } from '../admin/table.ts';
import { deterministicIds, requestIdOf } from '../calls/deterministic-ids.ts';
import { type Call, Refused } from '../calls/handler.ts';
import { type ClockRow, shownTime } from '../clock/clock.ts';
import { waitBefore } from '../faults/applied-fault.ts';
import { faultFor } from '../faults/rules.ts';
import { type Answer, isStored, refusedAnswer, replayed, replyAnswer } from '../http/answer.ts';
import { findRecord, keepAnswer } from '../http/idempotency.ts';
import { type Allowance, countRequest, isCounted } from '../http/limits.ts';
import {
  type AppliedFault,
  bodyOf,
  type Fields,
  Gone,
  inputOf,
  type ParsedRequest,
  problemOf,
  type Route,
  refuseProblem,
  withCents,
} from '../http/request.ts';
import { requestRow } from '../service/request-log.ts';
import { catchUp, type ServiceParts, transactionCall } from '../service/service.ts';
import type { IdForm } from '../store/open.ts';
import { insertRequest } from '../store/requests.ts';
import { endsTransaction, type Sql } from '../store/sql.ts';

/** What became known of a request on its way. */
export interface Seen {
  requestId?: string | undefined;
  /** Where the caller stands; undefined where it is not counted. */
  allowance?: Allowance | undefined;
  /** ms UTC on the clock of the sandbox, when it was looked at. */
  now?: number | undefined;
  /** What becomes of answer and connection. */
  appliedFault?: AppliedFault | undefined;
}

/**
 * Throws `StoreBusy` when nothing happened, and errors nobody expected: their effect is undone, the request counted.
 * Everything else, refusals too, is an answer; undefined where a fault kept the work from happening.
 */
export async function executeRequest(
  parts: ServiceParts,
  parsed: ParsedRequest,
  { seen, stopping }: { readonly seen: Seen; readonly stopping: AbortSignal },
): Promise<Answer | undefined> {
  const { store, requestNumbers, clock } = parts;
  const { route } = parsed;
  const attempt: Attempt = { parsed, passed: undefined, number: undefined, heedsTimers: true };
  let reads = isPlainRead(parts, route);
  for (;;) {
    if (reads) attempt.number = requestNumbers.ready() ?? (await requestNumbers.next(parts));
    const done = await (reads
      ? store.read(sql => attempted(parts, sql, attempt, 'read'))
      : store.write(sql => attempted(parts, sql, attempt, 'write')));
    if (done === 'timers are due') {
      await catchUp(parts);
      attempt.heedsTimers = false;
      continue;
    }
    if (done === 'a fault is counted') {
      reads = false;
      continue;
    }
    const { answer, error, ...known } = done;
    Object.assign(seen, known);
    if (error !== undefined) throw error;
    if (answer !== undefined) return answer;
    if (known.appliedFault === undefined) break;
    const ms = waitBefore(known.appliedFault);
    if (ms === undefined) return undefined;
    // Held up and then executed, although the caller may be gone by then.
    await clock.sleep(ms, stopping).catch((reason: unknown) => {
      throw stopping.aborted ? new Gone('the server stops') : reason;
    });
    Object.assign(attempt, { passed: known, heedsTimers: true });
    reads = isPlainRead(parts, route);
  }
  const handler = serviceHandlerOf(route);
  if (handler === undefined) throw new Error(`${route.name} was not executed`);
  return replyAnswer(route.row, await handler(parts, inputOf(parsed)));
}

/**
 * Reading requests write nothing when nothing is limited: their numbers come from a block this process took. Where
 * limits are on, each request is a row, because every command is a process of its own and all share the limit; at
 * most 600 a minute get through, so those rows cost nothing worth saving.
 */
const isPlainRead = ({ rateLimits }: ServiceParts, { row }: Route) => rateLimits === 'none' && row.method === 'GET';

interface Attempt {
  readonly parsed: ParsedRequest;
  /** What is known of a request that was counted, named and made to wait already. */
  passed: Known | undefined;
  /** Handed out before; undefined to take the next one in the store. */
  number: number | undefined;
  heedsTimers: boolean;
}

type Known = Seen & { readonly requestId: string; readonly now: number };
/** Neither answer nor error: a fault keeps the work from happening, or it is that of the whole service. */
type Done = Known & { readonly answer?: Answer | undefined; readonly error?: unknown };
/** A timer fires before the request is admitted; counting a match of a fault is a write: a read begins again as one. */
type NotYet = 'timers are due' | 'a fault is counted';

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

function attempted(
  parts: ServiceParts,
  sql: Sql,
  { parsed, passed, number, heedsTimers }: Attempt,
  access: 'read' | 'write',
): Done | NotYet {
  const real = parts.clock.now();
  const facts = sql.get<Facts>(FACTS);
  if (facts === undefined) throw new Error('the store says nothing about itself');
  const now = shownTime(facts, real);
  if (heedsTimers && facts.due_at !== null && facts.due_at <= now) return 'timers are due';
  const isService = parsed.route.surface === 'service';
  const moment: Moment = { now, real, meta: { seed: facts.seed, ids: facts.ids } };
  const { requestId, allowance } = passed ?? counted(parts, sql, { parsed, number, moment });
  const hasFaults = isService && passed === undefined && facts.faults === 1;
  if (hasFaults && access === 'read') return 'a fault is counted';
  const isLimited = passed === undefined && allowance?.retryAfter !== undefined;
  const isMet = !isLimited && passed === undefined && (hasFaults || parsed.fault !== undefined);
  const appliedFault = isMet ? faultFor(sql, { parsed, now, requestId }) : passed?.appliedFault;
  const known: Known = { requestId, allowance, now, appliedFault };
  const isKeptFrom = passed === undefined && appliedFault?.phase === 'before';
  // One that waits is logged when it is over.
  if (isKeptFrom && waitBefore(appliedFault) !== undefined) return known;
  const outcome: Outcome = isLimited
    ? { answer: refusedAnswer(tooMany(allowance), requestId) }
    : isKeptFrom
      ? {}
      : answerWithin(parts, sql, { parsed, requestId, moment });
  const { answer, error } = outcome;
  if (isService) {
    const took = Math.max(0, Math.round(parts.clock.monotonic() - parsed.arrivedAt));
    const row = requestRow(parsed, { requestId, now, answer, appliedFault, took });
    if (access === 'write') insertRequest(sql, row);
    else parts.requestLog.keep(row);
  }
  return { ...known, answer, error };
}

interface Moment {
  /** Clock of the sandbox and real time, ms UTC. */
  readonly now: number;
  readonly real: number;
  readonly meta: { readonly seed: number; readonly ids: IdForm };
}

interface Counting {
  readonly parsed: ParsedRequest;
  readonly number: number | undefined;
  readonly moment: Moment;
}

/** Its place under the limit, and its name. */
function counted(
  { rateLimits, virtualLimits }: ServiceParts,
  sql: Sql,
  { parsed: { route, keyed }, number, moment: { now, real, meta } }: Counting,
) {
  const bucket = route.row.effect === 'reveals-secret' ? 'details' : 'general';
  const isLimited = (route.surface === 'service' || bucket === 'details') && isCounted(rateLimits, bucket);
  const at = virtualLimits ? now : real;
  const allowance = isLimited ? countRequest(sql, { bucket, real: at, shown: now }) : undefined;
  if (number !== undefined) return { requestId: requestIdOf(meta, number), allowance };
  // One that is turned away comes again under its key, and that is another request.
  const key = allowance?.retryAfter === undefined ? keyed?.scope : undefined;
  return { requestId: deterministicIds({ sql, key, meta }).id('req'), allowance };
}

const tooMany = ({ limit }: Allowance) => new Refused('rate_limited', `At most ${limit} such requests a minute.`);

interface Admitted {
  readonly parsed: ParsedRequest;
  readonly requestId: string;
  readonly moment: Moment;
}

/** What came of the work: an answer, with what it was refused for, or an error nobody expected. */
type Outcome = { readonly answer?: Answer; readonly refused?: Refused; readonly error?: unknown };

/** Effect and idempotency record are one transaction. */
function answerWithin(parts: ServiceParts, sql: Sql, admitted: Admitted): Outcome {
  const { parsed, requestId, moment } = admitted;
  const { keyed } = parsed;
  if (keyed === undefined) {
    return carefully(sql, requestId, () => {
      refuseProblem(parsed);
      return serviceHandlerOf(parsed.route) === undefined ? handled(parts, sql, admitted) : undefined;
    });
  }
  const refuse = (refused: Refused): Outcome => ({ answer: refusedAnswer(refused, requestId) });
  if (keyed.rival !== undefined) return refuse(keyed.rival === keyed.fingerprint ? inProgress() : otherBody());
  const problem = problemOf(parsed);
  const mine = { scope: keyed.scope, fingerprint: keyed.fingerprint, now: moment.now };
  const found = findRecord(sql, mine);
  if (found.kind === 'other-body') return refuse(otherBody());
  if (found.kind === 'replay') return { answer: replayed(found.answer) };
  if (problem !== undefined) return refuse(problem);
  const { generation } = found;
  const outcome = carefully(sql, requestId, () => handled(parts, sql, admitted, `${generation} ${keyed.scope}`));
  const { answer, refused } = outcome;
  const isKept = answer !== undefined && (refused === undefined || isStored(refused));
  if (isKept) keepAnswer(sql, mine, { generation, answer });
  return outcome;
}

const inProgress = () =>
  new Refused('idempotency_in_progress', 'A request with this idempotency key is still being worked on.');
const otherBody = () => new Refused('idempotency_key_reused', 'This idempotency key was used with another body.');

/** Runs work so that a refusal or an error undoes what it did, and nothing else of the transaction. */
function carefully(sql: Sql, requestId: string, work: () => Answer | undefined): Outcome {
  try {
    const answer = sql.undoable(work);
    return answer === undefined ? {} : { answer };
  } catch (error) {
    // Of these the transaction itself is lost, or must be tried again.
    if (endsTransaction(error)) throw error;
    return error instanceof Refused ? { refused: error, answer: refusedAnswer(error, requestId) } : { error };
  }
}

type Handler = (call: Call<never>) => unknown;

/** What the handler of the operation gives, or that of the dialect in its place. */
function handled(parts: ServiceParts, sql: Sql, { parsed, moment }: Admitted, key?: string): Answer {
  const { surface, name, row } = parsed.route;
  const { dialect } = parts.activeDialect;
  const isAdmin = surface === 'admin';
  const tables = isAdmin ? [dialect.adminHandlers, ADMIN_HANDLERS] : [dialect.handlers, parts.handlers];
  const handler = tables.map(table => (table as Readonly<Record<string, Handler>> | undefined)?.[name]).find(Boolean);
  if (handler === undefined) throw new Error(`no handler for ${name}`);
  const input = Object.assign({}, parsed.params, parsed.query, withCents(row.body ?? {}, bodyOf(parsed)));
  const call = transactionCall(parts, sql, { ...moment, key }, input);
  const reply = handler(call as unknown as Call<never>);
  if (!isAdmin) return replyAnswer(row, dialect.reply === undefined ? reply : dialect.reply(call, name, reply));
  return replyAnswer(row, reply as Fields);
}
