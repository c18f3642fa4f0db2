/**
 * Deliveries in, verified events out: each once, with those flagged that come out of order
 * (docs/design/security.md, H4, H7, H9).
 */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { EVENT_DATA, EVENT_ENVELOPE, EVENT_ID_HEADERS, matchesEvent } from '../contract/events.ts';
import type { ValueOf } from '../contract/field.ts';
import { staysWhole } from '../contract/named-shapes.ts';
import { maybe, orNull, tells } from '../contract/own-field.ts';
import { signatureIn, verifyPayload } from '../contract/signature/signature.ts';
import { maskedValue, withoutCardNumbers } from '../core/card-numbers.ts';
import { instantOf } from '../core/durations.ts';
import { CliError, notSent } from '../core/errors.ts';
import { bytesWithin } from '../core/input-limits.ts';
import { isObject, jsonOrUndefined, type Values } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import { sameCommandWithout } from '../core/shell-quote.ts';
import type { Clock } from '../platform/host.ts';
import { createDedupeSet } from './poll.ts';

/** An event as it was received. */
export const EVENT_ROW = {
  id: tells.text('The event; the same in every delivery of it.'),
  type: tells.text('Its name.'),
  created_at: maybe(orNull(tells.time('When it happened, as the service says.'))),
  data: maybe(tells.json('The object it is about.')),
  received_at: tells.time("When it came, by this machine's clock."),
  out_of_order: tells.yes('Whether it happened before one that was shown already.'),
} as const;
export type ReceivedEvent = ValueOf<typeof EVENT_ROW>;

/** An event with the bytes that were signed, for whoever passes it on. */
export interface Arrived {
  readonly event: ReceivedEvent;
  readonly delivery: Delivery;
}

interface ListenerSettings {
  readonly port: number;
  /** Empty ones verify nothing, so there must be one. */
  readonly secrets: readonly Secret[];
  readonly signatureHeader: string | undefined;
  /** Patterns of events, any of which is wished. */
  readonly events: readonly string[];
  readonly clock: Clock;
  /** Told why a delivery was refused. */
  readonly onRefused: (why: string) => void;
  /** Told what was hidden of an event that is shown. */
  readonly onHidden: (what: string) => void;
  /** Passes each wished delivery on, repeats too; one that is not taken is answered 502, and its sender tries again. */
  readonly relay?: ((arrived: Arrived) => Promise<boolean>) | undefined;
}

/** Waiting for whoever shows them; more than these are answered 503 and come again. */
const MOST_WAITING = 10_000;
const MOST_IDS = 100_000;

export type Counts = Awaited<ReturnType<typeof openListener>>['counts'];

/** Opens the port and listens. Throws `unreachable` for one that is taken. */
export async function openListener(settings: ListenerSettings) {
  const { port, secrets, signatureHeader, events: wished, clock, onRefused, onHidden, relay } = settings;
  /** What came, by what became of it. `refused`: wrong or missing signature; `unwished`: verified, and not of the wished kinds. */
  const counts = { events: 0, duplicates: 0, out_of_order: 0, refused: 0, unwished: 0 };
  const seen = createDedupeSet(MOST_IDS);
  /** Takes what comes, and waits for whoever shows it. */
  const waiting = new Readable({ objectMode: true, read: () => undefined });
  let newest = Number.NEGATIVE_INFINITY;
  let failure: CliError | undefined;
  let isOver = false;

  async function take(delivery: Delivery): Promise<number> {
    if (isOver || waiting.readableLength >= MOST_WAITING) return 503;
    const signature = signatureIn(delivery.headers, signatureHeader);
    const checked = verifyPayload(delivery.bytes, signature ?? '', secrets);
    if (!checked.verified) {
      counts.refused += 1;
      onRefused(whyRefused(signature, checked.explanations[0]?.says, signatureHeader));
      return 401;
    }
    const { event: read, hidden, inexact } = readEvent(delivery.bytes, delivery.headers);
    if (!wished.some(pattern => matchesEvent(pattern, read.type))) {
      counts.unwished += 1;
      return 200;
    }
    for (const place of hidden) onHidden(`${read.type}: ${place} looks like a card number; it is masked`);
    for (const place of inexact) onHidden(`${read.type}: ${place} is a number of more digits than can be kept`);
    const at = instantOf(read.created_at) ?? Number.NaN;
    const event = { ...read, received_at: new Date(clock.now()).toISOString(), out_of_order: at < newest };
    const arrived: Arrived = { event, delivery };
    if (seen.add(event.id)) {
      if (at > newest) newest = at;
      counts.events += 1;
      if (event.out_of_order) counts.out_of_order += 1;
      waiting.push(arrived);
    } else counts.duplicates += 1;
    return relay === undefined || (await relay(arrived)) ? 200 : 502;
  }

  function over(error?: CliError): void {
    failure ??= error;
    if (!isOver) waiting.push(null);
    isOver = true;
  }

  async function* arrivals(): AsyncGenerator<Arrived> {
    try {
      yield* waiting as AsyncIterable<Arrived>;
    } finally {
      isOver = true;
    }
    if (failure !== undefined) throw failure;
  }

  // On this machine alone; the bytes first, then the signature, then anything else (docs/design/security.md, H1 to H8, H12).
  const server = createServer(TIMES, (request, response) => {
    answer(request, response, take).catch((error: unknown) => {
      request.destroy();
      over(gone('failed', error));
    });
  });
  server.listen({ host: '127.0.0.1', port });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const message = `cannot listen on port ${port} of 127.0.0.1: ${error.code ?? error.message}`;
    throw notSent('unreachable', message, sameCommandWithout('--port'));
  });
  server.on('error', error => over(gone('failed', error)));
  let closing = false;
  server.on('close', () => {
    if (!closing) over(gone('was closed', undefined));
  });
  return {
    port: (server.address() as AddressInfo).port,
    counts: counts as Readonly<typeof counts>,
    /** Events in the order they came; ends when `finish` was called and all were taken. Throws what `fail` was given. */
    arrivals: arrivals(),
    /** Takes what is there, and no more. */
    finish: () => over(),
    /** There is nothing to listen to any more. */
    fail: (error: CliError) => over(error),
    /** Answers what is running, then frees the port. */
    close(): Promise<void> {
      closing = true;
      return new Promise(resolve => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
    },
  };
}

function whyRefused(signature: string | undefined, explained: string | undefined, header: string | undefined): string {
  if (signature === undefined) return `it carries no signature${header === undefined ? '' : ` in ${header}`}`;
  return explained === undefined
    ? 'its signature was made with another secret or over other bytes'
    : `its signature does not match: ${explained}`;
}

// Answers to what comes.

interface Delivery {
  readonly bytes: Uint8Array;
  readonly headers: IncomingHttpHeaders;
}

/** Status of the answer to whole bytes; nothing else is done with them here. */
type Take = (delivery: Delivery) => Promise<number>;

const MAX_BYTES = 1024 * 1024;
const TIMES = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 } as const;

async function answer(request: IncomingMessage, response: ServerResponse, take: Take): Promise<void> {
  if (request.method !== 'POST') return end(response, 405, { Allow: 'POST' });
  // A sender that leaves in the middle, or is too slow, is its own matter: it will come again.
  const isTooLarge = Number(request.headers['content-length']) > MAX_BYTES;
  const body = isTooLarge ? undefined : bytesWithin(request, MAX_BYTES);
  const bytes = await body?.catch(() => 'broken off' as const);
  if (bytes === 'broken off') return void request.destroy();
  if (bytes === undefined) return end(response, 413, { Connection: 'close' });
  end(response, await take({ bytes, headers: request.headers }));
}

function end(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'Content-Length': '0', ...headers }).end();
}

function gone(what: string, cause: unknown): CliError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new CliError('unreachable', { message: `the receiver ${what}${why}; no further event arrives`, cause });
}

// A delivered payload as an event, whatever its names are (A-73). Read only after its signature was checked.

/**
 * Reads a payload. Never throws: what is no JSON object is an event without a type. Card numbers are hidden, as an event is no card's
 * details; `hidden` and `inexact` tell where in its object they stood, and where a number has more digits than are kept.
 */
export function readEvent(bytes: Uint8Array, headers: Values) {
  const value = jsonOrUndefined(new TextDecoder().decode(bytes));
  const payload: Values = isObject(value) ? value : {};
  const created = textOf(payload, 'created_at');
  const { value: data, hidden, inexact } = maskedValue(dataOf(payload), staysWhole);
  const idHeader = EVENT_ID_HEADERS.map(name => headers[name.toLowerCase()]).find(each => typeof each === 'string');
  const digest = () => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const event = {
    id: textOf(payload, 'id') ?? (idHeader || digest()),
    type: withoutCardNumbers(textOf(payload, 'type') ?? ''),
    created_at: created ?? null,
    data,
  };
  return { event, hidden, inexact };
}

function textOf(payload: Values, slot: keyof typeof EVENT_ENVELOPE): string | undefined {
  for (const name of [slot, ...(EVENT_ENVELOPE[slot].also ?? [])]) {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'number' && slot === 'id') return String(value);
  }
  return undefined;
}

function dataOf(payload: Values): unknown {
  for (const path of EVENT_DATA) {
    let value: unknown = payload;
    for (const name of path.split('.')) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (isObject(value)) return value;
  }
  return payload;
}
