/** requests.get, requests.turned: what was asked and answered, and what got no further than the door. */

import { OPERATIONS } from '../../contract/operations.ts';
import type { RequestAction } from '../../contract/sandbox/fault-rule.ts';
import type { NotKept } from '../../contract/sandbox/not-kept.ts';
import { nearest } from '../../core/nearest.ts';
import { Refused } from '../calls/handler.ts';
import { SERVICE_PATH } from '../http/routing.ts';
import { isoTime } from '../rules/dates.ts';
import type { MomentHandler } from '../service/service.ts';
import { wireRequest } from '../service/wire-request.ts';
import { requestById } from '../store/requests.ts';

export const showRequest: MomentHandler<'requests.get'> = async ({ sql, account, parts }, { request_id: id }) => {
  const row =
    parts.requestLog.waiting.findLast(each => each.request_id === id) ?? (await requestById(sql, account, id));
  if (row === undefined) throw new Refused('not_found', `no request ${id} among those that are kept`);
  const { answer, request_headers: headers, key_last4, took, body_bytes, not_kept } = row;
  return {
    ...wireRequest(row),
    answer,
    headers: headers === null ? {} : (JSON.parse(headers) as Readonly<Record<string, string>>),
    body_bytes,
    not_kept: not_kept === null ? null : (JSON.parse(not_kept) as readonly NotKept[]),
    key_last4,
    took_ms: took,
    on_the_wire: onTheWire(row.fault),
  };
};

/** What a fault leaves of an answer, by its kind. */
const SPOILT: Readonly<Record<string, string>> = {
  status: 'another status in its place',
  latency: 'the answer as it is, late',
  reset: 'nothing: the connection was reset',
  hang: 'nothing: silence, then a closed connection',
  empty: 'no body',
  malformed: 'broken JSON in its place',
  html: 'a web page in its place',
  truncate: 'its beginning alone',
  drip: 'the answer as it is, slowly',
} satisfies Readonly<Record<RequestAction['kind'], string>>;

/** By the text of the fault as it is logged: `after_commit reset`. */
function onTheWire(fault: string | null): string {
  if (fault === null) return 'the answer as it is';
  const [, kind = ''] = fault.split(' ');
  return `${SPOILT[kind] ?? kind} (${fault})`;
}

export const turnedRequests: MomentHandler<'requests.turned'> = async ({ now, parts }) => {
  // Kept in real time, because the store was not asked; told on the clock of the sandbox.
  const ahead = now - parts.clock.now();
  const data = parts.turnedLog.newest().map(({ at, ...turned }) => ({
    at: isoTime(at + ahead),
    ...turned,
    nearest: turned.status === 404 || turned.status === 405 ? nearestRoute(turned.method, turned.path) : null,
  }));
  return { data, page: {} };
};

/** Of routes alone that take no other path: a part that stands for a value fits every text of one part. */
function nearestRoute(method: string, path: string): string | null {
  const given = path.split('/');
  const routes = Object.values(OPERATIONS).map(row => ({ method: row.method, path: `${SERVICE_PATH}${row.path}` }));
  const filled = routes.map(route => {
    const parts = route.path.split('/').map((part, at) => (part.startsWith('{') ? (given[at] ?? part) : part));
    return { ...route, filled: parts.join('/') };
  });
  const found = nearest(path, [...new Set(filled.map(route => route.filled))]);
  const fitting = filled.filter(route => route.filled === found);
  const best = fitting.find(route => route.method === method) ?? fitting[0];
  return best === undefined ? null : `${best.method} ${best.path}`;
}
