/** One attempt of one request: headers on, exchange, judgement, debug lines and warnings. */
import { HEADERS } from '../contract/envelopes.ts';
import { SANDBOX_MARK } from '../contract/sandbox/basis.ts';
import type { PlannedRequest } from '../contract/service.ts';
import { REQUEST_TOTAL_MS } from '../core/durations.ts';
import type { Secret } from '../core/secret.ts';
import type { Clock } from '../platform/host.ts';
import type { RequestFacts } from './answer.ts';
import { MAX_BYTES, MAX_LIST_BYTES } from './body.ts';
import { isWrite, keyHeader } from './encode.ts';
import { dateOf, headerText, headerWarnings, textOf } from './headers.ts';
import { interpretResponse } from './interpret-response.ts';
import type { Interpretation } from './interpretation.ts';
import type { Redactor } from './redact.ts';
import type { Certificate, Exchange, Transport, WireRequest } from './transport.ts';

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

export interface Attempted extends RequestFacts {
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
