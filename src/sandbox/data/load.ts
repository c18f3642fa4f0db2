/** Data sets: what a sandbox holds before anybody asked it for something (docs/design/sandbox.md, section 7). */
import { type DATA_SETS, LOAD_SIZE } from '../../contract/sandbox/admin.ts';
import { type Cents, cents } from '../../core/money.ts';
import type { Act } from '../account/acting.ts';
import { post } from '../account/ledger.ts';
import { seedOf } from '../calls/deterministic-ids.ts';
import { rememberOrigin } from '../checks/origin.ts';
import { type BinRow, insertBins } from '../store/bins.ts';
import type { Sql } from '../store/sql.ts';
import { insertWallet, walletOf } from '../store/wallet.ts';
import { BINS } from './bins.ts';
import { type CrowdSize, tellCrowd } from './crowd.ts';
import { tellDemo } from './demo.ts';

export interface DataSetFacts extends Pick<Act, 'account' | 'now' | 'idSource'> {
  readonly name: (typeof DATA_SETS)[number];
  /** What the wallet ends up with, by an adjustment; the data set's own sum when left out. */
  readonly wallet?: Cents;
  /** Of `load`. */
  readonly size?: CrowdSize;
  /** In place of the data set's own, in their order. */
  readonly bins?: readonly BinRow[] | undefined;
}

/**
 * Fills an account that holds nothing. `empty` has the BINs and a wallet of 0.00; `demo` a history as well, `load` as
 * many cards and records as were asked for. Nothing
 * is emitted: a data set is where events begin. Timers are set, so the system tables must be there.
 */
export async function loadDataSet(
  sql: Sql,
  { name, account, now, idSource, wallet, size, bins: kept }: DataSetFacts,
): Promise<void> {
  await insertWallet(sql, account, name);
  const bins: BinRow[] = [...(kept ?? [])];
  if (kept === undefined) for (const bin of BINS) bins.push({ ...bin, id: await idSource.id('bin') });
  await insertBins(sql, account, bins);
  if (name === 'demo') await tellDemo({ sql, account, now, idSource, bins: bins.map(({ id }) => id) });
  if (name === 'load') await tellCrowd({ sql, account, now, idSource, seed: await seedOf(sql) }, size ?? LOAD_SIZE);
  if (wallet !== undefined) await adjustWallet(sql, { account, now, wallet });
  await rememberOrigin(sql, account);
}

async function adjustWallet(
  sql: Sql,
  { account, now, wallet }: { readonly account: string; readonly now: number; readonly wallet: Cents },
): Promise<void> {
  const missing = cents(wallet - ((await walletOf(sql, account))?.balance ?? 0));
  if (missing === 0) return;
  const moves = { adjust: -missing, wallet: missing };
  await post(sql, { account, kind: 'adjustment', ref: 'wallet', at: now, moves });
}
