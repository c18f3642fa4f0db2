import { columnsOf } from '../../../cli/columns.ts';
import { PAGING_FLAGS, pagedListing } from '../../../cli/listing.ts';
import { command } from '../../../cli/parsing/command.ts';
import { TIMER } from '../../../contract/sandbox/inspector.ts';

const COLUMNS = columnsOf(TIMER, {
  due_at: { title: 'DUE', priority: 1, kind: 'text' },
  kind: { priority: 1 },
  ref: { title: 'OF', priority: 1, kind: 'id' },
  state: { priority: 2 },
  error: { priority: 3, shrink: true },
});

/** What the next move of the clock would bring about. */
export const clockTimers = command({
  path: 'sandbox clock timers',
  summary: 'List what happens by itself, earliest first',
  about: [
    'Holds and codes that expire, confirmations of deposits, attempts of deliveries. Those that failed stand first, with what they said. Looking changes nothing in the sandbox.',
  ],
  operation: 'timers',
  flags: { page: 'query.page', perPage: 'query.per_page', ...PAGING_FLAGS },
  examples: [
    { does: 'What comes next', run: 'sandbox clock timers --limit 5' },
    { does: 'All of it, as data', run: 'sandbox clock timers --all --json' },
  ],
  async run(ctx, { page, perPage, all, limit }) {
    const admin = await ctx.sandbox();
    return pagedListing(admin.pages('timers', { page, per_page: perPage }), {
      noun: 'timer',
      all,
      limit,
      sorted: ctx.sorted && page === undefined,
      numbered: page !== undefined,
      perPage,
    });
  },
  show: listing => ({ listing, noun: 'timer', idField: 'ref', columns: COLUMNS }),
});
