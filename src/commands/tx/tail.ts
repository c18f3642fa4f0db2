import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import type { Item } from '../../contract/calls.ts';
import { integer } from '../../contract/field.ts';
import { dollars, toCents } from '../../core/money.ts';
import { durationText, timeOfDay } from '../../terminal/times.ts';
import type { Row } from '../../terminal/view.ts';
import { exitOf, LIVE_FLAGS, liveFor, onTroubleOf, waitingOf } from '../wait/flags.ts';
import { TRANSACTION_COLUMNS } from './columns.ts';

type Transaction = Item<'transactions.list'>;

const EVERY_MS = 2_000;

/** Shows transactions as they come. */
export const tailTransactions = command({
  path: 'tx tail',
  summary: 'Show transactions as they come',
  about: [
    'Asks every two seconds and adds a line for each new record, oldest first, until Ctrl-C. -o ndjson gives objects.',
  ],
  operation: 'transactions.list',
  flags: {
    card: 'query.card_id',
    type: 'query.type',
    last: option(integer({ doc: 'Begin with so many of the newest page.', basis: OURS, min: 1 })),
    ...LIVE_FLAGS,
  },
  examples: [
    { does: 'Of one card', run: 'tx tail --card card_1 --last 3 --wait-timeout 1s' },
    { does: 'Declines, for a script', run: 'tx tail --type decline --wait-timeout 1s -o ndjson' },
  ],
  async run(ctx, { card, type, last, count, waitTimeout: typed }) {
    const forMs = liveFor(typed);
    const { live } = await import('../../events/live.ts');
    const { tailLook } = await import('../../events/tail.ts');
    const waiting = waitingOf(ctx);
    const reader = await ctx.reader();
    const began = ctx.clock.monotonic();
    ctx.notice(`Following ${type ?? 'transaction'}s${card === undefined ? '' : ` of ${card}`}. Ctrl-C stops.`);
    const look = tailLook<Transaction>(waiting, {
      pages: () => reader.pages('transactions.list', { card_id: card, type }),
      last: last ?? 0,
      onGap: () => ctx.notice('warning: more came at once than is looked through; see cardwright tx list --all'),
    });
    const rows = live<Transaction>(waiting, { everyMs: EVERY_MS, forMs, count, look, onTrouble: onTroubleOf(ctx) });
    const listing = {
      batches: rows as unknown as AsyncIterable<readonly Row[]>,
      page: () => ({}),
      line: (row: Row) => lineOf(row as unknown as Transaction),
      footer: (shown: number) =>
        `${shown} ${shown === 1 ? 'transaction' : 'transactions'} in ${durationText(ctx.clock.monotonic() - began)}.`,
    };
    return { listing, exit: () => exitOf(ctx.signal) };
  },
  show: ({ listing, exit }) => ({ listing, exit, noun: 'transaction', columns: TRANSACTION_COLUMNS }),
});

/** `14:05:12  txn_3  decline  $59.00  Acme Ltd  card_7  spending_limit_exceeded` */
function lineOf({ id, type, status, amount, merchant, card_id, decline_reason, created_at }: Transaction): string {
  const at = created_at ? Date.parse(created_at) : Number.NaN;
  const parts = [Number.isNaN(at) ? undefined : timeOfDay(at), id, type, dollars(toCents(amount)), merchant, card_id];
  return [...parts, decline_reason ?? status].filter(part => part).join('  ');
}
