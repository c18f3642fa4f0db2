/** How the sandbox's state is shown. */

import type { ResultOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { CliError } from '../../core/errors.ts';
import type { Column } from '../../terminal/view.ts';
import { money } from '../cards/columns.ts';

export type SandboxStatus = ResultOf<AdminOperations['status']>;

export const STATUS_COLUMNS: readonly Column[] = [
  { field: 'store', title: 'STORE', kind: 'text', priority: 1 },
  { field: 'data_set', title: 'DATA', kind: 'word', priority: 2 },
  { field: 'now', title: 'NOW', kind: 'time', priority: 2 },
  { field: 'expires_at', title: 'EXPIRES', kind: 'time', priority: 3, unlessEmpty: true },
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
    ['Ledger', ledgerWords(status) + seenAt(status)],
    ...parkedOf(status).map((text): [string, string] => ['Parked', text]),
  ];
}

function ledgerWords({ ledger_ok: isWhole, ledger_faults }: SandboxStatus): string {
  if (isWhole == null) return `never looked through; that does: ${LOOK}`;
  return isWhole ? 'whole' : `broken: ${(ledger_faults ?? []).join('; ')}`;
}

const LOOK = 'cardwright sandbox status --check';

/** Of many records the books are not looked through each time: then it is said when they were. */
function seenAt({ ledger_checked_at: at, now }: SandboxStatus): string {
  return at == null || at === now ? '' : `, looked through at ${at}; anew: ${LOOK}`;
}

/** Timers whose action failed; what should have happened did not, and nothing else waits for it. */
function parkedOf({ timers_parked }: SandboxStatus): readonly string[] {
  return (timers_parked ?? []).map(({ kind, ref, due_at, error }) => `${kind} of ${ref}, due ${due_at}: ${error}`);
}

/** What makes a look at it fail. */
export function failureOf(status: SandboxStatus): CliError | undefined {
  const parked = parkedOf(status);
  const isBroken = status.ledger_ok === false;
  if (!isBroken && parked.length === 0) return undefined;
  const message = !isBroken
    ? `${parked.length === 1 ? 'a timer' : `${parked.length} timers`} of the sandbox failed: ${parked.join('; ')}`
    : `the ledger does not add up: ${(status.ledger_faults ?? []).join('; ')}`;
  return new CliError('check_failed', { message, hint: 'cardwright sandbox reset' });
}
