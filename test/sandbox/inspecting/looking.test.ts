/** Whoever looks changes nothing: what a sandbox holds is the same with every look and without. */
import { expect, it } from 'vitest';
import { fakeService } from '../../support/fake-service.ts';
import { tellLongHistory } from '../../support/long-history.ts';
import { ask } from '../../support/sandbox-http.ts';
import { notingPlayer } from '../../support/scenario-player.ts';
import { ADMIN, LOOKS, leavesExportsAlone, lookAtAll, named } from './looks.ts';

it('answers every look about a long history', async () => {
  await using service = await fakeService({ scenarios: notingPlayer() });
  await tellLongHistory(service);
  await ask(service, { method: 'POST', path: `${ADMIN}/snapshots`, body: { name: 'before' } });
  const ids = await named(service);
  expect(LOOKS.length).toBeGreaterThan(14);
  expect(await lookAtAll(service, ids)).toEqual(LOOKS.map(() => 200));
  expect(service.faults).toEqual([]);
});

it('leaves an export as it is, row for row, wherever in a history somebody looks', () => leavesExportsAlone(3, 6));

it('fires no timer that is due, and no number is missing behind a look', async () => {
  await using service = await fakeService();
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  const card_id = (await ask(service, { method: 'POST', path: '/cards', body: { bin_id, amount: 50 } })).json.id;
  await ask(service, { method: 'POST', path: `${ADMIN}/simulate/authorizations`, body: { card_id, amount: 5 } });
  service.clock.set(service.clock.now() + 40 * 86_400_000);
  const { json } = await ask(service, { path: `${ADMIN}/timers` });
  expect(json.data).toMatchObject([{ kind: 'authorization.expiry', state: 'due', error: null }]);
  const { json: again } = await ask(service, { path: `${ADMIN}/timers` });
  expect(again).toEqual(json);
});
