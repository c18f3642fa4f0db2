/**
 * Answers that are no plain yes, each with what a read and a write must make of it
 * (docs/design/reliability.md, sections 1 and 3).
 */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { CARD, type Handler, json } from './served.ts';

/** An error as the interface shows it. */
export const error = (id: string, message = 'no') => ({ error: id, message, code: 1, request_id: 'req_1' });
export const html = (response: ServerResponse, status: number) =>
  response.writeHead(status, { 'content-type': 'text/html' }).end('<html><title> Log  in </title></html>');
export const raw = (response: ServerResponse, status: number, bytes: Buffer | string, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes);

export interface Row {
  readonly name: string;
  readonly answer: Handler;
  /** Exit code of a read and of a write; 0 for success. */
  readonly read: number;
  readonly write: number;
  readonly reads?: number;
  readonly writes?: number;
}

export const rows: readonly Row[] = [
  { name: '400 insufficient_funds', answer: (_, r) => json(r, 400, error('insufficient_funds')), read: 10, write: 10 },
  { name: '422 insufficient_funds', answer: (_, r) => json(r, 422, error('insufficient_funds')), read: 10, write: 10 },
  { name: '400 invalid_request', answer: (_, r) => json(r, 400, error('invalid_request')), read: 6, write: 6 },
  { name: '422 validation_error', answer: (_, r) => json(r, 422, error('validation_error')), read: 6, write: 6 },
  { name: '400 unknown identifier', answer: (_, r) => json(r, 400, error('strange')), read: 6, write: 6 },
  {
    name: '400 error object',
    answer: (_, r) => json(r, 400, { error: { type: 'x', message: 'm' } }),
    read: 6,
    write: 6,
  },
  {
    name: '400 problem+json',
    answer: (_, r) => json(r, 400, { type: 'https://x/p/bad', title: 'Bad' }),
    read: 6,
    write: 6,
  },
  { name: '400 HTML', answer: (_, r) => html(r, 400), read: 6, write: 11 },
  { name: '400 no body', answer: (_, r) => raw(r, 400, ''), read: 6, write: 11 },
  { name: '400 of a gateway', answer: (_, r) => json(r, 400, { message: 'bad' }), read: 6, write: 11 },
  { name: '401', answer: (_, r) => json(r, 401, error('unauthorized')), read: 4, write: 4 },
  { name: '401 no body', answer: (_, r) => raw(r, 401, ''), read: 4, write: 11 },
  { name: '403 HTML', answer: (_, r) => html(r, 403), read: 4, write: 11 },
  { name: '400 unauthorized', answer: (_, r) => json(r, 400, error('unauthorized')), read: 4, write: 4 },
  { name: '404 not_found', answer: (_, r) => json(r, 404, error('not_found')), read: 5, write: 5 },
  { name: '404 HTML', answer: (_, r) => html(r, 404), read: 5, write: 11 },
  { name: '404 card_terminated', answer: (_, r) => json(r, 404, error('card_terminated')), read: 6, write: 6 },
  { name: '405', answer: (_, r) => raw(r, 405, ''), read: 6, write: 11 },
  { name: '407', answer: (_, r) => raw(r, 407, ''), read: 6, write: 11 },
  { name: '408', answer: (_, r) => json(r, 408, error('x')), read: 12, write: 11, reads: 3 },
  { name: '409 state', answer: (_, r) => json(r, 409, error('card_expired')), read: 6, write: 6 },
  {
    name: '409 in progress',
    answer: (_, r) => json(r, 409, error('idempotency_in_progress')),
    read: 6,
    write: 11,
  },
  {
    name: '409 key in use',
    answer: (_, r) => json(r, 409, error('idempotent_request_running')),
    read: 6,
    write: 11,
  },
  { name: '409 key reused', answer: (_, r) => json(r, 409, error('idempotency_key_reused')), read: 1, write: 11 },
  { name: '413 HTML', answer: (_, r) => html(r, 413), read: 6, write: 11 },
  { name: '422 key reused', answer: (_, r) => json(r, 422, error('idempotency_key_reused')), read: 1, write: 11 },
  { name: '429', answer: (_, r) => json(r, 429, error('rate_limited')), read: 7, write: 7, reads: 3, writes: 6 },
  { name: '429 no body', answer: (_, r) => raw(r, 429, ''), read: 7, write: 7, reads: 3, writes: 6 },
  {
    name: '503 rate_limited',
    answer: (_, r) => json(r, 503, error('too_many_requests')),
    read: 12,
    write: 11,
    reads: 3,
  },
  { name: '499', answer: (_, r) => json(r, 499, error('x')), read: 12, write: 11, reads: 3 },
  { name: '500', answer: (_, r) => json(r, 500, error('internal_error')), read: 12, write: 11, reads: 3 },
  {
    name: '500 that names funds',
    answer: (_, r) => json(r, 500, error('insufficient_funds')),
    read: 12,
    write: 11,
    reads: 3,
  },
  { name: '501', answer: (_, r) => raw(r, 501, ''), read: 12, write: 11, reads: 1 },
  { name: '502 HTML', answer: (_, r) => html(r, 502), read: 12, write: 11, reads: 3 },
  { name: '503', answer: (_, r) => json(r, 503, error('service_unavailable')), read: 12, write: 11, reads: 3 },
  { name: '600', answer: (_, r) => json(r, 600, {}), read: 12, write: 11, reads: 1 },
  ...[300, 301, 302, 303, 307, 308].map(status => ({
    name: `redirect ${status}`,
    answer: ((_, r) => raw(r, status, '', { location: 'https://evil.example/v1/x' })) as Handler,
    read: 12,
    write: 11,
    reads: 1,
  })),
  { name: '200 HTML', answer: (_, r) => html(r, 200), read: 13, write: 11 },
  { name: '200 text', answer: (_, r) => raw(r, 200, 'OK'), read: 13, write: 11 },
  { name: '200 empty', answer: (_, r) => raw(r, 200, ''), read: 13, write: 11 },
  { name: '200 half JSON', answer: (_, r) => raw(r, 200, '{"id":"card_1"'), read: 13, write: 11 },
  { name: '200 with error body', answer: (_, r) => json(r, 200, error('insufficient_funds')), read: 13, write: 11 },
  { name: '200 success false', answer: (_, r) => json(r, 200, { success: false }), read: 13, write: 11 },
  {
    name: '200 gzip',
    answer: (_, r) => raw(r, 200, gzipSync('{}'), { 'content-encoding': 'gzip' }),
    read: 13,
    write: 11,
  },
  { name: '200 bad UTF-8', answer: (_, r) => raw(r, 200, Buffer.from([0x7b, 0xff, 0x7d])), read: 13, write: 11 },
  { name: '200 too deep', answer: (_, r) => raw(r, 200, '['.repeat(70) + ']'.repeat(70)), read: 13, write: 11 },
  { name: '200 too large', answer: (_, r) => raw(r, 200, ' '.repeat(300_000)), read: 13, write: 11 },
  { name: '202', answer: (_, r) => json(r, 202, { id: 'card_1' }), read: 13, write: 11 },
  { name: '200 array', answer: (_, r) => json(r, 200, [CARD]), read: 13, write: 11 },
  {
    name: 'cut body',
    answer: (_, r) => {
      r.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
      r.write('{"id":');
      setTimeout(() => r.destroy(), 5);
    },
    read: 12,
    write: 11,
    reads: 3,
  },
  { name: 'reset after send', answer: (_, r) => r.destroy(), read: 12, write: 11, reads: 3 },
];
