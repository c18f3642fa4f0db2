/** requests.get, transactions.why: what was asked and answered, and why. */
import { REQUEST_PAIR } from '../../contract/sandbox/inspector.ts';
import { wired } from '../account/wire.ts';
import { found } from '../calls/handler.ts';
import { spoiltText } from '../faults/faults.ts';
import { checkResults, type DeclineFacts, uncheckedResults } from '../rules/declines.ts';
import type { LookHandlers } from '../service/service.ts';
import { type RequestRow, transactionById } from '../store/rows.ts';

export const REQUESTS = {
  'requests.get': ({ sql, parts, input: { request_id: id } }) => {
    const waiting = parts.requestLog.waiting.findLast(each => each.request_id === id);
    const stored = 'select * from requests where request_id = ? order by position desc limit 1';
    const row = found(waiting ?? sql.get<RequestRow>(stored, id), 'kept request', id);
    return wired(REQUEST_PAIR, {
      ...row,
      headers: row.request_headers,
      took_ms: row.took,
      on_the_wire: spoiltText(row.fault),
    });
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
} satisfies Partial<LookHandlers>;
