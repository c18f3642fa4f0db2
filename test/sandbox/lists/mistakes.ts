/** Guards of the store left out, each of which the lists must show. */
import { expect } from 'vitest';
import type { openStore } from '../../../src/sandbox/store/open.ts';
import { anomalies } from '../../support/list-append/check.ts';
import { type Mistake, mutantOf } from '../../support/mutant.ts';
import { carriedOut, connected, type Workload } from './transactions.ts';

export const MISTAKES: readonly Mistake[] = [
  {
    name: 'what others wrote is not noticed',
    file: 'store/queue.ts',
    is: 'if (version !== this.#othersVersion) this.#known.clear();',
    becomes: '',
  },
  {
    name: 'what a work did that failed is kept',
    file: 'store/queue.ts',
    is: 'if (sql.written() > 0 || !this.#parts.connection.isTransaction) {',
    becomes: 'if (!this.#parts.connection.isTransaction) {',
  },
];

/** Chance decides what meets what: a mistake is one that shows within this many histories. */
const HISTORIES = 5;

export async function expectSeen(mistake: Mistake, workload: Workload): Promise<void> {
  await using mutant = await mutantOf<{ readonly openStore: typeof openStore }>('store/open.ts', mistake);
  for (let nth = 0; nth < HISTORIES; nth += 1) {
    await using stores = await connected(mutant.module.openStore);
    const history = await carriedOut(stores, { ...workload, seed: workload.seed + nth });
    if (anomalies(history).length > 0) return;
  }
  expect.unreachable(`${mistake.name}: no list shows it`);
}
