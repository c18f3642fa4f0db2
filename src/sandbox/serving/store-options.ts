/** A seed and a data set are of a store when it is made. One that is there keeps its own, and is not silently used. */
import type { DataSet, LoadSize } from '../../contract/sandbox/admin.ts';
import { CliError } from '../../core/errors.ts';
import { walletOf } from '../store/account.ts';
import type { Meta } from '../store/open.ts';
import type { Store } from '../store/sql.ts';

export interface StoreOptions {
  readonly seed?: number | undefined;
  readonly data?: DataSet | undefined;
  readonly size?: LoadSize | undefined;
}

/** Throws `usage` when the store, which was there, was made with others than are asked for. */
export async function checkStoreOptions(
  store: Store,
  { account, meta }: { readonly account: string; readonly meta: Meta },
  { seed, data, size = {} }: StoreOptions,
): Promise<void> {
  const loaded = (await store.read(sql => walletOf(sql, account)))?.data_set;
  const sizes = Object.entries(size).filter(([, given]) => given !== undefined);
  // How many there were when it was made is not known any more.
  const differs =
    (seed !== undefined && seed !== meta.seed) || (data !== undefined && data !== loaded) || sizes.length > 0;
  if (!differs) return;
  const words = [
    'cardwright sandbox reset',
    ...(data === undefined ? [] : ['--data', data]),
    ...(seed === undefined ? [] : ['--seed', String(seed)]),
    ...sizes.flatMap(([name, given]) => [`--${name}`, String(given)]),
  ];
  throw new CliError('usage', {
    message: `the sandbox store ${store.path} is there already, with data set ${loaded ?? 'none'} and seed ${meta.seed}`,
    notes: [
      '--seed, --data and the size of a data set are for a store that is made now. The hint replaces everything in it.',
    ],
    hint: words.join(' '),
    outcome: 'not_sent',
  });
}
