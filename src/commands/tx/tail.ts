import { command } from '../../cli/parsing/command.ts';
import { option, takes } from '../../cli/parsing/flag.ts';
import type { Item } from '../../contract/calls.ts';
import { LIVE_FLAGS, liveFor, liveView, waitingOf } from '../wait/flags.ts';
import { TRANSACTION_COLUMNS } from './transactions.ts';

type Transaction = Item<'transactions.list'>;

export const tailTransactions = command({
  path: 'tx tail',
  summary: 'Show transactions as they come',
  about:
    'Asks every two seconds and prints a line for each new transaction, oldest first, until Ctrl-C. -o ndjson prints objects.',
  operation: 'transactions.list',
  flags: {
    card: 'query.card_id',
    type: 'query.type',
    last: option(takes.integer('Start with this many of the newest page.', { min: 1 })),
    ...LIVE_FLAGS,
  },
  examples: {
    'Of one card': 'tx tail --card card_1 --last 3 --wait-timeout 1s',
    'Declines, for a script': 'tx tail --type decline --wait-timeout 1s -o ndjson',
  },
  async run(ctx, { card, type, last, count, waitTimeout: typed }) {
    const forMs = liveFor(typed);
    const { pollTail } = await import('../../events/poll.ts');
    const reader = await ctx.api.reader();
    ctx.ui.notice(`Following ${type ?? 'transaction'}s${card === undefined ? '' : ` of ${card}`}. Ctrl-C stops.`);
    const look = pollTail<Transaction>(waitingOf(ctx), {
      pages: () => reader.pages('transactions.list', { card_id: card, type }),
      last: last ?? 0,
      onGap: () => ctx.ui.notice('warning: more came at once than is looked through; see cardwright tx list --all'),
    });
    return liveView(ctx, 'transaction', { forMs, count, look });
  },
  noun: 'transaction',
  columns: TRANSACTION_COLUMNS,
  show: view => view,
});
