/** How subscriptions stand in a table, and the operand that names one. */
import { columnsOf, SHORT_ID } from '../../cli/columns.ts';
import { argument } from '../../cli/parsing/flag.ts';
import { WEBHOOK, WEBHOOK_ID } from '../../contract/resources.ts';

export const WEBHOOK_COLUMNS = columnsOf(WEBHOOK, {
  id: { priority: 1, shortTo: SHORT_ID },
  status: { priority: 1 },
  url: { priority: 1 },
  events: { priority: 3, shrink: true },
  created_at: { title: 'AGE', priority: 5 },
});

export const webhook = argument(WEBHOOK_ID);
