/** Hands an answer over as a fault wants it: late, in part, drop by drop, or not at all. */
import type { ServerResponse } from 'node:http';
import type { RequestAction } from '../../contract/sandbox/faults.ts';
import type { Clock } from '../../platform/host.ts';
import { inNextTurn } from '../../platform/time.ts';
import type { Answer } from '../http/answer.ts';
import type { AppliedFault } from '../http/request.ts';
import { drawnWait } from './applied-fault.ts';

export interface Sending {
  readonly response: ServerResponse;
  readonly answer: Answer;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** The server stops: nobody is kept waiting any longer. */
  readonly stopping: AbortSignal;
}

const DRIPS_PER_SECOND = 10;

/** Resolves when the connection is done with, or the answer handed over. */
export async function sendFaulty({ action, source, phase }: AppliedFault, sending: Sending): Promise<void> {
  const { response, answer } = sending;
  const whole = () => void response.writeHead(answer.status, sending.headers).end(answer.body);
  switch (action.kind) {
    case 'reset':
      return cut(response);
    case 'hang':
      await pause(action.max_ms, sending);
      return cut(response);
    case 'truncate':
      return truncated(action.bytes, sending);
    case 'drip':
      return dripped(action, sending);
    case 'latency':
      if (phase === 'after_commit') await pause(drawnWait(action, source), sending);
      return whole();
    // What is wrong with these is the answer: `applied-fault.ts`.
    case 'status':
    case 'empty':
    case 'malformed':
    case 'html':
      return whole();
  }
  action satisfies never;
}

/** Waits, but no longer than the server runs or somebody is there. False when it was cut short. */
async function pause(ms: number, { response, clock, stopping }: Sending): Promise<boolean> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  const until = AbortSignal.any([gone.signal, stopping]);
  try {
    await clock.sleep(ms, until);
    return true;
  } catch (reason) {
    if (until.aborted) return false;
    throw reason;
  } finally {
    response.off('close', leave);
  }
}

/** As if the process on the other side had died: a reset where the transport has one. */
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

async function dripped({ bytes_per_s: rate }: Extract<RequestAction, { kind: 'drip' }>, sending: Sending) {
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
