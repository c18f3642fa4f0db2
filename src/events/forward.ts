/**
 * Passes verified deliveries on, byte for byte, to programs that were named: in order for each of them, tried again
 * while there is a chance, never redirected (docs/design/security.md, H10, H11).
 */
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { SecureContext } from 'node:tls';
import { matchesEvent } from '../contract/events.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { rest, stretched } from '../platform/time.ts';
import type { Arrived } from './listener.ts';
import { createDedupeSet } from './poll.ts';

export interface Target {
  readonly url: URL;
  /** Pattern of the events it gets. */
  readonly pattern: string;
}

export interface Forwarded {
  readonly target: string;
  readonly event: string;
  /** Status of the answer that ended it, or why there is none. */
  readonly outcome: number | string;
  readonly isDelivered: boolean;
  readonly attempts: number;
}

interface ForwarderSettings {
  readonly targets: readonly Target[];
  readonly clock: Clock;
  readonly random: Randomness;
  readonly onForwarded: (forwarded: Forwarded) => void;
  /** Certificates that https targets may show, in place of Node's own list. */
  readonly secureContext?: SecureContext | undefined;
}

const MOST_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 500;
const TIMEOUT_MS = 30_000;
/** A sender that waits for what came of it does not wait for long. */
const RELAY_MS = 8_000;
/** Events a target took, the newest of them. */
const MOST_TAKEN = 100_000;
/** Of one hop, or of ours. */
const NOT_PASSED_ON =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/;

/** `http://127.0.0.1:3000/hook` or `card.*=http://…`; an address of another machine must be https. */
export function targetOf(text: string): Target | undefined {
  const [, pattern = '*', address = ''] = /^(?:([\w.*]+)=)?(https?:\/\/.+)$/.exec(text) ?? [];
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  const isHere = /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || isHere ? { url, pattern } : undefined;
}

/** One queue a target, so that a slow one holds up no other. */
export function createForwarder(settings: ForwarderSettings) {
  const { clock, random, onForwarded } = settings;
  const stopping = new AbortController();
  const stop = stopping.signal;
  const counts = { delivered: 0, failed: 0, waiting: 0 };
  const queues = settings.targets.map(target => ({
    target,
    last: Promise.resolve(),
    taken: createDedupeSet(MOST_TAKEN),
    refused: new Set<string>(),
  }));
  const isTaken = (outcome: number | string) => typeof outcome === 'number' && outcome >= 200 && outcome <= 299;

  async function forward({ url }: Target, { event, delivery }: Arrived): Promise<void> {
    let outcome: number | string = 'given up';
    let attempts = 1;
    for (; ; attempts += 1) {
      outcome = stop.aborted ? 'given up' : await sendOnce(settings, url, delivery, { stop, timeoutMs: TIMEOUT_MS });
      const again = typeof outcome === 'string' || outcome >= 500 || outcome === 429;
      if (!again || attempts === MOST_ATTEMPTS || stop.aborted) break;
      await clock.sleep(stretched(random, FIRST_PAUSE_MS * 2 ** (attempts - 1), 0.5), stop).catch(() => undefined);
    }
    const isDelivered = isTaken(outcome);
    if (stop.aborted && !isDelivered) return;
    counts.waiting -= 1;
    counts[isDelivered ? 'delivered' : 'failed'] += 1;
    onForwarded({ target: url.href, event: event.id, outcome, isDelivered, attempts });
  }

  async function relayTo(queue: (typeof queues)[number], { event, delivery }: Arrived): Promise<boolean> {
    const { target, taken, refused } = queue;
    const { id } = event;
    if (taken.has(id)) return true;
    const outcome = await sendOnce(settings, target.url, delivery, { stop, timeoutMs: RELAY_MS });
    const isDelivered = isTaken(outcome);
    if (isDelivered) {
      taken.add(id);
      refused.delete(id);
      counts.delivered += 1;
    } else refused.add(id);
    onForwarded({ target: target.url.href, event: id, outcome, isDelivered, attempts: 1 });
    return isDelivered;
  }

  return {
    /** Sends it once to each target that has not taken it yet; true when all have. The sender waits and tries again. */
    async relay(arrived: Arrived): Promise<boolean> {
      const fitting = queues.filter(({ target }) => matchesEvent(target.pattern, arrived.event.type));
      const sent = fitting.map(queue => {
        const relayed = queue.last.then(() => relayTo(queue, arrived));
        queue.last = relayed.then(() => undefined);
        return relayed;
      });
      return (await Promise.all(sent)).every(Boolean);
    },
    /** Queues it for every target whose pattern fits. */
    pass(arrived: Arrived): void {
      for (const queue of queues) {
        if (!matchesEvent(queue.target.pattern, arrived.event.type)) continue;
        counts.waiting += 1;
        queue.last = queue.last.then(() => forward(queue.target, arrived));
      }
    },
    get delivered() {
      return counts.delivered;
    },
    get failed() {
      return queues.reduce((sum, { refused }) => sum + refused.size, counts.failed);
    },
    /** Waits so long for what is under way and gives up the rest; resolves to how many were given up. */
    async drain(ms: number): Promise<number> {
      const over = new AbortController();
      const late = rest(ms, clock, over.signal).then(isLate => isLate && stopping.abort(new Error('given up')));
      await Promise.race([Promise.all(queues.map(({ last }) => last)), late]);
      over.abort();
      return counts.waiting;
    },
  };
}

/**
 * The status of the answer, or why there is none. Never rejects; a redirect is an answer and is not followed. The limit
 * is for all of it: a target that sends a byte now and then does not keep it.
 */
function sendOnce(
  { clock, secureContext }: ForwarderSettings,
  url: URL,
  { bytes, headers }: Arrived['delivery'],
  { stop, timeoutMs }: { readonly stop: AbortSignal; readonly timeoutMs: number },
): Promise<number | string> {
  const passed = Object.entries(headers).filter(([name, value]) => value !== undefined && !NOT_PASSED_ON.test(name));
  return new Promise(resolve => {
    const sent = (url.protocol === 'https:' ? tlsRequest : plainRequest)(url, {
      method: 'POST',
      headers: { ...Object.fromEntries(passed), 'content-length': String(bytes.length) },
      agent: false,
      signal: stop,
      ...(secureContext && { secureContext }),
    });
    const over = new AbortController();
    void rest(timeoutMs, clock, over.signal).then(
      isLate => isLate && sent.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)),
    );
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.on('close', () => over.abort());
    sent.on('response', response => {
      response.on('error', () => undefined).resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end(bytes);
  });
}
