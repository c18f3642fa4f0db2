/**
 * Deliveries in, verified events out: each once, with those flagged that come out of order
 * (docs/design/security.md, H4, H7, H9).
 */
import { matchesEvent } from '../contract/events.ts';
import { signatureIn } from '../contract/signature/header.ts';
import type { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { Clock } from '../platform/host.ts';
import { createDedupeSet } from './dedupe.ts';
import { type DeliveredEvent, readEvent } from './event.ts';
import { type Delivery, openReceiver } from './receiver.ts';
import { verifyPayload } from './verify.ts';

export interface ReceivedEvent extends DeliveredEvent {
  /** ISO 8601 UTC, by this machine's clock. */
  readonly received_at: string;
  /** It happened before one that was shown already. */
  readonly out_of_order: boolean;
}

/** An event with the bytes that were signed, for whoever passes it on. */
export interface Arrived {
  readonly event: ReceivedEvent;
  readonly delivery: Delivery;
}

/** What came, by what became of it. */
export interface Counts {
  events: number;
  duplicates: number;
  out_of_order: number;
  /** Wrong or missing signature; answered 401. */
  refused: number;
  /** Verified, and not of the wished kinds. */
  unwished: number;
}

export interface ListenerSettings {
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

export interface Listener {
  readonly port: number;
  readonly counts: Readonly<Counts>;
  /** Events in the order they came; ends when `finish` was called and all were taken. Throws what `fail` was given. */
  readonly arrivals: AsyncGenerator<Arrived>;
  /** Takes what is there, and no more. */
  finish(): void;
  /** There is nothing to listen to any more. */
  fail(error: CliError): void;
  close(): Promise<void>;
}

/** Waiting for whoever shows them; more than these are answered 503 and come again. */
const MOST_WAITING = 10_000;
const MOST_IDS = 100_000;

/** Opens the port and listens. Throws `unreachable` for one that is taken. */
export async function openListener(settings: ListenerSettings): Promise<Listener> {
  const { secrets, signatureHeader, events: wished, clock, onRefused, onHidden, relay } = settings;
  const counts: Counts = { events: 0, duplicates: 0, out_of_order: 0, refused: 0, unwished: 0 };
  const seen = createDedupeSet(MOST_IDS);
  const waiting: Arrived[] = [];
  let newest = Number.NEGATIVE_INFINITY;
  let failure: CliError | undefined;
  let isOver = false;
  let wake = () => {};

  async function take(delivery: Delivery): Promise<number> {
    if (isOver || waiting.length >= MOST_WAITING) return 503;
    const signature = signatureIn(delivery.headers, signatureHeader);
    const checked = verifyPayload(delivery.bytes, signature ?? '', secrets);
    if (!checked.verified) {
      counts.refused += 1;
      onRefused(whyRefused(signature, checked.explanations[0]?.says, signatureHeader));
      return 401;
    }
    const { event, hidden, inexact } = readEvent(delivery.bytes, delivery.headers);
    if (!wished.some(pattern => matchesEvent(pattern, event.type))) {
      counts.unwished += 1;
      return 200;
    }
    for (const place of hidden) onHidden(`${event.type}: ${place} looks like a card number; it is masked`);
    for (const place of inexact) onHidden(`${event.type}: ${place} is a number of more digits than can be kept`);
    const arrived = { event: received(event), delivery };
    if (seen.add(event.id)) show(arrived);
    else counts.duplicates += 1;
    return relay === undefined || (await relay(arrived)) ? 200 : 502;
  }

  function received(event: DeliveredEvent): ReceivedEvent {
    const received_at = new Date(clock.now()).toISOString();
    return { ...event, received_at, out_of_order: Date.parse(event.created_at ?? '') < newest };
  }

  function show(arrived: Arrived): void {
    const at = Date.parse(arrived.event.created_at ?? '');
    if (at > newest) newest = at;
    counts.events += 1;
    if (arrived.event.out_of_order) counts.out_of_order += 1;
    waiting.push(arrived);
    wake();
  }

  function over(error?: CliError): void {
    failure ??= error;
    isOver = true;
    wake();
  }

  async function* arrivals(): AsyncGenerator<Arrived> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (failure !== undefined) throw failure;
      else if (isOver) return;
      else {
        await new Promise<void>(resolve => {
          wake = resolve;
        });
      }
    }
  }

  const receiver = await openReceiver({ port: settings.port, take, onGone: over });
  return {
    port: receiver.port,
    counts,
    arrivals: arrivals(),
    finish: () => over(),
    fail: over,
    close: () => receiver.close(),
  };
}

function whyRefused(signature: string | undefined, explained: string | undefined, header: string | undefined): string {
  if (signature === undefined) return `it carries no signature${header === undefined ? '' : ` in ${header}`}`;
  return explained === undefined
    ? 'its signature was made with another secret or over other bytes'
    : `its signature does not match: ${explained}`;
}
