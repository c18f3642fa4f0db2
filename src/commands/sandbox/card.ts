import { columnsOf } from '../../cli/columns.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Shown } from '../../cli/shown.ts';
import type { ResultOf } from '../../contract/operation.ts';
import type { AdminOperations } from '../../contract/sandbox/admin-calls.ts';
import { WHOLE_CARD } from '../../contract/sandbox/holdings.ts';
import type { Column } from '../../terminal/view.ts';
import { card } from '../cards/arguments.ts';
import { cardPairs, money } from '../cards/columns.ts';
import { runAdmin } from './simulate/run-admin.ts';

type WholeCard = ResultOf<AdminOperations['cards.show']>;

const COLUMNS = columnsOf(WHOLE_CARD, {
  id: { priority: 1 },
  last4: { priority: 1 },
  status: { priority: 1 },
  balance: { priority: 1 },
  hold: { priority: 1 },
  used_this_month: { title: 'USED THIS MONTH', priority: 2 },
  agrees: { priority: 3 },
  label: { priority: 4, shrink: true },
});

const ENTRY_COLUMNS: readonly Column[] = [
  { field: 'id', title: 'ENTRY', kind: 'integer', priority: 1 },
  { field: 'at', title: 'AT', kind: 'text', priority: 4 },
  { field: 'kind', title: 'KIND', kind: 'word', priority: 1 },
  { field: 'card', title: 'CARD', kind: 'money', priority: 1 },
  { field: 'card_after', title: 'BALANCE', kind: 'money', priority: 2 },
  { field: 'hold', title: 'HOLD', kind: 'money', priority: 1 },
  { field: 'hold_after', title: 'HELD', kind: 'money', priority: 2 },
  { field: 'ref', title: 'ABOUT', kind: 'id', priority: 5 },
];

function showCard(whole: WholeCard): Shown {
  const { entries, entries_total: total } = whole;
  const monthly = whole.spending_limit ?? whole.max_monthly;
  return {
    noun: 'card',
    idField: 'id',
    columns: COLUMNS,
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ...cardPairs(whole),
          ['On hold', money(whole.hold)],
          ['Used this month', `${money(whole.used_this_month)} of ${money(monthly)}`],
          ['One purchase', `at most ${money(whole.max_transaction)}`],
          ['Ledger', whole.agrees ? 'agrees with balance and hold' : 'DOES NOT AGREE: cardwright sandbox check'],
        ],
      },
      { kind: 'table', columns: ENTRY_COLUMNS, rows: entries },
    ],
    notes: total > entries.length ? [`The newest ${entries.length} of ${total} entries.`] : [],
  };
}

/** A card and its accounts of the ledger. */
export const sandboxCard = command({
  path: 'sandbox card',
  summary: 'Show a card of the sandbox with its limits and its entries in the ledger',
  about: [
    'The newest 50 entries, each with what the card and its hold have after it. Looking changes nothing in the sandbox.',
  ],
  operation: 'cards.show',
  args: { card },
  examples: [
    { does: 'In words', run: 'sandbox card card_1' },
    { does: 'As data', run: 'sandbox card card_1 --json' },
  ],
  run: (ctx, { card }) => runAdmin(ctx, 'cards.show', { card_id: card }),
  show: showCard,
});
