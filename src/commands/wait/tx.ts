import { allOf, CONDITION_VALUES, CONDITIONS } from '../../cli/condition.ts';
import { command } from '../../cli/parsing/command.ts';
import type { Item } from '../../contract/calls.ts';
import { TRANSACTION } from '../../contract/resources.ts';
import { durationText } from '../../terminal/times.ts';
import { TRANSACTION_COLUMNS } from '../tx/columns.ts';
import { awaited, WAIT_TIMEOUT, waitOver, waitTimeout } from './flags.ts';

type Transaction = Item<'transactions.list'>;

/** Waits until there is a transaction as asked for. */
export const waitTransaction = command({
  path: 'wait tx',
  summary: 'Wait for a transaction that meets a condition',
  answers: { one: TRANSACTION },
  about: [
    'Takes the newest that matches, even if it was there before; --since now takes only a new one. Reads the newest page at once and then at most once a second. If none comes in time, that is exit 8.',
    CONDITION_VALUES,
  ],
  operation: 'transactions.list',
  ends: { wait_expired: 'No such transaction came within --wait-timeout.' },
  flags: {
    card: 'query.card_id',
    type: 'query.type',
    since: 'query.from',
    until: CONDITIONS,
    waitTimeout: WAIT_TIMEOUT,
  },
  examples: [
    { does: 'A settlement', run: 'wait tx --card card_1 --type settlement --wait-timeout 5m' },
    { does: 'A new decline of $59', run: "wait tx --type decline --since now --until 'amount=59'" },
  ],
  async run(ctx, { card, type, since, until, waitTimeout: typed }) {
    const now = () => ctx.serviceNow();
    const test = allOf(until ?? [], { shape: TRANSACTION, flag: '--until', now });
    const timeoutMs = waitTimeout(ctx, typed);
    const reader = await ctx.reader();
    let newest: Transaction | undefined;
    const look = async (signal: AbortSignal) => {
      for await (const { data } of reader.pages(
        'transactions.list',
        { card_id: card, type, from: since },
        { signal },
      )) {
        newest = data[0];
        return data.find(row => test(row as Readonly<Record<string, unknown>>));
      }
      return undefined;
    };
    const found = await awaited(ctx, timeoutMs, look);
    if (found !== undefined) return found;
    const wanted = [type ?? 'transaction', card && `of ${card}`, until && `with ${until.join(' and ')}`]
      .filter(Boolean)
      .join(' ');
    const says =
      newest === undefined
        ? 'There was none of this kind.'
        : `The newest is ${newest.id}, ${newest.type} ${newest.status ?? ''}.`;
    const message = `no ${wanted} came within ${durationText(timeoutMs)}`;
    throw waitOver(ctx, timeoutMs, { message, notes: [says], evidence: { last: newest ?? null } });
  },
  show: () => ({ noun: 'transaction', columns: TRANSACTION_COLUMNS }),
});
