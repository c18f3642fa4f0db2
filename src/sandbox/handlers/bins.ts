/** bins.list */
import { wireBin } from '../account/objects.ts';
import type { Handlers } from '../calls/handler.ts';
import { allBins } from '../store/bins.ts';

export const listBins: Handlers['bins.list'] = async ({ sql, account }) => {
  const rows = await allBins(sql, account);
  return { data: rows.map(wireBin), page: {} };
};
