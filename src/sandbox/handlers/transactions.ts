/** transactions.list */
import { LIMITS } from '../../contract/limits.ts';
import { wireTransaction } from '../account/objects.ts';
import type { Handlers } from '../calls/handler.ts';
import { inclusiveRange } from '../rules/dates.ts';
import { countTransactions, pageOfTransactions } from '../store/transactions.ts';
import { pageFacts } from './paging.ts';

export const listTransactions: Handlers['transactions.list'] = async ({ sql, account, input }) => {
  const { page = LIMITS.page.defaults } = input;
  const limit = LIMITS.transactionsPageSize.defaults;
  const filter = { card_id: input.card_id, type: input.type, ...inclusiveRange(input) };
  const total = await countTransactions(sql, account, filter);
  const rows = await pageOfTransactions(sql, account, { filter, limit, offset: (page - 1) * limit });
  return { data: rows.map(wireTransaction), page: pageFacts(page, limit, total) };
};
