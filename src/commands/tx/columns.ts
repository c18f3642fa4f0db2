/** How transactions stand in a table. */
import { columnsOf, SHORT_ID } from '../../cli/columns.ts';
import { TRANSACTION } from '../../contract/resources.ts';

export const TRANSACTION_COLUMNS = columnsOf(TRANSACTION, {
  id: { priority: 1, shortTo: SHORT_ID },
  card_id: { title: 'CARD', priority: 2 },
  type: { priority: 4 },
  status: { priority: 1 },
  amount: { priority: 1 },
  merchant: { priority: 2, shrink: true },
  mcc: { title: 'MCC', priority: 7, wideOnly: true },
  authorization_id: { title: 'AUTHORIZATION', priority: 8, wideOnly: true },
  decline_reason: { title: 'REASON', priority: 5, wideOnly: true },
  created_at: { title: 'WHEN', priority: 2 },
  currency: { priority: 8, wideOnly: true },
});
