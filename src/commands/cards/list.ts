import { IDLE } from '../../cli/bulk/flags.ts';
import { idleCards, idleSpan } from '../../cli/bulk/idle-cards.ts';
import { allOf, CONDITION_VALUES, CONDITIONS, parseCondition } from '../../cli/condition.ts';
import { PAGING_FLAGS, pagedListing } from '../../cli/listing.ts';
import { OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { CARD } from '../../contract/card.ts';
import { text } from '../../contract/field.ts';
import { CARD_COLUMNS } from './columns.ts';

/** Lists cards, a page or all; filters of ours run over all pages. */
export const listCards = command({
  path: 'cards list',
  summary: 'List cards, newest first',
  about: [
    '--label, --where and --idle look at every page. --idle 30d shows cards that are older than 30 days and had no transaction since, not even a decline; it reads the transactions of that time.',
    CONDITION_VALUES,
  ],
  operation: 'cards.list',
  flags: {
    status: 'query.status',
    bin: 'query.bin_id',
    page: 'query.page',
    perPage: 'query.per_page',
    ...PAGING_FLAGS,
    label: option(text({ doc: 'Only cards whose label contains this.', basis: OURS })),
    where: CONDITIONS,
    idle: IDLE,
    offline: OFFLINE,
  },
  examples: [
    { does: 'The first page', run: 'cards list' },
    { does: 'Every active card with less than $20', run: "cards list --status active --where 'balance<20'" },
    {
      does: 'Older than thirty days, and nothing on them',
      run: "cards list --where 'created_at<30d' --where balance=0",
    },
    { does: 'Ids alone, for the next command', run: 'cards list --status frozen --all -o id' },
  ],
  async run(ctx, { status, bin, page, perPage, all, limit, label, where, idle }) {
    const asked = { shape: CARD, now: () => ctx.serviceNow(), options: ['idle'] };
    const span = idle === undefined ? undefined : idleSpan(idle);
    const tests = where === undefined ? [] : [allOf(where, { ...asked, flag: '--where' })];
    if (label !== undefined) tests.push(parseCondition(`label~${label}`, { ...asked, flag: '--label' }));
    const reader = await ctx.reader();
    if (span !== undefined) {
      const since = (await ctx.askServiceTime()) - span;
      tests.push(await idleCards({ reader, progress: ctx.progress, since }));
    }
    const sorted = ctx.sorted && page === undefined;
    const wide = sorted || all || limit !== undefined || tests.length > 0;
    const pages = reader.pages('cards.list', {
      status,
      bin_id: bin,
      page,
      per_page: perPage ?? (wide ? 100 : undefined),
    });
    const wish = {
      noun: 'card',
      all,
      limit,
      keep: tests,
      progress: ctx.progress,
      sorted,
      numbered: page !== undefined,
      perPage,
    };
    return pagedListing(pages, wish);
  },
  show: listing => ({ listing, noun: 'card', columns: CARD_COLUMNS }),
});
