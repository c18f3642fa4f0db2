import { command } from '../../cli/command.ts';
import type { AdminOperations } from '../../contract/calls.ts';
import type { ResultOf } from '../../contract/operation.ts';
import { CliError } from '../../errors.ts';
import type { Column } from '../../terminal/view.ts';
import { money } from '../cards/columns.ts';

export type SandboxStatus = ResultOf<AdminOperations['status']>;

export const STATUS_COLUMNS: readonly Column[] = [
  { field: 'store', title: 'STORE', kind: 'text', priority: 1 },
  { field: 'data_set', title: 'DATA', kind: 'word', priority: 2 },
  { field: 'now', title: 'NOW', kind: 'time', priority: 2 },
  { field: 'bins', title: 'BINS', kind: 'integer', priority: 3 },
  { field: 'cards', title: 'CARDS', kind: 'integer', priority: 2 },
  { field: 'transactions', title: 'TRANSACTIONS', kind: 'integer', priority: 2 },
  { field: 'webhooks', title: 'WEBHOOKS', kind: 'integer', priority: 3 },
  { field: 'events', title: 'EVENTS', kind: 'integer', priority: 3 },
  { field: 'wallet_balance', title: 'WALLET', kind: 'money', priority: 1 },
  { field: 'ledger_ok', title: 'LEDGER', kind: 'boolean', priority: 1 },
];

/** Label and value lines of the sandbox's state. */
export function statusPairs(status: SandboxStatus): [string, string][] {
  return [
    ['Store', status.store],
    ['Data set', status.data_set ?? '-'],
    ['Clock', status.now],
    ['BINs', String(status.bins)],
    ['Cards', String(status.cards)],
    ['Transactions', String(status.transactions)],
    ['Webhooks', String(status.webhooks)],
    ['Events', String(status.events)],
    ['Wallet', money(status.wallet_balance)],
    ['Ledger', status.ledger_ok ? 'whole' : `broken: ${(status.ledger_faults ?? []).join('; ')}`],
  ];
}

/** Shows what the sandbox holds; a ledger that does not add up is exit 15. */
export const sandboxStatus = command({
  path: 'sandbox status',
  summary: 'Show what the sandbox holds and whether its ledger is whole',
  operation: 'status',
  examples: [{ does: 'In words', run: 'sandbox status' }],
  async run(ctx) {
    const admin = await ctx.sandbox();
    return (await admin.send('status', {})).result;
  },
  show: status => ({
    noun: 'sandbox',
    idField: 'store',
    columns: STATUS_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: statusPairs(status) }],
    failure: status.ledger_ok
      ? undefined
      : new CliError('check_failed', {
          message: `the ledger does not add up: ${(status.ledger_faults ?? []).join('; ')}`,
          hint: 'cardwright sandbox reset',
        }),
  }),
});
