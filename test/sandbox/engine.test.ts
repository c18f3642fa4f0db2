/** That suites run on the engine they are asked to run on; see support/test-store.ts. */
import { expect, it } from 'vitest';
import { DomainWorld } from '../support/domain-world.ts';
import { fakeService } from '../support/fake-service.ts';
import { startSandbox } from '../support/start-sandbox.ts';
import { accountsOpened, onPostgres, testEngine } from '../support/test-store.ts';
import { world } from '../support/world.ts';

it('every kind of store that a suite opens is on the engine it was asked for', async () => {
  await using service = await fakeService();
  const below = await DomainWorld.open();
  const engines = [service.store, below.store].map(store => store.read(async sql => sql.engine));
  await below.store.close();
  expect(await Promise.all(engines)).toEqual([testEngine, testEngine]);
  const before = accountsOpened();
  await using sandbox = await startSandbox();
  await using here = await world();
  expect((await here.run('wallet --json')).code).toBe(0);
  expect(sandbox.url).toBeTruthy();
  expect(accountsOpened() - before).toBe(onPostgres ? 2 : 0);
});
