/** A seed and a data set are of a store when it is made. One that is there keeps its own, and is not silently used. */
import type { DataSet } from '../contract/sandbox-admin.ts';
import { CliError } from '../errors.ts';
import type { Meta } from './store/meta.ts';
import type { Store } from './store/sql.ts';
import { walletOf } from './store/wallet.ts';

export interface StoreAsked {
  readonly seed?: number | undefined;
  readonly data?: DataSet | undefined;
}

/** Throws `usage` when the store was made with others than were asked for. */
export async function checkAsked(
  store: Store,
  { account, meta }: { readonly account: string; readonly meta: Meta },
  { seed, data }: StoreAsked,
): Promise<void> {
  const loaded = (await store.read(sql => walletOf(sql, account)))?.data_set;
  const differs = (seed !== undefined && seed !== meta.seed) || (data !== undefined && data !== loaded);
  if (!differs) return;
  const words = [
    'cardwright sandbox reset',
    ...(data === undefined ? [] : ['--data', data]),
    ...(seed === undefined ? [] : ['--seed', String(seed)]),
  ];
  throw new CliError('usage', {
    message: `the sandbox store ${store.path} is there already, with data set ${loaded ?? 'none'} and seed ${meta.seed}`,
    notes: ['--seed and --data are for a store that is made now. The hint replaces everything in it.'],
    hint: words.join(' '),
    outcome: 'not_sent',
  });
}
