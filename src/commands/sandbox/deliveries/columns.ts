/** How deliveries are shown. */
import { columnsOf } from '../../../cli/columns.ts';
import { argument, OURS } from '../../../cli/parsing/flag.ts';
import type { Shown } from '../../../cli/shown.ts';
import { text } from '../../../contract/field.ts';
import type { ItemOf } from '../../../contract/operation.ts';
import type { AdminOperations } from '../../../contract/sandbox/admin-calls.ts';
import { DELIVERY } from '../../../contract/sandbox/deliveries.ts';

export type Delivery = ItemOf<AdminOperations['deliveries']>;

export const delivery = argument(text({ doc: 'Delivery.', basis: OURS }));

export const DELIVERY_COLUMNS = [
  ...columnsOf(DELIVERY, {
    id: { priority: 1 },
    state: { priority: 1 },
    event: { priority: 2 },
    webhook_id: { title: 'WEBHOOK', priority: 4, kind: 'id' },
    event_id: { title: 'EVENT ID', priority: 5, kind: 'id' },
    attempt: { title: 'TRIES', priority: 3 },
  }),
  { field: 'last', title: 'LAST ANSWER', kind: 'text', priority: 2, shrink: true },
  ...columnsOf(DELIVERY, {
    due_at: { title: 'NEXT', priority: 3 },
    created_at: { title: 'AGE', priority: 6, wideOnly: true },
  }),
] as const;

/** What came of the newest attempt, for the one line a person reads. */
export function lastAnswer({ attempts }: Delivery): string | null {
  const last = attempts?.at(-1);
  if (last === undefined) return null;
  return last.status ? String(last.status) : (last.error ?? 'unknown');
}

export function showQueued(made: Delivery): Shown {
  const { id, event, event_id, webhook_id } = made;
  return {
    noun: 'delivery',
    columns: DELIVERY_COLUMNS,
    blocks: [
      { kind: 'line', text: `Queued ${id}: ${event} to ${webhook_id}` },
      { kind: 'pairs', pairs: [['Event', event_id]] },
    ],
    notes: ['What came of it: cardwright sandbox deliveries list'],
  };
}
