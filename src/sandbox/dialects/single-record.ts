/** `auth-single`: one changing transaction record a purchase, as some services have it. */
import { LIMITS } from '../../contract/limits.ts';
import { minus, wireTransaction } from '../account/ledger.ts';
import { pageFacts } from '../handlers/account.ts';
import { inclusiveRange } from '../rules/dates.ts';
import { type SingleRow, singleRecord, singleRecords } from '../store/transactions.ts';
import type { Dialect } from './dialect.ts';

export const AUTH_SINGLE: Dialect = {
  changes: 'one changing transaction record a purchase',
  handlers: {
    async 'transactions.list'({ sql, account, input }) {
      const { page = LIMITS.page.defaults } = input;
      const limit = LIMITS.transactionsPageSize.defaults;
      const filter = { card_id: input.card_id, type: input.type, ...inclusiveRange(input) };
      const { rows, total } = await singleRecords(sql, account, { filter, limit, offset: (page - 1) * limit });
      return { data: rows.map(shown), page: pageFacts(page, limit, total) };
    },
  },
  async eventData({ sql, account }, event, data) {
    const of = data['authorization_id'];
    if (!event.startsWith('transaction.') || typeof of !== 'string') return data;
    const row = await singleRecord(sql, account, of);
    return row === undefined ? data : shown(row);
  },
};

/**
 * The amount is what is left of the purchase, settled less refunded; of one that was given back whole, what was given
 * back. Such a record is its own authorization and says so, which an unlinked refund does not.
 */
function shown(row: SingleRow) {
  const type = row.shown_type;
  if (row.type !== 'authorization' || type === 'authorization') return wireTransaction(row);
  const amount = type === 'refund' ? row.refunded : minus(row.settled, row.refunded);
  return wireTransaction({
    ...row,
    type,
    amount,
    authorization_id: row.id,
    status: row.held > 0 ? 'pending' : 'completed',
  });
}
