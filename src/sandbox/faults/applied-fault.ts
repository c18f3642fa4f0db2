/** A fault that meets one request: when, what, and what is answered instead. */
import { HEADERS } from '../../contract/envelopes.ts';
import { REFUSALS, type RefusalName } from '../../contract/refusals.ts';
import type { RequestAction } from '../../contract/sandbox/fault-rule.ts';
import { type Answer, errorAnswer, refusalAnswer } from '../http/answer.ts';
import type { AppliedFault } from '../http/request.ts';
import { drawnWait } from './latency.ts';

/** The request is held up before its work, and then goes on as if nothing had been. */
export function waitBefore({ phase, action, source }: AppliedFault): number | undefined {
  return phase === 'before' && action.kind === 'latency' ? drawnWait(action, source) : undefined;
}

/** For the request log: `after_commit reset`. */
export function faultText({ phase, action }: AppliedFault): string {
  return `${phase} ${action.kind}`;
}

/**
 * What is answered under an applied fault, where it is the answer that is wrong and not the connection. `answer` is that of
 * the work, or undefined where the work was kept from happening; then a 503 is what gets spoilt.
 */
export function faultyAnswer({ action }: AppliedFault, answer: Answer | undefined, requestId: string): Answer {
  const real = answer ?? refusalAnswer('service_unavailable', 'A fault of the sandbox, on purpose.', requestId);
  switch (action.kind) {
    case 'status':
      return statusAnswer(action, requestId);
    case 'empty':
      return { status: action.status ?? (answer === undefined ? 200 : real.status), headers: {}, body: '' };
    case 'malformed':
      return { ...real, status: action.status ?? nonEmpty(real.status), body: '{"data": [{"id": "…", ' };
    case 'html':
      return {
        status: action.status ?? 502,
        headers: { 'Content-Type': 'text/html; charset=utf-8' },
        body: '<!doctype html><html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>\n',
      };
    // What is wrong with these is the connection: `send-faulty.ts`.
    case 'latency':
    case 'reset':
    case 'truncate':
    case 'drip':
    case 'hang':
      return real;
  }
}

/** 204 may have no body, so that nothing could be wrong with it. */
function nonEmpty(status: number): number {
  return status === 204 ? 200 : status;
}

type StatusAction = Extract<RequestAction, { kind: 'status' }>;

/** Words for statuses the service has more than one of, or none. */
const USUAL: Readonly<Record<number, RefusalName>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'idempotency_in_progress',
  422: 'idempotency_key_reused',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'service_unavailable',
};

function statusAnswer({ code, error, retry_after: wait }: StatusAction, requestId: string): Answer {
  const headers: Record<string, string> = wait === undefined ? {} : { [HEADERS.retry_after.name]: String(wait) };
  const usual = USUAL[code];
  if (usual === 'unauthorized') headers['WWW-Authenticate'] = 'Bearer';
  const word = error ?? usual ?? (code < 400 ? 'fault' : 'internal_error');
  const known = Object.hasOwn(REFUSALS, word) ? '' : ' (a word of the fault)';
  return errorAnswer({ status: code, error: word, message: `A fault on purpose${known}.`, headers }, requestId);
}
