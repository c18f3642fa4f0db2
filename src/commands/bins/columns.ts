/** How BINs stand in a table. */
import { columnsOf, SHORT_ID } from '../../cli/columns.ts';
import { BIN } from '../../contract/resources.ts';

export const BIN_COLUMNS = columnsOf(BIN, {
  id: { priority: 1, shortTo: SHORT_ID },
  network: { priority: 2 },
  type: { priority: 3 },
  '3ds': { title: '3DS', priority: 5 },
  apple_pay: { title: 'APPLE', priority: 6 },
  google_pay: { title: 'GOOGLE', priority: 6 },
  max_transaction: { title: 'MAX TX', priority: 3 },
  max_monthly: { title: 'MAX MONTH', priority: 4 },
  acceptance_rate: { title: 'ACCEPTED', priority: 2, kind: 'percent' },
  best_for: { title: 'BEST FOR', priority: 7, shrink: true },
});
