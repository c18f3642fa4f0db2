/**
 * Executes one routed request in one transaction: the timers that are due, its number, its place under the limit, the fault
 * it meets, its idempotency record, its effect, its line of the log. All of it commits together and is answered after, so
 * that a request costs one sync, which those of the same turn share.
 */

import { hash } from 'node:crypto';
import { REFUSALS } from '../../contract/refusals.ts';
import { KEY_RETENTION } from '../../contract/spans.ts';
import { isObject } from '../../core/objects.ts';
import { rest } from '../../platform/time.ts';
import { deterministicIds, requestIdOf } from '../calls/deterministic-ids.ts';
import { type Call, Refused } from '../calls/handler.ts';
import { type ClockRow, shownTime } from '../clock/clock.ts';
import { faultFor, waitBefore } from '../faults/faults.ts';
import {
  type Allowance,
  type Answer,
  countRequest,
  isCounted,
  refusedAnswer,
  replayed,
  replyAnswer,
} from '../http/answer.ts';
import {
  type AppliedFault,
  bodyOf,
  Gone,
  inputOf,
  type ParsedRequest,
  refuseProblem,
  withCents,
} from '../http/request.ts';
import { recordEvent } from '../outbox/outbox.ts';
import { requestRow } from '../service/logs.ts';
import { fireOne, type ServiceParts } from '../service/service.ts';
import type { IdForm } from '../store/open.ts';
import { insertRequest } from '../store/rows.ts';
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
  const { store, requestLog, clock, rateLimits } = parts;
  const { route } = parsed;
  // Reading requests write nothing when nothing is limited: their numbers come from a block this process took. Where
  // limits are on, each request is a row, because every command is a process of its own and all share the limit.
  const isPlainRead = rateLimits === 'none' && route.row.method === 'GET';
  let reads = isPlainRead;
  let number: number | undefined;
  let passed: Known | undefined;
  for (;;) {
    if (reads) number = await requestLog.nextNumber(parts);
    const access = reads ? 'read' : 'write';
    const done = await store[access](sql => attempted(parts, sql, parsed, { access, number, passed }));
    if (done === 'needs to write') {
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
    if (!(await rest(ms, clock, stopping))) throw new Gone('the server stops');
    passed = known;
    reads = isPlainRead;
  }
  if (route.ofService === undefined) throw new Error(`${route.name} was not executed`);
  return replyAnswer(route.row, await route.ofService(inputOf(parsed)));
}

type Known = Seen & { readonly requestId: string; readonly now: number };

/** An answer, with what it was refused for, or an error nobody expected. Neither: a fault keeps the work from happening, or it is that of the whole service. */
interface Outcome {
  readonly answer?: Answer | undefined;
  readonly refused?: Refused;
  readonly error?: unknown;
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

interface Attempt {
  readonly access: 'read' | 'write';
  /** Handed out before; undefined to take the next one in the store. */
  readonly number: number | undefined;
  /** What is known of a request that was counted, named and made to wait already. */
  readonly passed: Known | undefined;
}

/** A read that would have to fire a timer, or to count a match of a fault, begins again as a write. */
function attempted(
  parts: ServiceParts,
  sql: Sql,
  parsed: ParsedRequest,
  { access, number, passed }: Attempt,
): (Known & Outcome) | 'needs to write' {
  const { clock, requestLog, rateLimits, virtualLimits } = parts;
  const { route, keyed } = parsed;
  const real = clock.now();
  const facts = sql.one<Facts>(FACTS);
  const meta = { seed: facts.seed, ids: facts.ids };
  const now = shownTime(facts, real);
  const areTimersDue = facts.due_at !== null && facts.due_at <= now;
  const hasFaults = route.surface === 'service' && passed === undefined && facts.faults === 1;
  if (access === 'read' && (areTimersDue || hasFaults)) return 'needs to write';
  if (areTimersDue) while (fireOne(sql, parts, now) !== undefined);

  // Its place under the limit; none where it is not counted.
  const bucket = route.row.effect === 'reveals-secret' ? 'details' : 'general';
  const isLimited = (route.surface === 'service' || bucket === 'details') && isCounted(rateLimits, bucket);
  const counted = isLimited && passed === undefined;
  const allowance = counted
    ? countRequest(sql, { bucket, real: virtualLimits ? now : real, shown: now })
    : passed?.allowance;
  const isOver = counted && allowance?.retryAfter !== undefined;

  const nextId = () =>
    number === undefined
      ? // One that is turned away comes again under its key, and that is another request.
        deterministicIds({ sql, key: isOver ? undefined : keyed?.scope, meta }).id('req')
      : requestIdOf(meta, number);
  const requestId = passed?.requestId ?? nextId();
  const isMet = passed === undefined && !isOver && (hasFaults || parsed.fault !== undefined);
  const appliedFault = isMet ? faultFor(sql, { parsed, now, requestId }) : passed?.appliedFault;
  const known: Known = { requestId, allowance, now, appliedFault };
  const isKeptFrom = passed === undefined && appliedFault?.phase === 'before';
  // One that waits is logged when it is over.
  if (isKeptFrom && waitBefore(appliedFault) !== undefined) return known;

  const idSourceFor = (key?: string) => deterministicIds({ sql, key, meta, webhookSecret: parts.webhookSecret });
  const refuse = (refused: Refused): Outcome => ({ refused, answer: refusedAnswer(refused, requestId) });
  /** A refusal or an error undoes what the work did, and nothing else of the transaction. `key` derives its ids. */
  const worked = (key?: string): Outcome => {
    try {
      const answer = sql.undoable(() => {
        refuseProblem(parsed);
        if (route.ofService !== undefined) return undefined;
        return handled(parts, parsed, { sql, now, idSource: idSourceFor(key) });
      });
      return { answer };
    } catch (error) {
      // Of these the transaction itself is lost, or must be tried again.
      if (endsTransaction(error)) throw error;
      return error instanceof Refused ? refuse(error) : { error };
    }
  };
  const outcome = (): Outcome => {
    if (isOver) return refuse(new Refused('rate_limited', `At most ${allowance?.limit} such requests a minute.`));
    if (isKeptFrom) return {};
    return keyed === undefined ? worked() : workedOnce(sql, { ...keyed, now }, { refuse, worked });
  };
  const { answer, error } = outcome();
  if (route.surface === 'service') {
    const took = Math.max(0, Math.round(clock.monotonic() - parsed.arrivedAt));
    const row = requestRow(parsed, { requestId, now, answer, appliedFault, took });
    if (access === 'write') insertRequest(sql, row);
    else requestLog.keep(row);
  }
  return { ...known, answer, error };
}

/** What the handler of the operation gives, in the words of the dialect. */
function handled(
  { activeDialect: { dialect } }: ServiceParts,
  parsed: ParsedRequest,
  within: Pick<Call, 'sql' | 'now' | 'idSource'>,
): Answer {
  const { surface, name, row, handler } = parsed.route;
  const input = Object.assign({}, parsed.params, parsed.query, withCents(row.body ?? {}, bodyOf(parsed)));
  const emit: Call['emit'] = (event, data) =>
    recordEvent(within, event, dialect.eventData?.(within, event, data) ?? data);
  const reply = handler?.({ ...within, emit, input });
  return replyAnswer(row, surface === 'service' ? (dialect.reply?.(within, name, reply) ?? reply) : reply);
}

/**
 * Idempotency: the record is looked up and kept in the one transaction of the effect, which holds the write lock of the
 * store from its beginning. So one key has one effect and one answer, whoever else asks.
 */
function workedOnce(
  sql: Sql,
  { scope, fingerprint, rival, now }: NonNullable<ParsedRequest['keyed']> & { readonly now: number },
  { refuse, worked }: { refuse: (refused: Refused) => Outcome; worked: (key: string) => Outcome },
): Outcome {
  if (rival === fingerprint) {
    const inProgress = 'A request with this idempotency key is still being worked on.';
    return refuse(new Refused('idempotency_in_progress', inProgress));
  }
  const expired = `update idempotency set state = 'expired', headers = null, body = null
    where state = 'done' and expires_at <= ?`;
  sql.run(expired, now);
  const row = sql.row('idempotency', { scope });
  if (rival !== undefined || (row?.state === 'done' && row.fingerprint !== fingerprint)) {
    return refuse(new Refused('idempotency_key_reused', 'This idempotency key was used with another body.'));
  }
  if (row?.state === 'done') {
    const headers = JSON.parse(row.headers ?? '{}') as Record<string, string>;
    return { answer: replayed({ status: row.status ?? 0, headers, body: row.body ?? '' }) };
  }
  // An expired key gives new ids, or they would be given out twice.
  const generation = row === undefined ? 0 : row.generation + 1;
  const outcome = worked(`${generation} ${scope}`);
  const { answer, refused } = outcome;
  // A refusal of what the account holds is repeated too, others are not.
  if (answer !== undefined && (refused === undefined || 'storedForKey' in REFUSALS[refused.refusal])) {
    const { status, body } = answer;
    const kept = { status, headers: JSON.stringify(answer.headers), body, expires_at: now + KEY_RETENTION };
    const record = { fingerprint, state: 'done', generation, ...kept } as const;
    if (generation === 0) sql.insert('idempotency', { scope, ...record });
    else sql.update('idempotency', { scope }, record);
  }
  return outcome;
}

/** SHA-256 of method, path and JSON, with the keys of every object in order, so that their order makes no other body. */
export function fingerprintOf(method: string, path: string, body: unknown): string {
  const inOrder = (_: string, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map(key => [key, value[key]]),
        )
      : value;
  return hash('sha256', `${method} ${path}\n${JSON.stringify(body, inOrder)}`, 'hex');
}
