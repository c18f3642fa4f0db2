/**
 * One request out, one answer in: headers, exchange, the class of the outcome and what an answer proves
 * (docs/design/reliability.md, section 2). The parts, in order: the verdict, the class of a status, the judgement of an
 * answer, the verdict as an `Attempt`, the sending.
 */

import { answerWord } from '../contract/answer-words.ts';
import { HEADERS } from '../contract/envelopes.ts';
import { balancesIn, type Evidence, unshown } from '../contract/evidence.ts';
import type { Operation } from '../contract/operation.ts';
import {
  BEFORE_EXECUTION,
  REFUSALS,
  type RefusalName,
  type RefusalRule,
  refusalNamed,
  ruleFor,
  speaksOfRepetition,
} from '../contract/refusals.ts';
import { SANDBOX_MARK } from '../contract/sandbox/basis.ts';
import type { Attempt, PlannedRequest } from '../contract/service.ts';
import { REQUEST_TOTAL_MS } from '../core/durations.ts';
import { CliError, type ErrorKind, type ServiceRefusal } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import type { Clock } from '../platform/host.ts';
import {
  type Body,
  dateOf,
  headerText,
  headerWarnings,
  MAX_BYTES,
  MAX_LIST_BYTES,
  readBody,
  retryAfterMs,
  textOf,
} from './body.ts';
import { type Decoded, decodeAnswer, decodeRaw, type RequestFacts, withoutSecrets } from './decode.ts';
import { isWrite, keyHeader } from './encode.ts';
import { type Classified, errorOf, type FailureClass, type Happened, isErrorAnswer, readErrorBody } from './errors.ts';
import type { Redactor } from './redact.ts';
import type { Certificate, Exchange, Transport, WireRequest } from './transport.ts';

/** What is missing from a 2xx answer of a write. */
type Ambiguity =
  /** 202: accepted, not done. */
  | 'pending'
  /** 204 or `{"success": true}`: done, and nothing to show. */
  | 'no_content'
  /** A member that must be there is not, or the wanted state does not show yet. */
  | 'lacking'
  /** Empty, unreadable, not of this API, or about something else. */
  | 'worthless';

interface Received {
  readonly status: number;
  readonly requestId: string | undefined;
}

export type Interpretation =
  /** `reread` when it was not the answer that showed it. */
  | (Received & {
      readonly class: 'done';
      readonly decoded: Decoded;
      readonly reread?: boolean;
      /** Of a write: as it was judged by, its times by the clock of the service. */
      readonly evidence?: Evidence | undefined;
    })
  /** `error` is what to throw when the effect cannot be confirmed. */
  | (Received & {
      readonly class: 'unverified';
      readonly doubt: Ambiguity;
      readonly partial: Readonly<Record<string, unknown>>;
      readonly error: CliError;
      /** As it was judged by, its times by the clock of the service. */
      readonly evidence: Evidence | undefined;
    })
  | (Partial<Received> & {
      readonly class: FailureClass;
      readonly error: CliError;
      readonly again: boolean;
      readonly refusal?: RefusalName | undefined;
      /** Of a refused write. */
      readonly rule?: RefusalRule | undefined;
      /** The clause of the error that says what was answered. */
      readonly said: string;
    });

interface Judged extends RequestFacts {
  readonly idempotencyKey: string | undefined;
  /** When the answer came, ms UTC by this machine. */
  readonly answeredAt: number;
  /** Scheme and host the request went to, for redirects. */
  readonly origin: string;
  /** Path and query of the request. */
  readonly path: string;
  /** Variables of the environment that name address and key. */
  readonly variables?: readonly string[] | undefined;
  readonly redactor: Redactor;
}

type Answered = Extract<Exchange, { status: number }>;

// The class of a status, an identifier and an effect; it drives all that follows.

interface ErrorFacts {
  readonly row: Operation;
  readonly status: number;
  /** Identifier in the body, as sent. */
  readonly identifier?: string | undefined;
  readonly refusal?: RefusalName | undefined;
  /** The body is an error of an API, not something of a proxy on the way. */
  readonly fromApi: boolean;
  /** It came as JSON by its content type. */
  readonly isJson: boolean;
  /** As in `CallOptions`. */
  readonly keyOfCaller?: boolean | undefined;
}

/** No answer came. Before the send event nothing can have happened; after it a write may have. */
function classifySilence(row: Operation, sent: boolean): Classified {
  if (!sent) return { class: 'not_sent', kind: 'unreachable', outcome: 'not_sent', again: true };
  return isWrite(row) ? AMBIGUOUS : { class: 'read_failed', kind: 'unreachable', again: true };
}

/** A 2xx answer that cannot be used. A write that was cut or lacks something is `unverified`, not here. */
export function classifyUnusable(row: Operation, cut: boolean): Classified {
  if (isWrite(row)) return AMBIGUOUS;
  if (cut) return { class: 'read_failed', kind: 'unreachable', again: true };
  return { class: 'unreadable', kind: 'contract_mismatch', again: false };
}

const AMBIGUOUS: Classified = { class: 'ambiguous', kind: 'outcome_unknown', outcome: 'unknown', again: false };

/** 4xx numbers that do not say whether it was executed. */
const UNDECIDED: readonly number[] = [408, 499];
/** Repeating a read cannot change these. */
const PERMANENT: readonly number[] = [501, 505];

/** An answer outside 2xx: identifier first, status second, never the message (reading rule 10). */
function classifyError(facts: ErrorFacts): Classified {
  const { row, status, identifier, refusal } = facts;
  // A network on the way repeats requests too: the first may have been carried out.
  if (isWrite(row) && refusal === undefined && speaksOfRepetition(identifier)) return AMBIGUOUS;
  const routeMissing = isRouteMissing(facts) ? { routeMissing: true as const } : {};
  const named = refusal === undefined ? {} : { refusal };
  if (status === 429 || (refusal === 'rate_limited' && status >= 400)) {
    return { class: 'throttled', kind: 'rate_limited', outcome: 'refused', again: false, ...named };
  }
  if (speaksOfRunningKey(facts)) {
    return { class: 'in_progress', kind: 'outcome_unknown', outcome: 'unknown', again: false, ...named };
  }
  const definite = status >= 400 && status < 500 && !UNDECIDED.includes(status);
  const undecided = !definite || (isWrite(row) && !facts.fromApi && !BEFORE_EXECUTION.includes(status));
  if (undecided && isWrite(row)) return { ...AMBIGUOUS, ...routeMissing, ...named };
  if (undecided) {
    const again = (status >= 500 && status < 600 && !PERMANENT.includes(status)) || UNDECIDED.includes(status);
    return { class: 'read_failed', kind: 'unreachable', again, ...routeMissing, ...named };
  }
  const rule = isWrite(row) ? { rule: ruleOf(facts) } : {};
  return {
    class: 'refused',
    kind: refusedKind(facts),
    outcome: 'refused',
    again: false,
    ...routeMissing,
    ...named,
    ...rule,
  };
}

function ruleOf({ row, status, identifier, refusal, isJson, keyOfCaller = false }: ErrorFacts): RefusalRule {
  const inServiceForm = isJson && identifier !== undefined;
  return ruleFor({ row, status, refusal, inServiceForm, saysKeyReused: keyReused(identifier), keyOfCaller });
}

function refusedKind({ row, status, identifier, refusal }: ErrorFacts): ErrorKind {
  // Some services use one word for an empty wallet and an empty card (A-110).
  const ofCard = row.fails?.includes('insufficient_card_funds') && refusal === 'insufficient_funds';
  if (ofCard) return 'refused';
  if (keyReused(identifier)) return 'internal';
  const kind = refusal === undefined ? undefined : REFUSALS[refusal].kind;
  if (kind !== undefined && kind !== 'outcome_unknown') return kind;
  if (status === 401 || status === 403) return 'not_authenticated';
  return status === 404 ? 'not_found' : 'refused';
}

/** 409 is also the status of a reused key in some services (A-95): another matter, and our bug. */
function speaksOfRunningKey({ status, identifier, refusal }: ErrorFacts): boolean {
  if (refusal === 'idempotency_in_progress') return status >= 400 && status < 500;
  if (status !== 409 || refusal !== undefined || identifier === undefined) return false;
  return /idempot|in_?progress|concurrent/i.test(identifier) && !keyReused(identifier);
}

function keyReused(identifier: string | undefined): boolean {
  return identifier !== undefined && /idempot.*(?:reus|mismatch|conflict|different)/i.test(identifier);
}

/** 405, 501, or 404 with an identifier that names no resource (reading rule 2). */
function isRouteMissing({ row, status, refusal }: ErrorFacts): boolean {
  if (status === 405 || status === 501 || refusal === 'route_not_found' || refusal === 'method_not_allowed')
    return true;
  if (status !== 404) return false;
  if (refusal === undefined) return true;
  // "not found" where nothing was named can only mean the route.
  return refusal === 'not_found' && row.params === undefined && !namesResource(row);
}

function namesResource(row: Operation): boolean {
  return Object.values({ ...row.query, ...row.body }).some(field => field.names !== undefined);
}

// The judgement of an answer.

/**
 * Judges how one attempt ended. Never throws. Whatever an error, and with it the journal and every message, will repeat
 * of the answer has passed the redactor here, wherever in the answer it stood.
 */
function interpretResponse(exchange: Exchange, judged: Judged): Interpretation {
  return withoutSecretsSaid(interpretationOf(exchange, judged), judged.redactor);
}

function withoutSecretsSaid(verdict: Interpretation, { text: clean }: Redactor): Interpretation {
  const { requestId } = verdict;
  const cleaned = requestId === undefined ? verdict : { ...verdict, requestId: clean(requestId) };
  if (cleaned.class === 'done') return cleaned;
  const error = cleanError(cleaned.error, clean);
  return cleaned.class === 'unverified' ? { ...cleaned, error } : { ...cleaned, error, said: clean(cleaned.said) };
}

function cleanError(error: CliError, clean: Redactor['text']): CliError {
  const { message, hint, service } = error.facts;
  const said = Object.entries(service ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? clean(value) : value,
  ]);
  return error.with({
    message: clean(message),
    ...(hint !== undefined && { hint: clean(hint) }),
    ...(service !== undefined && { service: Object.fromEntries(said) as ServiceRefusal }),
  });
}

function interpretationOf(exchange: Exchange, judged: Judged): Interpretation {
  if (exchange.status === undefined) {
    const classified = classifySilence(judged.target.row, exchange.sent);
    const { text: why, cause, nobody } = exchange.failure;
    return failed(classified, judged, { why, cause, nobody });
  }
  const body = readBody(exchange);
  return exchange.status >= 300 ? judgeError(exchange, body, judged) : judgeSuccess(exchange, body, judged);
}

type Extra = Omit<Happened, 'target' | 'input' | 'idempotencyKey'>;

function failed(classified: Classified, judged: Judged, extra: Extra): Interpretation {
  const error = errorOf(classified, { ...judged, ...extra });
  const requestId = extra.service?.request_id;
  return {
    class: classified.class,
    again: classified.again,
    refusal: classified.refusal,
    rule: classified.rule,
    said: extra.why,
    error,
    ...(extra.status !== undefined && { status: extra.status, requestId }),
  };
}

function judgeSuccess(exchange: Answered, body: Body, judged: Judged): Interpretation {
  const service = serviceOf(exchange, body, judged);
  const { status } = exchange;
  const extra = service === undefined ? { status } : { status, service };
  const received: Received = { status, requestId: service?.request_id };
  const succeeded: Succeeded = { exchange, body, judged, extra, received };
  return isWrite(judged.target.row) ? judgeWritten(succeeded) : judgeReadAnswer(succeeded);
}

/** A 2xx answer with what every verdict about it says. */
interface Succeeded {
  readonly exchange: Answered;
  readonly body: Body;
  readonly judged: Judged;
  readonly extra: Pick<Extra, 'status' | 'service'>;
  readonly received: Received;
}

function judgeReadAnswer({ exchange, body, judged, extra, received }: Succeeded): Interpretation {
  const { row } = judged.target;
  if (body.kind === 'json' && isErrorAnswer(body.value)) {
    return failed(classifyUnusable(row, false), judged, {
      ...extra,
      why: `an error came with status ${exchange.status}`,
    });
  }
  const unusable = unusableText(body);
  if (unusable === undefined) return judgeDecoded(decode(exchange, body, judged), received, judged);
  const cut = body.kind === 'damaged' && body.cut;
  return failed(classifyUnusable(row, cut), judged, { ...extra, why: unusable, webPage: body.kind === 'html' });
}

/** The answer of a write is believed when it shows the effect; else the resource must be read. */
function judgeWritten({ exchange, body, judged, extra, received }: Succeeded): Interpretation {
  const { row } = judged.target;
  const { status } = exchange;
  const evidence = judged.evidence && atServiceTime(judged.evidence, exchange, judged.answeredAt);
  const doubted = (doubt: Ambiguity, why: string, partial = {}): Interpretation => {
    const error = errorOf(classifyUnusable(row, false), { ...judged, ...extra, why });
    return { ...received, class: 'unverified', doubt, partial, error, evidence };
  };
  const raw = row.returns.kind === 'raw';
  const word = body.kind === 'json' ? answerWord(body.value, name => row.returns.shape[name]?.choices) : undefined;
  if (word?.says === 'no') {
    const why = `the answer says that it failed (${status}, ${word.text})`;
    return failed(classifyUnusable(row, false), judged, { ...extra, why });
  }
  if (status === 202) return doubted('pending', 'the service accepted it but has not finished (202)');
  // What a resource of a kind nobody knows is waiting for may be its ordinary life.
  if (word !== undefined && !raw) return doubted('pending', `the service has not finished (${status}, ${word.text})`);
  const unusable = unusableText(body);
  const contentless = status === 204 || saysNothingElse(body);
  const none = raw || row.returns.kind === 'none';
  if (none && body.kind === 'empty') return { ...received, class: 'done', decoded: decode(exchange, body, judged) };
  if (contentless && !none) return doubted('no_content', 'the answer holds only a word of success');
  if (unusable !== undefined) return doubted('worthless', unusable);
  if (body.kind === 'json' && !raw && !isObject(body.value)) return doubted('worthless', 'the answer is not an object');
  const decoded = decode(exchange, body, judged);
  const [problem] = decoded.problems;
  const partial = isObject(decoded.result) ? decoded.result : {};
  if (decoded.contradicts) return doubted('worthless', problemText(decoded), partial);
  if (problem) return doubted('lacking', problemText(decoded), partial);
  const missing = none ? undefined : unshown({ row, input: judged.input }, partial, evidence);
  if (missing !== undefined) return doubted('lacking', missing, partial);
  return { class: 'done', status, requestId: received.requestId, decoded, evidence };
}

/**
 * The plan's time by the clock of the service: clocks of sandboxes are set at will. Best it was told when the write was
 * sent first; else this answer tells it.
 */
function atServiceTime(evidence: Evidence, { headers }: Answered, answeredAt: number): Evidence {
  if (evidence.serviceAt !== undefined) return { ...evidence, plannedAt: evidence.serviceAt, byServiceClock: true };
  const date = dateOf(headers);
  if (date === undefined) return evidence;
  return { ...evidence, plannedAt: evidence.plannedAt + (date - answeredAt), byServiceClock: true };
}

function decode(exchange: Answered, body: Body, judged: Judged): Decoded {
  const { target, redactor } = judged;
  const came = body.kind === 'json' ? body.value : undefined;
  if (target.row.returns.kind === 'raw') return decodeRaw(exchange, came, redactor);
  return decodeAnswer(judged, target.row.raw ? withoutSecrets(came, redactor).value : came, exchange.headers);
}

function judgeDecoded(decoded: Decoded, received: Received, judged: Judged): Interpretation {
  if (decoded.problems.length === 0) return { ...received, class: 'done', decoded };
  const { status, requestId } = received;
  const service = requestId === undefined ? {} : { service: { request_id: requestId } };
  return failed(classifyUnusable(judged.target.row, false), judged, { status, why: problemText(decoded), ...service });
}

function problemText({ problems }: Decoded): string {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return `${first?.path} ${first?.text}${more}`;
}

function unusableText(body: Body): string | undefined {
  switch (body.kind) {
    case 'json':
      return undefined;
    case 'empty':
      return 'the answer is empty';
    case 'html':
      return notTheApi(body.title);
    case 'text':
      return 'the answer is not JSON';
    case 'damaged':
      return body.text;
  }
}

const notTheApi = (title: string | undefined) => `the answer is a web page, not the API${title ? `: "${title}"` : ''}`;

/** `{"success": true}`, and what a delete answers: `{"id", "deleted": true}`. */
function saysNothingElse(body: Body): boolean {
  if (body.kind !== 'json' || !isObject(body.value)) return false;
  const { success, deleted } = body.value;
  const others = Object.keys(body.value).filter(
    key => !['success', 'deleted', 'id', 'message', 'object'].includes(key),
  );
  return (success === true || deleted === true) && deleted !== false && others.length === 0;
}

function judgeError(exchange: Answered, body: Body, judged: Judged): Interpretation {
  const { status, headers } = exchange;
  const { row, overrides } = judged.target;
  const service = serviceOf(exchange, body, judged);
  const refusal = refusalNamed(service?.error);
  const fromApi = service?.error !== undefined || (body.kind === 'json' && readErrorBody(body.value) !== undefined);
  const classified = classifyError({
    row,
    status,
    identifier: service?.error,
    refusal,
    fromApi,
    isJson: /^[^;]*\bjson\b/i.test(headerText(headers, 'content-type') ?? ''),
    keyOfCaller: judged.keyOfCaller,
  });
  return failed(classified, judged, {
    status,
    why: errorText(exchange, body, { service, origin: judged.origin, path: judged.path }),
    webPage: body.kind === 'html',
    retryAfterMs: retryAfterMs(headers, overrides.headers.retry_after ?? HEADERS.retry_after.name),
    ...(service && { service }),
  });
}

interface Said {
  readonly service: ServiceRefusal | undefined;
  readonly origin: string;
  readonly path: string;
}

function errorText({ status, headers }: Answered, body: Body, { service, origin, path }: Said): string {
  if (status < 400) {
    const location = headerText(headers, 'location') ?? '';
    const to = URL.canParse(location, `${origin}${path}`) ? new URL(location, `${origin}${path}`) : undefined;
    const [from, target] =
      to?.origin === origin ? [path.split('?')[0], to.pathname] : [origin, to?.origin ?? 'an unnamed address'];
    return `${from} redirects to ${target} (${status}); redirects are not followed, set the base URL to the right one`;
  }
  if (body.kind === 'html') return `${notTheApi(body.title)} (${status} from ${origin})`;
  if (service?.error === undefined) return `status ${status}`;
  return service.message
    ? `${service.error}, "${service.message.slice(0, 300)}" (${status})`
    : `${service.error} (${status})`;
}

/** The service's error verbatim; with a request id in a header alone, just that. */
function serviceOf({ headers }: Answered, body: Body, judged: Judged): ServiceRefusal | undefined {
  const said = body.kind === 'json' ? (readErrorBody(body.value) ?? idOnly(body.value)) : undefined;
  const name = judged.target.overrides.headers.request_id ?? HEADERS.request_id.name;
  const requestId = said?.request_id ?? headerText(headers, name);
  if (said === undefined && requestId === undefined) return undefined;
  return { ...said, ...(requestId !== undefined && { request_id: requestId }) };
}

function idOnly(value: unknown): ServiceRefusal | undefined {
  const id = isObject(value) ? value['request_id'] : undefined;
  return typeof id === 'string' ? { request_id: id } : undefined;
}

// The verdict about a write as an `Attempt`.

/** Statuses with which a word that the contract does not know is a refusal all the same. */
const REFUSING: readonly number[] = [400, 401, 403, 404, 422];

/** Of the verdict about one attempt: its class, and what the answer showed. */
export function attemptOf(verdict: Interpretation, asked: RequestFacts): Attempt {
  const { status, requestId } = verdict;
  const about = { status, requestId, evidence: asked.evidence };
  switch (verdict.class) {
    case 'done':
      return { ...about, class: 'done', ...shownBy(verdict.decoded.result, asked, verdict.evidence) };
    case 'unverified': {
      const { error, doubt, partial, evidence } = verdict;
      const pending = doubt === 'pending' ? { pending: true as const } : {};
      return { ...about, class: 'ambiguous', error, ...pending, ...shownBy(partial, asked, evidence) };
    }
    case 'not_sent':
      return { class: 'not_sent', error: verdict.error };
    case 'throttled': {
      const { error, refusal } = verdict;
      return { ...about, class: 'throttled', error, refusal, retryAfterMs: error.facts.retryAfterMs };
    }
    case 'refused':
      return { ...about, ...refused(verdict, asked) };
    case 'in_progress':
    case 'ambiguous': {
      const { error, refusal } = verdict;
      const running = verdict.class === 'in_progress' ? { keyInProgress: true as const } : {};
      return { ...about, class: 'ambiguous', error, refusal, retryAfterMs: error.facts.retryAfterMs, ...running };
    }
    default:
      throw new CliError('internal', { ...verdict.error.facts, message: 'a read was sent as a write' });
  }
}

function refused(verdict: Extract<Interpretation, { again: boolean }>, asked: RequestFacts): Attempt {
  const { error, refusal, rule, status = 0, said } = verdict;
  if (rule === undefined || rule.weight === 'definite') return { class: 'refused', error, refusal };
  if (rule.weight === 'plausible' && REFUSING.includes(status)) {
    return { class: 'refused', plausible: true, error, refusal };
  }
  const why = `${said}; ${rule.because ?? 'the contract does not know this word'}`;
  const { service, idempotencyKey } = error.facts;
  const unknown = errorOf(classifyUnusable(asked.target.row, false), {
    ...asked,
    status,
    why,
    service,
    idempotencyKey,
  });
  return { class: 'ambiguous', error: unknown, refusal };
}

/** The members of an answer by which it can be looked for. */
function shownBy(result: unknown, { target }: RequestFacts, evidence: Evidence | undefined): Partial<Attempt> {
  const members: Readonly<Record<string, unknown>> = isObject(result) ? result : {};
  const { id, card_balance: card, wallet_balance: wallet } = members;
  const { makes, transfer } = target.row;
  return {
    result,
    ...(makes !== undefined && typeof id === 'string' && { made: id }),
    ...(transfer !== undefined && { balances: balancesIn(card, wallet) }),
    ...(evidence !== undefined && { evidence }),
  };
}

// The sending.

/** What the reader of a list of many pages adds to a request. */
export interface PageReading {
  /** Called when the page is there whole, before it is read: the connection is free again. */
  readonly onArrival: () => void;
}

/** What all attempts of a service share. */
export interface Wire {
  readonly transport: Transport;
  readonly origin: string;
  /** Variables of the environment that name address and key. */
  readonly variables: readonly string[] | undefined;
  /** Path of the base address, without a slash at its end. */
  readonly basePath: string;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly userAgent: string;
  readonly timeoutMs: number | undefined;
  /** The sandbox's clock is its own; no warning is due. */
  readonly checkClock: boolean;
  readonly debug: ((line: string) => void) | undefined;
  readonly observe: ((observed: Observed) => void) | undefined;
  /** Told that a request leaves; the result is called when its answer is there, or will not come. */
  readonly asking: (() => () => void) | undefined;
  /** Says each text once. */
  readonly warn: (text: string) => void;
}

/** What an answer shows beside its content, for `doctor`. */
export interface Observed {
  readonly status: number;
  readonly tookMs: number;
  /** The service's clock, milliseconds since 1970 UTC. */
  readonly dateMs: number | undefined;
  readonly certificate: Certificate | undefined;
}

interface Attempted extends RequestFacts {
  readonly paging?: PageReading | undefined;
  readonly plan: PlannedRequest;
  readonly key: Secret;
  readonly signals: readonly (AbortSignal | undefined)[];
}

/** Sends the planned bytes once and judges what came of it. Rejects only for a proxy variable that is unusable. */
export async function attempt(wire: Wire, attempted: Attempted): Promise<Interpretation> {
  const { target, plan } = attempted;
  const request = wireRequest(wire, attempted);
  debugRequest(wire, request);
  const began = wire.clock.monotonic();
  const answered = wire.asking?.();
  let exchange: Exchange;
  try {
    exchange = await wire.transport.exchange(request);
  } finally {
    answered?.();
  }
  const tookMs = wire.clock.monotonic() - began;
  debugExchange(wire, exchange, tookMs);
  if (exchange.status !== undefined) {
    const dateMs = dateOf(exchange.headers);
    const certificate = wire.transport.certificate();
    wire.observe?.({ status: exchange.status, tookMs, dateMs, certificate });
    const isSandbox = !wire.checkClock || headerText(exchange.headers, SANDBOX_MARK) !== undefined;
    const now = isSandbox ? undefined : wire.clock.now();
    for (const warning of headerWarnings(exchange.headers, now)) wire.warn(wire.redactor.text(warning));
  }
  const { redactor, origin, variables } = wire;
  const { input, evidence, keyOfCaller, paging } = attempted;
  if (exchange.status === 200 && exchange.failure === undefined) paging?.onArrival();
  const asked = { target, input, evidence, keyOfCaller, idempotencyKey: plan.idempotencyKey };
  const verdict = interpretResponse(exchange, {
    ...asked,
    origin,
    path: request.path,
    variables,
    redactor,
    answeredAt: wire.clock.now(),
  });
  if (verdict.class === 'done')
    for (const text of verdict.decoded.warnings) wire.warn(redactor.text(`${target.name}: ${text}`));
  return verdict;
}

/** Most milliseconds until an answer begins. */
const HEADERS_MS = { read: 30_000, write: 60_000 };

function wireRequest(wire: Wire, { target, plan, key, signals }: Attempted): WireRequest {
  const { row, overrides } = target;
  const effect = isWrite(row) ? 'write' : 'read';
  const given = wire.timeoutMs ?? row.patienceMs;
  const totalMs = given ?? REQUEST_TOTAL_MS[effect];
  const headers: Record<string, string> = {
    Accept: 'application/json',
    'Accept-Encoding': 'identity',
    'User-Agent': wire.userAgent,
  };
  if (row.credential !== 'none') headers[HEADERS.authorization.name] = `Bearer ${key.expose()}`;
  if (plan.body !== undefined) headers['Content-Type'] = 'application/json';
  if (plan.idempotencyKey !== undefined) headers[keyHeader(overrides)] = plan.idempotencyKey;
  const { kind } = row.returns;
  return {
    method: plan.method,
    path: `${wire.basePath}${plan.path}`,
    headers,
    body: plan.body,
    write: effect === 'write',
    totalMs,
    headersMs: Math.min(totalMs, given ?? HEADERS_MS[effect]),
    signals: signals.filter(signal => signal !== undefined),
    maxBodyBytes: kind === 'list' || kind === 'page' ? MAX_LIST_BYTES : MAX_BYTES,
  };
}

function debugRequest({ debug, redactor }: Wire, request: WireRequest): void {
  if (!debug) return;
  debug(redactor.text(`> ${request.method} ${request.path}`));
  debugHeaders(debug, redactor, request.headers);
}

function debugExchange({ debug, redactor }: Wire, exchange: Exchange, elapsedMs: number): void {
  if (!debug) return;
  const took = `${Math.round(elapsedMs)} ms`;
  if (exchange.status === undefined) {
    debug(redactor.text(`< ${exchange.sent ? 'no answer' : 'not sent'}: ${exchange.failure.text}, ${took}`));
    return;
  }
  debug(`< ${exchange.status} ${exchange.bytes.length} bytes, ${took}`);
  debugHeaders(debug, redactor, exchange.headers);
  // A body that is not understood can only be asked about with a piece of it at hand; a good one is never logged.
  if (exchange.status >= 400) {
    const sample = new TextDecoder().decode(exchange.bytes.subarray(0, 4_096));
    debug(
      `< ${redactor
        .text(sample)
        .replace(/[^\x20-\x7e]+/g, ' ')
        .slice(0, 200)}`,
    );
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function debugHeaders(debug: (line: string) => void, redactor: Redactor, headers: Headers): void {
  for (const [name, value] of Object.entries(headers)) {
    const hidden = /^(?:authorization|proxy-authorization|set-cookie|cookie)$/i.test(name);
    debug(`  ${name.toLowerCase()}: ${hidden ? '[redacted]' : redactor.text(textOf(value ?? ''))}`);
  }
}
