/**
 * Faults: which rule meets a request or a delivery, and what becomes of the answer. Rules are rows: matches are counted in the transaction that executes the request,
 * so that one process sets a rule, the next meets it, and a request that is undone was not counted.
 */

import type { ServerResponse } from 'node:http';
import { HEADERS } from '../../contract/envelopes.ts';
import { REFUSALS, type RefusalName } from '../../contract/refusals.ts';
import type { DeliveryAction, FaultMatch, FaultRule, OneFault, RequestAction } from '../../contract/sandbox/faults.ts';
import { jsonOrUndefined } from '../../core/objects.ts';
import type { Clock } from '../../platform/host.ts';
import { inNextTurn, rest } from '../../platform/time.ts';
import { fractionOf, seedOf } from '../calls/deterministic-ids.ts';
import { Refused } from '../calls/handler.ts';
import { type Answer, errorAnswer, refusedAnswer } from '../http/answer.ts';
import { type AppliedFault, type ParsedRequest, paramsIn, SERVICE_PATH } from '../http/request.ts';
import type { FaultRow } from '../store/rows.ts';
import type { Sql } from '../store/sql.ts';

/** The first rule that applies; rules before it count their matches, rules after it are not evaluated. */
export function faultFor(
  sql: Sql,
  { parsed, now, requestId }: { parsed: ParsedRequest; now: number; requestId: string },
): AppliedFault | undefined {
  const phased = (phase: FaultRule['phase']) =>
    parsed.route.row.method === 'GET' ? 'after_commit' : (phase ?? 'before');
  if (parsed.fault !== undefined) {
    const { phase, action } = parsed.fault;
    return { phase: phased(phase), action, source: `header ${requestId}` };
  }
  const struck = firstApplied(sql, { meets: 'requests', now }, match => meetsRequest(match, parsed));
  if (struck === undefined) return undefined;
  const { rule, source } = struck;
  return { phase: phased(rule.phase), action: rule.action as RequestAction, source };
}

/** Counts matches until one rule applies. `source` seeds what its action leaves random. */
function firstApplied(
  sql: Sql,
  { meets, now }: { readonly meets: FaultRow['meets']; readonly now: number },
  matches: (match: FaultMatch) => boolean,
): { readonly rule: FaultRule; readonly source: string } | undefined {
  // Those that can still apply, in the order they were added.
  const active = `select * from faults where meets = ? and (times is null or struck < times)
    and (expires_at is null or expires_at > ?) order by position`;
  for (const row of sql.all<FaultRow>(active, meets, now)) {
    const rule = JSON.parse(row.rule) as FaultRule;
    const { match = {} } = rule;
    if (!matches(match)) continue;
    const seen = row.seen + 1;
    const source = `${seedOf(sql)} ${row.id} ${seen}`;
    const { nth = 1, probability = 1 } = match;
    const isApplied = seen >= nth && fractionOf(`${source} probability`) < probability;
    sql.update('faults', { id: row.id }, { seen, struck: row.struck + (isApplied ? 1 : 0) });
    if (isApplied) return { rule, source };
  }
  return undefined;
}

function meetsRequest(
  match: FaultMatch,
  { route, path, params, query, body, keySent, keyLast4 }: ParsedRequest,
): boolean {
  const { operation, method, card_id: card, key_last4: last4, key_prefix: prefix } = match;
  const cards = [params, query, body].map(part => part?.['card_id']);
  return (
    (operation === undefined || operation === route.name) &&
    (method === undefined || method === route.row.method) &&
    (match.path === undefined || paramsIn(path, SERVICE_PATH + match.path) !== undefined) &&
    (card === undefined || cards.includes(card)) &&
    (last4 === undefined || last4 === keyLast4) &&
    (prefix === undefined || keySent?.startsWith(prefix) === true)
  );
}

// The rules that meet deliveries to subscriptions: twice, out of order, later.

/** Asked once a delivery, in the transaction that would claim it; counts the rule down there. */
export function deliveryFault(
  sql: Sql,
  { now, event, webhook }: { readonly now: number; readonly event: string; readonly webhook: string },
): DeliveryAction | undefined {
  const struck = firstApplied(
    sql,
    { meets: 'deliveries', now },
    match =>
      (match.event === undefined || match.event === event) &&
      (match.webhook_id === undefined || match.webhook_id === webhook),
  );
  return struck?.rule.action as DeliveryAction | undefined;
}

// Length of an injected delay; the seed fixes its random part.

const LONGEST = 600_000;

/** Real ms; the same for the same `source`. One of the three members is there. */
function drawnWait({ fixed, uniform, lognormal }: Of<'latency'>, source: string): number {
  if (fixed !== undefined) return fixed;
  if (uniform !== undefined) {
    return uniform.min + Math.floor(fractionOf(`${source} uniform`) * (uniform.max - uniform.min + 1));
  }
  const { median = 0, sigma = 0 } = lognormal ?? {};
  return Math.min(LONGEST, Math.round(median * Math.exp(sigma * normal(source))));
}

/** Box and Muller: two even numbers make a normal one. */
function normal(source: string): number {
  const one = 1 - fractionOf(`${source} normal 1`);
  const other = fractionOf(`${source} normal 2`);
  return Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * other);
}

// `X-Sandbox-Fault`: a fault for one request, `{"phase":"after_commit","action":{"kind":"reset"}}`.

export const FAULT_HEADER = 'x-sandbox-fault';

/** Throws `invalid_request` naming the member that is wrong. */
export async function faultInHeader(header: string | readonly string[]): Promise<OneFault> {
  const { oneFaultProblem } = await import('../../contract/sandbox/faults.ts');
  const fault = jsonOrUndefined(String(header));
  if (fault === undefined) throw new Refused('invalid_request', 'X-Sandbox-Fault: the fault is not JSON');
  const problem = oneFaultProblem(fault);
  if (problem !== undefined) throw new Refused('invalid_request', `X-Sandbox-Fault: ${problem.field} ${problem.text}`);
  return fault as OneFault;
}

// A fault that meets one request: when, what, and what is answered instead.

/** The request is held up before its work, and then goes on as if nothing had been. */
export function waitBefore({ phase, action, source }: AppliedFault): number | undefined {
  return phase === 'before' && action.kind === 'latency' ? drawnWait(action, source) : undefined;
}

/** For the request log: `after_commit reset`. */
export function faultText({ phase, action }: AppliedFault): string {
  return `${phase} ${action.kind}`;
}

type Of<Kind extends RequestAction['kind']> = Extract<RequestAction, { kind: Kind }>;

/** What a fault does to an answer: another one in its place, or another way of handing it over. */
interface Spoiling<Action> {
  /** What reached the client, in words. */
  readonly says: string;
  /** `real` is what is spoilt; `isKept`: the work was kept from happening. */
  readonly answer?: (action: Action, real: Answer, facts: { requestId: string; isKept: boolean }) => Answer;
  readonly send?: (action: Action, sending: Sending) => void | Promise<void>;
}

const SPOILT: { readonly [Kind in RequestAction['kind']]: Spoiling<Of<Kind>> } = {
  status: {
    says: 'another status in its place',
    answer: (action, _real, { requestId }) => statusAnswer(action, requestId),
  },
  latency: {
    says: 'the answer as it is, late',
    async send(action, sending) {
      const { phase, source } = sending.fault;
      if (phase === 'after_commit') await pause(drawnWait(action, source), sending);
      whole(sending);
    },
  },
  reset: { says: 'nothing: the connection was reset', send: (_, { response }) => cut(response) },
  hang: {
    says: 'nothing: silence, then a closed connection',
    async send({ max_ms }, sending) {
      await pause(max_ms, sending);
      cut(sending.response);
    },
  },
  empty: {
    says: 'no body',
    answer: ({ status }, real, { isKept }) => ({
      status: status ?? (isKept ? 200 : real.status),
      headers: {},
      body: '',
    }),
  },
  malformed: {
    says: 'broken JSON in its place',
    // 204 may have no body, so that nothing could be wrong with it.
    answer: ({ status }, real) => ({
      ...real,
      status: status ?? (real.status === 204 ? 200 : real.status),
      body: BROKEN,
    }),
  },
  html: {
    says: 'a web page in its place',
    answer: ({ status = 502 }) => ({ status, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: PAGE }),
  },
  truncate: { says: 'its beginning alone', send: ({ bytes }, sending) => truncated(bytes, sending) },
  drip: { says: 'the answer as it is, slowly', send: dripped },
};

const spoilingOf = (action: RequestAction) => SPOILT[action.kind] as Spoiling<RequestAction>;

/** What reached the client, by the text of the fault as it is logged. */
export function spoiltText(fault: string | null): string {
  if (fault === null) return 'the answer as it is';
  const [, kind = ''] = fault.split(' ');
  return `${SPOILT[kind as RequestAction['kind']]?.says ?? kind} (${fault})`;
}

/**
 * What is answered under an applied fault, where it is the answer that is wrong and not the connection. `answer` is that of
 * the work, or undefined where the work was kept from happening; then a 503 is what gets spoilt.
 */
export function faultyAnswer({ action }: AppliedFault, answer: Answer | undefined, requestId: string): Answer {
  const onPurpose = new Refused('service_unavailable', 'A fault of the sandbox, on purpose.');
  const real = answer ?? refusedAnswer(onPurpose, requestId);
  return spoilingOf(action).answer?.(action, real, { requestId, isKept: answer === undefined }) ?? real;
}

const BROKEN = '{"data": [{"id": "…", ';
const PAGE = '<!doctype html><html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>\n';

/** Words for statuses the service has more than one of, or none. */
const USUAL: Readonly<Record<number, RefusalName>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'idempotency_in_progress',
  422: 'idempotency_key_reused',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'service_unavailable',
};

function statusAnswer({ code, error, retry_after: wait }: Of<'status'>, requestId: string): Answer {
  const headers: Record<string, string> = wait === undefined ? {} : { [HEADERS.retry_after.name]: String(wait) };
  const usual = USUAL[code];
  if (usual === 'unauthorized') headers['WWW-Authenticate'] = 'Bearer';
  const word = error ?? usual ?? (code < 400 ? 'fault' : 'internal_error');
  const known = Object.hasOwn(REFUSALS, word) ? '' : ' (a word of the fault)';
  return errorAnswer({ status: code, error: word, message: `A fault on purpose${known}.`, headers }, requestId);
}

// Hands an answer over as a fault wants it: late, in part, drop by drop, or not at all.

interface Sending {
  readonly fault: AppliedFault;
  readonly response: ServerResponse;
  readonly answer: Answer;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** The server stops: nobody is kept waiting any longer. */
  readonly stopping: AbortSignal;
}

const DRIPS_PER_SECOND = 10;

/** Resolves when the connection is done with, or the answer handed over. */
export async function sendFaulty(sending: Sending): Promise<void> {
  const { action } = sending.fault;
  const { send } = spoilingOf(action);
  if (send === undefined) whole(sending);
  else await send(action, sending);
}

const whole = ({ response, answer, headers }: Sending) =>
  void response.writeHead(answer.status, headers).end(answer.body);

/** Waits, but no longer than the server runs or somebody is there. False when it was cut short. */
async function pause(ms: number, { response, clock, stopping }: Sending): Promise<boolean> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  try {
    return await rest(ms, clock, AbortSignal.any([gone.signal, stopping]));
  } finally {
    response.off('close', leave);
  }
}

/** What happens when the process on the other side dies: a reset where the transport has one. */
function cut(response: ServerResponse): void {
  const { socket } = response;
  if (socket === null || socket.destroyed) return;
  if (socket.remoteAddress === undefined) socket.destroy();
  else socket.resetAndDestroy();
}

/** The head promises the whole body; only its first bytes come. */
async function truncated(bytes: number, { response, answer, headers }: Sending): Promise<void> {
  const part = Buffer.from(answer.body).subarray(0, bytes);
  response.writeHead(answer.status, headers);
  response.flushHeaders();
  await new Promise<void>(resolve => {
    // Not a reset, which may take from the receiver what is on its way.
    const close = () => {
      response.socket?.end();
      response.socket?.destroySoon();
      resolve();
    };
    if (part.length === 0) inNextTurn(close);
    else response.write(part, close);
  });
}

async function dripped({ bytes_per_s: rate }: Of<'drip'>, sending: Sending) {
  const { response, answer, headers } = sending;
  const body = Buffer.from(answer.body);
  const size = Math.max(1, Math.floor(rate / DRIPS_PER_SECOND));
  response.writeHead(answer.status, headers);
  response.flushHeaders();
  for (let at = 0; at < body.length; at += size) {
    if (!(await pause((1000 * size) / rate, sending))) return cut(response);
    response.write(body.subarray(at, at + size));
  }
  response.end();
}
