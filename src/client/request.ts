/**
 * One request out, one answer in: done, refused, not sent, throttled or ambiguous, with what the answer proves
 * (docs/design/reliability.md, section 2). Nothing is sent twice here. In order: the sending, the judgement, the debug lines.
 */
import type { SecureContext } from 'node:tls';
import { answerWord } from '../contract/answer-words.ts';
import type { Table } from '../contract/calls.ts';
import { HEADERS } from '../contract/envelopes.ts';
import { type Evidence, ruleFor, unshown } from '../contract/evidence.ts';
import type { Operation } from '../contract/operation.ts';
import type { Overrides } from '../contract/overrides.ts';
import { REFUSALS, type RefusalName, refusalNamed, speaksOfRepetition } from '../contract/refusals.ts';
import { SANDBOX_MARK } from '../contract/sandbox/basis.ts';
import type { Attempt, AttemptOptions, PlannedRequest } from '../contract/service.ts';
import { REQUEST_TOTAL_MS } from '../core/durations.ts';
import type { CliError, ErrorKind, ServiceRefusal } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import type { Clock, Environment, Randomness } from '../platform/host.ts';
import { type Decoded, decodeAnswer, decodeRaw, withoutSecrets } from './decode.ts';
import { isWrite, keyHeader, type Target } from './encode.ts';
import { errorOf, type Failure, type RequestFacts, readErrorBody } from './errors.ts';
import { learnSecrets, type Redactor } from './redact.ts';
import { type Certificate, createTransport, type Exchange } from './transport.ts';
import { dateOf, headerText, headerWarnings, retryAfterMs, textOf, type WireHeaders } from './wire.ts';

type Values = Readonly<Record<string, unknown>>;

interface ServiceConnection {
  /** `https://api.example.com/v1`, or with `socketPath` any http address with the same path. */
  readonly baseUrl: string;
  /** A Unix domain socket or named pipe in place of host and port. */
  readonly socketPath?: string | undefined;
  /** Called once a request. */
  readonly key: () => Promise<Secret>;
  /** Variables of the environment that name address and key, for the error where nobody listens there. */
  readonly variables?: readonly string[] | undefined;
}

export interface ServiceSettings<T extends Table> {
  readonly table: T;
  readonly connection: ServiceConnection;
  readonly overrides?: Overrides | undefined;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Total of one attempt in milliseconds; 30 s for reads and 75 s for writes when left out. */
  readonly timeoutMs?: number | undefined;
  /** Shared with whoever prints what is said about these calls; one of its own when left out. */
  readonly redactor?: Redactor | undefined;
  /** For the proxy variables. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** Request line, redacted headers, status and time, a line at a time. */
  readonly onDebug?: ((line: string) => void) | undefined;
  /** Told what every answer shows beside its content. */
  readonly onAnswer?: ((observed: Observed) => void) | undefined;
  /** Whom TLS trusts, in place of Node's own list. */
  readonly secureContext?: SecureContext | undefined;
  /** Told that a request leaves; the result is called when its answer is there, or will not come. */
  readonly onAsk?: (() => () => void) | undefined;
  /** Told about every pause before another attempt. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Each text once. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly userAgent: string;
  /** False inside another program, whose engine is not ours to set. */
  readonly isProgram?: boolean;
  readonly mode: 'sandbox' | 'test' | 'live';
}

/** A pause before a read is sent again. */
export interface Wait {
  readonly ms: number;
  readonly because: 'network' | 'throttled';
  /** Number of the attempt that follows; the first is 1. */
  readonly attempt: number;
}

/** What an answer shows beside its content, for `doctor`. */
export interface Observed {
  readonly status: number;
  readonly tookMs: number;
  /** The service's clock, milliseconds since 1970 UTC. */
  readonly dateMs: number | undefined;
  readonly certificate: Certificate | undefined;
}

/** What all requests of a service share. */
export type Wire = ReturnType<typeof createWire>;

export interface Sending extends Pick<AttemptOptions, 'evidence' | 'keyOfCaller'> {
  readonly target: Target;
  readonly planned: PlannedRequest;
  readonly input: Values;
  readonly key: () => Promise<Secret>;
  /** Cut off what is in the air. */
  readonly signals: readonly (AbortSignal | undefined)[];
  /** Called when the answer is there whole, before it is read: the connection is free again. */
  readonly onArrival?: (() => void) | undefined;
}

/** What came of one sending. A read that fails is `ambiguous`, too: it has no effect that could be known. */
export interface Verdict extends Attempt {
  /** Of a read: asking again may help. */
  readonly again?: boolean;
  /** Of a list: whether the service says that more follow. */
  readonly next?: boolean | undefined;
}

/** Opens nothing: the first request connects. `warn` says each text once. Throws `usage` for an unusable proxy variable. */
export function createWire(settings: ServiceSettings<Table>, redactor: Redactor, warn: (text: string) => void) {
  const baseUrl = new URL(settings.connection.baseUrl);
  const { socketPath } = settings.connection;
  return {
    settings,
    baseUrl,
    redactor,
    warn,
    transport: createTransport({ ...settings, origin: baseUrl, socketPath }),
  };
}

/** Sends the planned bytes once and judges what came of it. Rejects where there is no key. */
export async function sendOnce(wire: Wire, sending: Sending): Promise<Verdict> {
  const { settings, redactor, transport, warn } = wire;
  const { target, planned, input } = sending;
  learnSecrets(redactor, target.row, input);
  const key = await sending.key();
  redactor.learn(key);
  const request = wireRequest(wire, sending, key);
  debugRequest(wire, request);
  const began = settings.clock.monotonic();
  const answered = settings.onAsk?.();
  const exchange = await transport.exchange(request).finally(answered);
  const tookMs = settings.clock.monotonic() - began;
  debugExchange(wire, exchange, tookMs);
  if (exchange.status !== undefined) {
    const { status, headers } = exchange;
    settings.onAnswer?.({ status, tookMs, dateMs: dateOf(headers), certificate: transport.certificate() });
    // A sandbox has a clock of its own.
    const isSandbox = settings.mode === 'sandbox' || headerText(headers, SANDBOX_MARK) !== undefined;
    const warnings = headerWarnings(headers, isSandbox ? undefined : settings.clock.now());
    for (const warning of warnings) warn(redactor.text(warning));
    if (status === 200 && exchange.failure === undefined) sending.onArrival?.();
  }
  const { idempotencyKey } = planned;
  const { variables } = settings.connection;
  const about = { origin: wire.baseUrl.origin, path: request.path, variables, idempotencyKey, redactor, warn };
  const verdict = judge(exchange, { ...sending, ...about, answeredAt: settings.clock.now() });
  if (verdict.class === 'done') learnSecrets(redactor, target.row, verdict.result);
  return verdict;
}

/** Most milliseconds until an answer begins. */
const HEADERS_MS = { read: 30_000, write: 60_000 };

function wireRequest({ settings, baseUrl }: Wire, { target, planned, signals }: Sending, key: Secret) {
  const { row, overrides } = target;
  const effect = isWrite(row) ? 'write' : 'read';
  const given = settings.timeoutMs ?? row.patienceMs;
  const totalMs = given ?? REQUEST_TOTAL_MS[effect];
  const { kind } = row.returns;
  return {
    method: planned.method,
    path: `${baseUrl.pathname.replace(/\/+$/, '')}${planned.path}`,
    headers: {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'User-Agent': settings.userAgent,
      ...(row.credential !== 'none' && { [HEADERS.authorization.name]: `Bearer ${key.expose()}` }),
      ...(planned.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(planned.idempotencyKey !== undefined && { [keyHeader(overrides)]: planned.idempotencyKey }),
    },
    body: planned.body,
    write: effect === 'write',
    totalMs,
    headersMs: Math.min(totalMs, given ?? HEADERS_MS[effect]),
    signals: signals.filter(signal => signal !== undefined),
    maxBodyBytes: kind === 'list' || kind === 'page' ? MAX_LIST_BYTES : MAX_BYTES,
  };
}

// From bytes to JSON, within limits and without trust (docs/design/reliability.md, section 2).

export const MAX_LIST_BYTES = 8 << 20;
export const MAX_BYTES = 256 << 10;
const MAX_DEPTH = 64;

type Answered = Extract<Exchange, { readonly status: number }>;

export type Body =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'html'; readonly title: string | undefined }
  | { readonly kind: 'text' }
  /** `cut`: reading again may help. `text` is a clause about what is wrong, never the content. */
  | { readonly kind: 'damaged'; readonly cut: boolean; readonly text: string };

// Strips one byte order mark; `fatal` refuses what would silently become U+FFFD.
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a received body. Never throws and never quotes more than a title. */
export function readBody({ headers, bytes, failure }: Omit<Answered, 'sent' | 'status'>): Body {
  const damaged = (text: string, cut = false): Body => ({ kind: 'damaged', cut, text });
  if (failure !== undefined) return damaged(failure.text, !failure.isTooLarge);
  const encoding = headerText(headers, 'content-encoding')?.trim() || 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    return damaged(`the answer is encoded as ${JSON.stringify(encoding.slice(0, 40))}, which was not requested`);
  }
  const text = attempted(() => UTF8.decode(bytes));
  if (text === undefined) return damaged('the answer is not UTF-8 text');
  if (text.trim() === '') return { kind: 'empty' };
  const type = headerText(headers, 'content-type') ?? '';
  if (/^text\/html|^application\/xhtml/i.test(type) || /^\s*<(?:!doctype html|html)/i.test(text)) {
    const title = /<title[^>]{0,200}>([^<]{0,400})/i.exec(text.slice(0, 20_000))?.[1];
    return { kind: 'html', title: title?.replace(/\s+/g, ' ').trim().slice(0, 80) || undefined };
  }
  const value = attempted((): unknown => JSON.parse(text));
  if (value === undefined) return { kind: 'text' };
  if (isTooDeep(value, MAX_DEPTH)) return damaged(`the answer is nested deeper than ${MAX_DEPTH} levels`);
  return { kind: 'json', value };
}

/** Undefined for what cannot be read; a parser's message quotes the text, so it goes no further. */
function attempted<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function isTooDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (typeof inner === 'object' && isTooDeep(inner, levels - 1)) return true;
  }
  return false;
}

// The judgement. Never throws.

interface Judged extends RequestFacts, Pick<Sending, 'evidence' | 'keyOfCaller'> {
  /** When the answer came, ms UTC by this machine. */
  readonly answeredAt: number;
  /** Scheme and host, and path with query, that the request went to. */
  readonly origin: string;
  readonly path: string;
  readonly redactor: Redactor;
  readonly warn: Wire['warn'];
}

interface Answer {
  readonly status: number;
  readonly headers: WireHeaders;
  readonly body: Body;
  /** The service's error verbatim; with a request id alone, just that. */
  readonly service: ServiceRefusal | undefined;
}

function judge(exchange: Exchange, request: Judged): Verdict {
  const { row, overrides } = request.target;
  if (exchange.status === undefined) {
    const { text: why, cause, nobody } = exchange.failure;
    const silence = exchange.sent ? ambiguous(row) : ({ class: 'not_sent', kind: 'unreachable' } as const);
    return failed(request, { ...silence, why, cause, nobody }, { again: true });
  }
  const { status, headers } = exchange;
  const body = readBody(exchange);
  const said = body.kind === 'json' ? readErrorBody(body.value) : undefined;
  const requestId = said?.request_id ?? headerText(headers, overrides.headers.request_id ?? HEADERS.request_id.name);
  const service = requestId === undefined ? said : { ...said, request_id: requestId };
  const answer = { status, headers, body, service };
  if (status >= 300) return judgeError(answer, request);
  return isWrite(row) ? judgeWritten(answer, request) : judgeRead(answer, request);
}

/** What proves nothing: a change may have happened, a read may be repeated. */
function ambiguous(row: Operation): Pick<Failure, 'class' | 'kind'> {
  return { class: 'ambiguous', kind: isWrite(row) ? 'outcome_unknown' : 'unreachable' };
}

/** The redactor passes over whatever an error, and with it the journal and every message, repeats of an answer. */
function failed(request: Judged, failure: Failure, more: Partial<Verdict> = {}): Verdict {
  const { status, refusal, retryAfterMs: pause } = failure;
  const error = withoutSaidSecrets(errorOf(failure, request), request.redactor);
  const requestId = error.facts.service?.request_id;
  const why = request.redactor.text(failure.why);
  return { class: failure.class, error, why, status, requestId, refusal, retryAfterMs: pause, ...more };
}

function withoutSaidSecrets(error: CliError, { text: clean }: Redactor): CliError {
  const { message, hint, service = {} } = error.facts;
  const said = Object.entries(service).map(([name, value]) => [name, typeof value === 'string' ? clean(value) : value]);
  return error.with({
    message: clean(message),
    ...(hint !== undefined && { hint: clean(hint) }),
    ...(said.length > 0 && { service: Object.fromEntries(said) as ServiceRefusal }),
  });
}

function judgeRead({ status, headers, body, service }: Answer, request: Judged): Verdict {
  const unusable = (why: string, more: Partial<Failure> = {}) =>
    failed(request, { class: 'ambiguous', kind: 'contract_mismatch', status, service, why, ...more });
  if (body.kind === 'damaged' && body.cut) {
    return failed(request, { ...ambiguous(request.target.row), status, service, why: body.text }, { again: true });
  }
  if (body.kind === 'json' && isObject(body.value)) {
    const { error, success } = body.value;
    const isError = (typeof error === 'string' && error !== '') || isObject(error) || success === false;
    if (isError) return unusable(`an error came with status ${status}`);
  }
  const why = unusableText(body);
  if (why !== undefined) return unusable(why, { webPage: body.kind === 'html' });
  const decoded = decode({ status, headers, body }, request);
  if (decoded.problems.length > 0) return unusable(problemText(decoded));
  for (const text of decoded.warnings) request.warn(request.redactor.text(`${request.target.name}: ${text}`));
  return { class: 'done', status, requestId: service?.request_id, result: decoded.result, next: decoded.next };
}

/** The answer of a write is believed when it shows the effect; else the resource must be read. */
function judgeWritten({ status, headers, body, service }: Answer, request: Judged): Verdict {
  const { row } = request.target;
  const evidence = request.evidence && atServiceTime(request.evidence, headers, request.answeredAt);
  const shown = (result: unknown): Partial<Verdict> => {
    const { id } = isObject(result) ? result : {};
    return {
      result,
      ...(row.makes !== undefined && typeof id === 'string' && { made: id }),
      ...(evidence !== undefined && { evidence }),
    };
  };
  const unproved = (why: string, more: Partial<Verdict> = {}) =>
    failed(request, { ...ambiguous(row), status, service, why }, { ...shown({}), ...more });
  const isRaw = row.returns.kind === 'raw';
  const returnsNothing = isRaw || row.returns.kind === 'none';
  const word = body.kind === 'json' ? answerWord(body.value, name => row.returns.shape[name]?.choices) : undefined;
  if (word?.says === 'no')
    return unproved(`the answer says that it failed (${status}, ${word.text})`, { result: undefined });
  if (status === 202) return unproved('the service accepted it but has not finished (202)');
  // What a resource of a kind nobody knows is waiting for may be its ordinary life.
  if (word !== undefined && !isRaw) {
    return unproved(`the service has not finished (${status}, ${word.text})`);
  }
  const isBare = status === 204 || saysNothingElse(body);
  if (isBare && !returnsNothing) return unproved('the answer holds only a word of success');
  const unusable = returnsNothing && body.kind === 'empty' ? undefined : unusableText(body);
  if (unusable !== undefined) return unproved(unusable);
  if (body.kind === 'json' && !isRaw && !isObject(body.value)) return unproved('the answer is not an object');
  const decoded = decode({ status, headers, body }, request);
  const partial = shown(isObject(decoded.result) ? decoded.result : {});
  if (decoded.problems.length > 0) return unproved(problemText(decoded), partial);
  const missing = returnsNothing
    ? undefined
    : unshown({ row, input: request.input }, partial.result as Values, evidence);
  if (missing !== undefined) return unproved(missing, partial);
  for (const text of decoded.warnings) request.warn(request.redactor.text(`${request.target.name}: ${text}`));
  return { class: 'done', status, requestId: service?.request_id, ...shown(decoded.result) };
}

/** The plan's time by the clock of the service, as this answer tells it: clocks of sandboxes are set at will. */
function atServiceTime(evidence: Evidence, headers: WireHeaders, answeredAt: number): Evidence {
  const date = dateOf(headers);
  if (date === undefined) return evidence;
  return { ...evidence, plannedAt: evidence.plannedAt + (date - answeredAt), byServiceClock: true };
}

/** `{"success": true}`, and what a delete answers: `{"id", "deleted": true}`. */
function saysNothingElse(body: Body): boolean {
  if (body.kind !== 'json' || !isObject(body.value)) return false;
  const { success, deleted } = body.value;
  const words = ['success', 'deleted', 'id', 'message', 'object'];
  const isAlone = Object.keys(body.value).every(key => words.includes(key));
  return isAlone && (success === true || deleted === true) && deleted !== false;
}

function decode({ status, headers, body }: Omit<Answer, 'service'>, request: Judged): Decoded {
  const { target, input, redactor } = request;
  const came = body.kind === 'json' ? body.value : undefined;
  if (target.row.returns.kind === 'raw') return decodeRaw({ status, headers }, came, redactor);
  return decodeAnswer({ target, input }, target.row.raw ? withoutSecrets(came, redactor).value : came, headers);
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

/** 4xx numbers that do not say whether it was executed. */
const UNDECIDED: readonly number[] = [408, 499];
/** Repeating a read cannot change these. */
const PERMANENT: readonly number[] = [501, 505];
/** Statuses with which a word that the contract does not know is a refusal all the same. */
const REFUSING: readonly number[] = [400, 401, 403, 404, 422];

/** An answer outside of 2xx: identifier first, status second, never the message (reading rule 10). */
function judgeError({ status, headers, body, service }: Answer, request: Judged): Verdict {
  const { row, overrides } = request.target;
  const identifier = service?.error;
  const refusal = refusalNamed(identifier);
  const failure = {
    status,
    service,
    refusal,
    why: errorText({ status, headers, body, service }, request),
    webPage: body.kind === 'html',
    routeMissing: isRouteMissing(row, status, refusal),
    retryAfterMs: retryAfterMs(headers, overrides.headers.retry_after ?? HEADERS.retry_after.name),
  };
  const isRefusal = status >= 400 && status < 500 && !UNDECIDED.includes(status);
  // A network on the way repeats requests, too: the first may have been executed.
  const isRepetition = isWrite(row) && refusal === undefined && speaksOfRepetition(identifier);
  if (!isRepetition && (status === 429 || (isRefusal && refusal === 'rate_limited'))) {
    return failed(request, { ...failure, class: 'throttled', kind: 'rate_limited' });
  }
  if (!isRefusal || isRepetition || (isWrite(row) && refusal === 'idempotency_in_progress')) {
    const again = (status >= 500 && status < 600 && !PERMANENT.includes(status)) || UNDECIDED.includes(status);
    return failed(request, { ...failure, ...ambiguous(row) }, { again });
  }
  const refused = { ...failure, class: 'refused', kind: refusedKind(row, status, identifier) } as const;
  if (!isWrite(row)) return failed(request, refused);
  const isJson = /^[^;]*\bjson\b/i.test(headerText(headers, 'content-type') ?? '');
  const { weight, because } = ruleFor({
    row,
    status,
    refusal,
    inServiceForm: isJson && identifier !== undefined,
    saysKeyReused: keyReused(identifier),
    keyOfCaller: request.keyOfCaller === true,
  });
  if (weight === 'definite') return failed(request, refused);
  if (weight === 'plausible' && REFUSING.includes(status)) return failed(request, refused, { plausible: true });
  const why = `${failure.why}; ${because ?? 'the contract does not know this word'}`;
  return failed(request, { ...failure, ...ambiguous(row), why });
}

function refusedKind(row: Operation, status: number, identifier: string | undefined): ErrorKind {
  const refusal = refusalNamed(identifier);
  // Some services use one word for an empty wallet and an empty card (A-110).
  if (row.fails?.includes('insufficient_card_funds') && refusal === 'insufficient_funds') return 'refused';
  if (keyReused(identifier)) return 'internal';
  const kind = refusal === undefined ? undefined : REFUSALS[refusal].kind;
  if (kind !== undefined && kind !== 'outcome_unknown') return kind;
  if (status === 401 || status === 403) return 'not_authenticated';
  return status === 404 ? 'not_found' : 'refused';
}

function keyReused(identifier: string | undefined): boolean {
  return identifier !== undefined && /idempot.*(?:reus|mismatch|conflict|different)/i.test(identifier);
}

/** 405, 501, or 404 with an identifier that names no resource (reading rule 2). */
function isRouteMissing(row: Operation, status: number, refusal: RefusalName | undefined): boolean {
  if (status === 405 || status === 501 || refusal === 'route_not_found' || refusal === 'method_not_allowed')
    return true;
  if (status !== 404 || refusal === undefined) return status === 404;
  // "not found" where nothing was named can only mean the route.
  const namesResource = Object.values({ ...row.query, ...row.body }).some(field => field.names !== undefined);
  return refusal === 'not_found' && row.params === undefined && !namesResource;
}

function errorText({ status, headers, body, service }: Answer, { origin, path }: Judged): string {
  if (status < 400) {
    const location = headerText(headers, 'location') ?? '';
    const to = URL.canParse(location, `${origin}${path}`) ? new URL(location, `${origin}${path}`) : undefined;
    const [from, target] =
      to?.origin === origin ? [path.split('?')[0], to.pathname] : [origin, to?.origin ?? 'an unnamed address'];
    return `${from} redirects to ${target} (${status}); redirects are not followed, set the base URL to the right one`;
  }
  if (body.kind === 'html') return `${notTheApi(body.title)} (${status} from ${origin})`;
  if (service?.error === undefined) return `status ${status}`;
  const message = service.message ? `, "${service.message.slice(0, 300)}"` : '';
  return `${service.error}${message} (${status})`;
}

// Debug lines. A good body is never logged; one that is not understood can only be asked about with a piece of it at hand.

function debugRequest({ settings: { onDebug }, redactor }: Wire, request: ReturnType<typeof wireRequest>): void {
  if (!onDebug) return;
  onDebug(redactor.text(`> ${request.method} ${request.path}`));
  debugHeaders(onDebug, redactor, request.headers);
}

function debugExchange({ settings: { onDebug }, redactor }: Wire, exchange: Exchange, elapsedMs: number): void {
  if (!onDebug) return;
  const took = `${Math.round(elapsedMs)} ms`;
  if (exchange.status === undefined) {
    onDebug(redactor.text(`< ${exchange.sent ? 'no answer' : 'not sent'}: ${exchange.failure.text}, ${took}`));
    return;
  }
  onDebug(`< ${exchange.status} ${exchange.bytes.length} bytes, ${took}`);
  debugHeaders(onDebug, redactor, exchange.headers);
  if (exchange.status < 400) return;
  const sample = redactor.text(new TextDecoder().decode(exchange.bytes.subarray(0, 4_096)));
  onDebug(`< ${sample.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)}`);
}

function debugHeaders(onDebug: (line: string) => void, redactor: Redactor, headers: WireHeaders): void {
  for (const name of Object.keys(headers)) {
    const isHidden = /^(?:authorization|proxy-authorization|set-cookie|cookie)$/i.test(name);
    onDebug(`  ${name.toLowerCase()}: ${isHidden ? '[redacted]' : redactor.text(textOf(headers[name] ?? ''))}`);
  }
}
