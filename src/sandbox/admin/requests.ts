/** requests.get, requests.turned: what was asked and answered, and what were refused before they were counted. */
import { OPERATIONS } from '../../contract/operations.ts';
import { REQUEST_PAIR } from '../../contract/sandbox/inspector.ts';
import { explainMismatch, matchSignature } from '../../contract/signature/signature.ts';
import { nearest } from '../../core/nearest.ts';
import { wired } from '../account/wire.ts';
import { found } from '../calls/handler.ts';
import { validSecrets } from '../delivery/attempt.ts';
import { spoiltText } from '../faults/faults.ts';
import { webhookOf } from '../handlers/service.ts';
import { SERVICE_PATH } from '../http/request.ts';
import { isoTime } from '../rules/dates.ts';
import { checkResults, type DeclineFacts, uncheckedResults } from '../rules/declines.ts';
import type { LookHandlers } from '../service/service.ts';
import { requestById, transactionById } from '../store/rows.ts';

export const REQUESTS = {
  'requests.get': ({ sql, parts, input: { request_id: id } }) => {
    const waiting = parts.requestLog.waiting.findLast(each => each.request_id === id);
    const row = found(waiting ?? requestById(sql, id), 'kept request', id);
    return wired(REQUEST_PAIR, {
      ...row,
      headers: row.request_headers,
      took_ms: row.took,
      on_the_wire: spoiltText(row.fault),
    });
  },

  'requests.turned': ({ now, parts }) => {
    // Kept in real time, because the store was not asked; told on the clock of the sandbox.
    const ahead = now - parts.clock.now();
    const data = parts.rejectedLog
      .all()
      .toReversed()
      .map(({ at, ...turned }) => ({
        at: isoTime(at + ahead),
        ...turned,
        nearest: turned.status === 404 || turned.status === 405 ? nearestRoute(turned.method, turned.path) : null,
      }));
    return { data, page: {} };
  },

  /** Values are kept of declines alone; of a record that was approved, every check held. */
  'transactions.why': ({ sql, input: { transaction_id: id } }) => {
    const row = found(transactionById(sql, id), 'transaction', id);
    const about = { transaction: id, decline_reason: row.decline_reason };
    if (row.type === 'authorization') return { ...about, outcome: 'approved', checks: checkResults(null, undefined) };
    if (row.type !== 'decline') return { ...about, outcome: 'posted', checks: uncheckedResults() };
    const statement = 'select facts from decline_facts where transaction_id = ?';
    const kept = sql.get<{ facts: string }>(statement, id);
    const judged = kept && (JSON.parse(kept.facts) as DeclineFacts);
    return { ...about, outcome: 'declined', checks: checkResults(row.decline_reason, judged) };
  },

  'deliveries.explain': look => {
    const { now, input } = look;
    const secrets = validSecrets(webhookOf(look), now);
    const bytes = Buffer.from(input.body);
    const match = matchSignature(bytes, input.signature, secrets);
    if (match === undefined) {
      return {
        matches: false,
        secret: null,
        deviations: [],
        mistakes: explainMismatch(bytes, input.signature, secrets),
      };
    }
    const which = match.secret === 0 ? ('present' as const) : ('former' as const);
    return { matches: true, secret: which, deviations: match.deviations, mistakes: [] };
  },
} satisfies Partial<LookHandlers>;

/** Of routes alone that take no other path: a part that stands for a value fits every text of one part. */
function nearestRoute(method: string, path: string): string | null {
  const given = path.split('/');
  const routes = Object.values(OPERATIONS).map(row => ({ method: row.method, path: `${SERVICE_PATH}${row.path}` }));
  const filled = routes.map(route => {
    const parts = route.path.split('/').map((part, at) => (part.startsWith('{') ? (given[at] ?? part) : part));
    return { ...route, filled: parts.join('/') };
  });
  const like = nearest(path, [...new Set(filled.map(route => route.filled))]);
  const fitting = filled.filter(route => route.filled === like);
  const best = fitting.find(route => route.method === method) ?? fitting[0];
  return best === undefined ? null : `${best.method} ${best.path}`;
}
