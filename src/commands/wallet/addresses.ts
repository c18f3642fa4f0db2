import { columnsOf } from '../../cli/columns.ts';
import { command } from '../../cli/command.ts';
import { wholeListing } from '../../cli/listing.ts';
import { ADDRESS } from '../../contract/resources.ts';

const COLUMNS = columnsOf(ADDRESS, {
  currency: { priority: 1 },
  network: { priority: 1 },
  address: { priority: 1, kind: 'id' },
  memo: { priority: 2 },
  min_confirmations: { title: 'CONFIRMATIONS', priority: 3 },
});

/** Lists the addresses that top the wallet up. */
export const listAddresses = command({
  path: 'wallet addresses',
  summary: 'List the deposit addresses that top the wallet up',
  operation: 'wallet.addresses',
  flags: { currency: 'query.currency' },
  examples: [{ does: 'For one currency', run: 'wallet addresses --currency usdt' }],
  run: async (ctx, { currency }) => wholeListing(await ctx.read('wallet.addresses', { currency }), { noun: 'address' }),
  show: listing => ({ listing, noun: 'address', idField: 'address', columns: COLUMNS }),
});
