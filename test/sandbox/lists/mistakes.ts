/** Guards of the stores left out, each of which the lists must show. */
import { expect } from 'vitest';
import type { openPostgresStores } from '../../../src/sandbox/store/postgres/open.ts';
import type { openStore } from '../../../src/sandbox/store/sqlite/open.ts';
import { anomalies } from '../../support/list-append/check.ts';
import { type Mistake, mutantOf } from '../../support/mutant.ts';
import { CONNECTED, carriedOut, type Workload } from './transactions.ts';

/** The first is the quickest to show. */
export const MISTAKES: Readonly<Record<'sqlite' | 'postgres', readonly [Mistake, ...Mistake[]]>> = {
  sqlite: [
    {
      name: 'what others wrote is not noticed',
      file: 'store/sqlite/statements.ts',
      is: 'if (version !== this.#version) this.#forgetKnown();',
      becomes: '',
    },
    {
      name: 'what a work did that failed is kept',
      file: 'store/sqlite/queue.ts',
      is: "this.#statements.exec('rollback to work');",
      becomes: '',
    },
  ],
  postgres: [
    {
      name: 'nobody locks the account',
      file: 'store/postgres/queue.ts',
      is: 'where account_id = ? for update',
      becomes: 'where account_id = ?',
    },
    {
      name: 'what is asked early is asked before the lock',
      file: 'store/postgres/queue.ts',
      is: "    if (access === 'write') steps.push(transaction.send(LOCK, account));",
      becomes: `    if (access === 'write') transaction.ask(this.#hints);
    if (access === 'write') steps.push(transaction.send(LOCK, account));`,
    },
    {
      name: 'a reading transaction sees several moments',
      file: 'store/postgres/queue.ts',
      is: 'begin isolation level repeatable read read only',
      becomes: 'begin isolation level read committed read only',
    },
    {
      name: 'what a work did that failed is kept',
      file: 'store/postgres/queue.ts',
      is: "await transaction.send('rollback to work');",
      becomes: '',
    },
    {
      name: 'an answer is given before the COMMIT',
      file: 'store/postgres/queue.ts',
      is: 'if (settle !== undefined) await commit(transaction);',
      becomes: `if (settle !== undefined) {
        for (const done of settle) done();
        await commit(transaction);
      }`,
    },
  ],
};

interface Modules {
  readonly openStore: typeof openStore;
  readonly openPostgresStores: typeof openPostgresStores;
}

/** Chance decides what meets what: a mistake is one that shows within this many histories. */
const HISTORIES = 5;

export async function expectSeen(engine: keyof typeof MISTAKES, mistake: Mistake, workload: Workload): Promise<void> {
  await using mutant = await mutantOf<Modules>(`store/${engine}/open.ts`, mistake);
  const { openStore, openPostgresStores } = mutant.module;
  for (let nth = 0; nth < HISTORIES; nth += 1) {
    await using connected = await (engine === 'sqlite'
      ? CONNECTED.sqlite(openStore)
      : CONNECTED.postgres(openPostgresStores));
    const history = await carriedOut(connected, { ...workload, seed: workload.seed + nth });
    if (anomalies(history).length > 0) return;
  }
  expect.unreachable(`${mistake.name}: no list shows it`);
}
