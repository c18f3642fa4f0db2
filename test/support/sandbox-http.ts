/** Plain HTTP to a sandbox, also such as no honest client speaks; and the surroundings a test hands in. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Secret } from '../../src/core/secret.ts';
import type { Clock, Randomness } from '../../src/platform/host.ts';

export interface Served {
  readonly url: string;
  readonly socketPath?: string;
  readonly key: Secret;
  readonly adminToken: Secret;
}

export interface Asked {
  readonly method?: string;
  /** Below the base address of the service; a path that begins with `/_sandbox` goes to the control surface. */
  readonly path: string;
  /** Beside those every request has; undefined takes one of them away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON; text as it is. */
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export function ask(served: Served, { method = 'GET', path, headers = {}, body, idempotencyKey }: Asked): Promise<Got> {
  const isAdmin = path.startsWith('/_sandbox');
  const credential = (isAdmin ? served.adminToken : served.key).expose();
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const url = new URL(isAdmin ? new URL(served.url).origin + path : served.url + path);
  const all = {
    authorization: `Bearer ${credential}`,
    ...(text !== undefined && { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(text)}` }),
    'x-idempotency-key': idempotencyKey,
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      ...(served.socketPath !== undefined && { socketPath: served.socketPath }),
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
    });
    sent.on('error', reject);
    sent.on('response', response => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const answer = Buffer.concat(parts).toString('utf8');
        try {
          const isJson = response.headers['content-type']?.startsWith('application/json');
          const json = answer === '' || isJson === false ? undefined : JSON.parse(answer);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: answer, json });
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.end(text);
  });
}

/** Sends bytes as they are and resolves to everything that came back until the server closed. */
export function askRaw(served: Served, text: string): Promise<string> {
  const { hostname, port } = new URL(served.url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', part => {
      answer += part;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

/** A clock whose wall time is set by the test; durations are real. */
export function setClock(now: number): Clock & { set(now: number): void } {
  let shown = now;
  return {
    now: () => shown,
    monotonic: () => performance.now(),
    sleep: ms => new Promise(resolve => setTimeout(resolve, ms)),
    set: next => {
      shown = next;
    },
  };
}

export const idSource: Randomness = { bytes: count => randomBytes(count), fraction: () => 0.5 };
