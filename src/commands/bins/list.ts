import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { BIN_COLUMNS } from './columns.ts';

/** Lists the BINs cards can be issued from. */
export const listBins = command({
  path: 'bins list',
  summary: 'List the BINs cards can be issued from',
  operation: 'bins.list',
  examples: [
    { does: 'All of them', run: 'bins list' },
    { does: 'Best accepted first', run: 'bins list --sort -acceptance_rate' },
  ],
  run: async ctx => wholeListing(await ctx.read('bins.list', {}), { noun: 'BIN' }),
  show: listing => ({ listing, noun: 'BIN', columns: BIN_COLUMNS }),
});
