/**
 * 5,000 transactions on SQLite, 100,000 on PostgreSQL, and every guard left out once; on PostgreSQL also while connections
 * are cut and the database is killed.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openPostgresStores } from '../../../src/sandbox/store/postgres/open.ts';
import { missing } from '../../postgres/server.ts';
import { anomalies } from '../../support/list-append/check.ts';
import { ownServer } from '../../team/own-server.ts';
import { expectSeen, MISTAKES } from './mistakes.ts';
import { CONNECTED, carriedOut, committedShare, cut } from './transactions.ts';

const WORKLOAD = { seed: 1, transactions: 5_000, workers: 6 };
const HISTORIES = { sqlite: [1], postgres: Array.from({ length: 20 }, (_, at) => at + 1) };

describe.each(['sqlite', 'postgres'] as const)('on %s', engine => {
  const isThere = engine === 'sqlite' || missing() === undefined;

  it.skipIf(!isThere).each(HISTORIES[engine])('5,000 transactions run one after the other, history %i', async seed => {
    await using connected = await CONNECTED[engine]();
    const history = await carriedOut(connected, { ...WORKLOAD, seed });
    expect(anomalies(history)).toEqual([]);
    expect(committedShare(history)).toBeGreaterThan(0.8);
  });

  it.skipIf(!isThere).each(MISTAKES[engine])('they do not when $name', mistake =>
    expectSeen(engine, mistake, { ...WORKLOAD, transactions: 1_500 }),
  );
});

it.skipIf(missing() !== undefined)(
  'what was answered stays, and what was refused is not there, when connections are cut',
  async () => {
    await using connected = await CONNECTED.postgres();
    const over = new AbortController();
    const cutting = (async () => {
      let count = 0;
      for (; !over.signal.aborted; count += await cut()) await rest(200);
      return count;
    })();
    const history = await carriedOut(connected, { ...WORKLOAD, transactions: 4_000 });
    over.abort();
    expect(await cutting).toBeGreaterThan(20);
    expect(anomalies(history)).toEqual([]);
    expect(history.filter(({ outcome }) => outcome === 'unknown').length).toBeGreaterThan(0);
    expect(committedShare(history)).toBeGreaterThan(0.3);
  },
);

it.skipIf(missing() !== undefined)('nor when the database is killed', async () => {
  await using database = await ownServer();
  await using connected = await CONNECTED.postgres(openPostgresStores, Promise.resolve(database));
  const over = new AbortController();
  const killing = (async () => {
    let count = 0;
    for (; !over.signal.aborted; count += 1) {
      await rest(2_000);
      await database.stop('SIGKILL');
      await database.start();
    }
    return count;
  })();
  const history = await carriedOut(connected, { ...WORKLOAD, transactions: 4_000 });
  over.abort();
  expect(await killing).toBeGreaterThan(3);
  expect(anomalies(history)).toEqual([]);
  expect(committedShare(history)).toBeGreaterThan(0.3);
  expect(await readFile(join(database.server.folder, 'log'), 'utf8')).not.toMatch(/deadlock|could not serialize/i);
});
