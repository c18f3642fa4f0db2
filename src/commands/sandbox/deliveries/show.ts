import { command } from '../../../cli/parsing/command.ts';
import type { Shown } from '../../../cli/shown.ts';
import type { ResultOf } from '../../../contract/operation.ts';
import type { AdminOperations } from '../../../contract/sandbox/admin-calls.ts';
import type { Column } from '../../../terminal/view.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { DELIVERY_COLUMNS, delivery } from './columns.ts';

type WholeDelivery = ResultOf<AdminOperations['deliveries.get']>;

const COLUMNS = DELIVERY_COLUMNS.filter(({ field }) => field !== 'last');

const ATTEMPT_COLUMNS: readonly Column[] = [
  { field: 'number', title: 'TRY', kind: 'integer', priority: 1 },
  { field: 'at', title: 'AT', kind: 'text', priority: 2 },
  { field: 'status', title: 'STATUS', kind: 'integer', priority: 1 },
  { field: 'duration_ms', title: 'MS', kind: 'integer', priority: 3 },
  { field: 'error', title: 'ERROR', kind: 'text', priority: 2, shrink: true },
  { field: 'address', title: 'ADDRESS', kind: 'text', priority: 4 },
];

function show(whole: WholeDelivery): Shown {
  const { id, event, webhook_id, state, attempts = [], body, body_hidden: hidden } = whole;
  const rows = attempts ?? [];
  return {
    noun: 'delivery',
    idField: 'id',
    columns: COLUMNS,
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['Delivery', `${id}: ${event} to ${webhook_id}`],
          ['State', state],
          ['Body', `${whole.body_bytes} bytes, SHA-256 ${whole.body_sha256}`],
        ],
      },
      // Not broken: it is JSON, which is copied.
      { kind: 'line', text: body, whole: true },
      { kind: 'table', columns: ATTEMPT_COLUMNS, rows },
    ],
    notes: hidden ? ['The one-time code in the text is replaced; 3ds list shows it.'] : [],
  };
}

/** One delivery, whole. */
export const showDelivery = command({
  path: 'sandbox deliveries show',
  summary: 'Show a delivery with its attempts and the text that it brings',
  about: [
    'The digest is that of the bytes that are sent. webhooks verify --explain tells why a receiver gets another signature. Looking changes nothing in the sandbox.',
  ],
  operation: 'deliveries.get',
  args: { delivery },
  examples: [
    { does: 'In words', run: 'sandbox deliveries show dlv_1' },
    { does: 'As data', run: 'sandbox deliveries show dlv_1 --json' },
  ],
  run: (ctx, { delivery }) => runAdmin(ctx, 'deliveries.get', { delivery_id: delivery }),
  show,
});
