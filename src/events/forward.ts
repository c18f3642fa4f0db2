/**
 * Passes verified deliveries on, byte for byte, to programs that were named: in order for each of them, never redirected
 * (docs/design/security.md, H10, H11). What a target does not take is the sender's to try again.
 */
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { SecureContext } from 'node:tls';
import { matchesEvent } from '../contract/events.ts';
import { LOOPBACK } from '../contract/resources.ts';
import type { Clock } from '../platform/host.ts';
import { within } from '../platform/time.ts';
import type { Arrived } from './listener.ts';
import { createDedupeSet } from './poll.ts';

export type Target = NonNullable<ReturnType<typeof targetOf>>;

export interface Forwarded {
  readonly target: string;
  readonly event: string;
  /** Status of the answer, or why there is none. */
  readonly outcome: number | string;
  readonly isDelivered: boolean;
}

interface ForwarderSettings {
  readonly targets: readonly Target[];
  readonly clock: Clock;
  readonly onForwarded: (forwarded: Forwarded) => void;
  /** Certificates that https targets may show, in place of Node's own list. */
  readonly secureContext?: SecureContext | undefined;
}

/** A sender that waits for what came of it does not wait for long. */
const TIMEOUT_MS = 8_000;
/** Events a target took, the newest of them. */
const MOST_TAKEN = 100_000;
/** Of one hop, or of ours. */
const NOT_PASSED_ON =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|expect)$/;

/** `http://127.0.0.1:3000/hook`, or with a pattern of the events it gets, `card.*=http://…`; an address of another machine must be https. */
export function targetOf(text: string) {
  const [, pattern = '*', address = ''] = /^(?:([\w.*]+)=)?(https?:\/\/.+)$/.exec(text) ?? [];
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  return url.protocol === 'https:' || LOOPBACK.test(url.hostname) ? { url, pattern } : undefined;
}

/** One queue a target, so that a slow one holds up no other. */
export function createForwarder({ targets, clock, onForwarded, secureContext }: ForwarderSettings) {
  const queues = targets.map(target => ({
    target,
    last: Promise.resolve(true),
    taken: createDedupeSet(MOST_TAKEN),
    refused: new Set<string>(),
  }));

  /**
   * The status of the answer, or why there is none. Never rejects; a redirect is an answer and is not followed. The limit
   * is for all of it: a target that sends a byte now and then does not keep it.
   */
  function sendOnce(url: URL, { bytes, headers }: Arrived['delivery']): Promise<number | string> {
    const passed = Object.entries(headers).filter(([name, value]) => value !== undefined && !NOT_PASSED_ON.test(name));
    const options = {
      method: 'POST',
      headers: { ...Object.fromEntries(passed), 'content-length': String(bytes.length) },
      agent: false,
      ...(secureContext && { secureContext }),
    } as const;
    const send = (late: AbortSignal) =>
      new Promise<number | string>(resolve => {
        const sent = (url.protocol === 'https:' ? tlsRequest : plainRequest)(url, { ...options, signal: late });
        sent.on('error', (error: NodeJS.ErrnoException) =>
          resolve(late.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : (error.code ?? error.message)),
        );
        sent.on('response', response => {
          response.on('error', () => undefined).resume();
          resolve(response.statusCode ?? 0);
        });
        sent.end(bytes);
      });
    return within(TIMEOUT_MS, clock, send);
  }

  async function forward(queue: (typeof queues)[number], { event, delivery }: Arrived): Promise<boolean> {
    const { target, taken, refused } = queue;
    const { id } = event;
    if (taken.has(id)) return true;
    const outcome = await sendOnce(target.url, delivery);
    const isDelivered = typeof outcome === 'number' && outcome >= 200 && outcome <= 299;
    if (isDelivered) {
      taken.add(id);
      refused.delete(id);
    } else refused.add(id);
    onForwarded({ target: target.url.href, event: id, outcome, isDelivered });
    return isDelivered;
  }

  return {
    /** Sends it once to each target that has not taken it yet; true when all have. */
    async pass(arrived: Arrived): Promise<boolean> {
      const fitting = queues.filter(({ target }) => matchesEvent(target.pattern, arrived.event.type));
      const sent = fitting.map(queue => {
        queue.last = queue.last.then(() => forward(queue, arrived));
        return queue.last;
      });
      return (await Promise.all(sent)).every(Boolean);
    },
    get delivered() {
      return queues.reduce((sum, { taken }) => sum + taken.size, 0);
    },
    get failed() {
      return queues.reduce((sum, { refused }) => sum + refused.size, 0);
    },
  };
}
