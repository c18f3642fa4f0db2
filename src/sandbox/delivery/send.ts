/**
 * Where a delivery may go (docs/design/sandbox.md, section 10): to this machine, elsewhere only when that was allowed
 * and over TLS. A name is resolved once and the address found is the one connected to, so that a name cannot change in
 * between.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { DELIVERY_RETRIES } from '../../contract/spans.ts';
import { systemCode } from '../../files/private-files.ts';
import type { Clock } from '../../platform/host.ts';
import { within } from '../../platform/time.ts';
import { fractionOf } from '../calls/deterministic-ids.ts';

/** The address of `name` by the system. */
const systemResolve = async (name: string) => {
  const { lookup } = await import('node:dns/promises');
  return (await lookup(name, { verbatim: false })).address;
};

/** A delivery must not go where its subscription points. */
class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

/**
 * The address to connect to. No name is looked up where nothing but this machine is allowed: `localhost` stands for
 * 127.0.0.1 then, every other name is refused. Throws `NotAllowed`, or the resolver's own error.
 */
export async function allowedAddress(
  url: URL,
  { allowRemote, resolve = systemResolve }: Pick<Post, 'allowRemote' | 'resolve'>,
): Promise<string> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host === 'localhost') return '127.0.0.1';
  if (isLoopback(host)) return host;
  if (!allowRemote) {
    throw new NotAllowed(`${host} is not this machine; sandbox start --allow-remote-webhooks would send there`);
  }
  const address = isIP(host) === 0 ? await resolve(host) : host;
  if (isLoopback(address)) return address;
  const what = address === host ? address : `${host} is ${address}, which`;
  if (url.protocol !== 'https:') throw new NotAllowed(`${what} is not this machine and needs https`);
  return address;
}

/** 127.0.0.0/8 and ::1, also as an IPv4 address written as IPv6. */
export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(plain) === 4 ? plain.startsWith('127.') : plain === '::1';
}

// When a failed delivery is tried again.

/** Largest random part of a wait, taken away or added. */
const JITTER = 0.1;

/**
 * Wait in ms after attempt `attempt` (from 1) failed; undefined after the last one. The same seed, delivery and attempt
 * give the same wait. On the clock of the sandbox.
 */
export function retryWait(attempt: number, { seed, delivery }: { seed: number; delivery: string }): number | undefined {
  const wait = DELIVERY_RETRIES[attempt - 1];
  if (wait === undefined) return undefined;
  const drawn = fractionOf(`${seed} jitter ${delivery} ${attempt}`);
  return Math.round(wait * (1 - JITTER + 2 * JITTER * drawn));
}

// One attempt: the bytes go out once, to one address; a redirect is an answer like any other and is not followed.

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Post {
  /** The address of a name; the system's when left out. */
  readonly resolve?: typeof systemResolve | undefined;
  readonly allowRemote: boolean;
  readonly clock: Clock;
  /** ms for all of it: name, connection and answer. */
  readonly limit: number;
  /** Cuts the attempt off. */
  readonly signal: AbortSignal;
}

/** What came of an attempt: a status, or an error. */
export interface Reply {
  readonly address?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The first bytes of it as text. */
  readonly body?: string;
  readonly error?: string;
}

/** The receiver has taken it. */
export const isDelivered = ({ status = 0 }: Reply) => status >= 200 && status <= 299;

/** Somewhat more than is kept, so that a secret at the end of that is seen whole. */
const MOST_BYTES = 4_096 + 512;

/** Never rejects: every failure is an outcome. */
export async function post(webhook: WebhookRequest, how: Post): Promise<Reply> {
  const { clock, limit, signal } = how;
  let address: string | undefined;
  return within(limit, clock, async late => {
    const over = AbortSignal.any([signal, late]);
    try {
      const url = new URL(webhook.url);
      address = await before(over, allowedAddress(url, how));
      return { address, ...(await exchanged(url, address, { webhook, signal: over })) };
    } catch (thrown) {
      const cutOff = signal.aborted ? 'the sender stopped' : `no answer within ${limit / 1000} s`;
      const error = over.aborted ? cutOff : wordsFor(thrown);
      return { ...(address !== undefined && { address }), error };
    }
  });
}

/** A promise, or the reason of the signal when that comes first. */
function before<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason as Error);
    if (signal.aborted) give();
    signal.addEventListener('abort', give, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', give));
  });
}

async function exchanged(
  url: URL,
  address: string,
  { webhook, signal }: { webhook: WebhookRequest; signal: AbortSignal },
): Promise<Reply> {
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // Most starts of a sandbox deliver nothing.
  const { request } = isTls ? await import('node:https') : await import('node:http');
  const sent = request({
    host: address,
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
    method: 'POST',
    headers: { Host: url.host, ...webhook.headers },
    setHost: false,
    // A connection of its own: one that was kept may be closed by the receiver just as it is used.
    agent: false,
    signal,
    ...(isTls && isIP(host) === 0 && { servername: host }),
  });
  sent.on('error', () => undefined).end(webhook.body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await beginning(response);
  sent.destroy();
  const headers = Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(headers), body };
}

/** The first bytes of a body, or those that came before it ended, however it ended. */
async function beginning(response: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response) {
      parts.push(part);
      size += part.length;
      if (size >= MOST_BYTES) break;
    }
  } catch {
    // The status is known; what came of the body is all there is of it.
  }
  return Buffer.concat(parts).subarray(0, MOST_BYTES).toString('utf8');
}

function wordsFor(error: unknown): string {
  const code = systemCode(error);
  if (error instanceof NotAllowed || code === undefined) return error instanceof Error ? error.message : String(error);
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'connection refused',
    ECONNRESET: 'the receiver closed the connection without an answer',
    ENOTFOUND: 'the name is not known',
    EAI_AGAIN: 'the name could not be resolved',
    EPIPE: 'the receiver closed the connection without an answer',
  };
  return `${words[code] ?? 'failed'} (${code})`;
}
