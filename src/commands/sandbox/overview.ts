import { command } from '../../cli/parsing/command.ts';
import type { Shown } from '../../cli/shown.ts';
import type { ResultOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import type { Column } from '../../terminal/view.ts';
import { money } from '../cards/columns.ts';
import { runAdmin } from './simulate/run-admin.ts';

type Overview = ResultOf<AdminOperations['overview']>;

const COLUMNS: readonly Column[] = [
  { field: 'deposited', title: 'DEPOSITED', kind: 'money', priority: 2 },
  { field: 'wallet', title: 'WALLET', kind: 'money', priority: 1 },
  { field: 'on_cards', title: 'ON CARDS', kind: 'money', priority: 1 },
  { field: 'on_hold', title: 'ON HOLD', kind: 'money', priority: 1 },
  { field: 'spent', title: 'SPENT', kind: 'money', priority: 2 },
];

const many = (count: number, one: string, several = `${one}s`) => `${count} ${count === 1 ? one : several}`;

function pairsOf(held: Overview): [string, string][] {
  const next = held.next_timer;
  return [
    ['Deposited', money(held.deposited)],
    ['Wallet', money(held.wallet)],
    ['On cards', money(held.on_cards)],
    ['On hold', money(held.on_hold)],
    ['Spent', money(held.spent)],
    ['Cards', `${held.cards_active} active, ${held.cards_frozen} frozen, ${held.cards_terminated} terminated`],
    [
      'Open',
      `${many(held.open_holds, 'hold')}, ${many(held.open_challenges, 'challenge')}, ${many(held.pending_deposits, 'deposit')}`,
    ],
    [
      'Webhooks',
      `${many(held.webhooks, 'subscription')}, ${many(held.failed_deliveries, 'delivery', 'deliveries')} given up`,
    ],
    ['Faults', `${held.faults} active`],
    ['Next', next == null ? 'nothing happens by itself' : `${next.kind} of ${next.ref} at ${next.due_at}`],
    ['Clock', held.now],
  ];
}

/** Where the money is. */
export const sandboxOverview = command({
  path: 'sandbox overview',
  summary: 'Show where the money of the sandbox is, and what is open',
  about: ['Deposited is wallet, cards, holds and spent together. Looking changes nothing in the sandbox.'],
  operation: 'overview',
  examples: [
    { does: 'In words', run: 'sandbox overview' },
    { does: 'As data', run: 'sandbox overview --json' },
  ],
  run: ctx => runAdmin(ctx, 'overview', {}),
  show: (held): Shown => ({
    noun: 'sandbox',
    idField: 'data_set',
    columns: COLUMNS,
    blocks: [{ kind: 'pairs', pairs: pairsOf(held) }],
  }),
});
