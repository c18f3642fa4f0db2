/** What is sent once more because somebody asked: one delivery, or all that a subscription missed; and what is not. */
import { expect, it } from 'vitest';
import { receiver } from '../../support/receiver.ts';
import { type Scene, scene } from './scene.ts';

const states = async (stage: Scene) => (await stage.deliveries()).map(({ state }) => state);

it('recovers what a subscription did not get since a time, each event once', async () => {
  await using inbox = await receiver();
  await using stage = await scene();
  await stage.admin('POST', '/clock/advance', { by: '1s' });
  const id = await stage.subscribe(inbox.url);
  await stage.event();
  await stage.drain();
  // Switched off, it gets nothing; what happens then is missed.
  await stage.patch(`/webhooks/${id}`, { status: 'disabled' });
  await stage.event();
  await stage.event();
  await stage.drain();
  expect(inbox.received).toHaveLength(1);
  const since = '2026-11-20T00:00:00Z';
  expect((await stage.admin('POST', `/webhooks/${id}/recover`, { since })).status).toBe(409);
  await stage.patch(`/webhooks/${id}`, { status: 'active' });
  const recovered = await stage.admin('POST', `/webhooks/${id}/recover`, { since });
  expect(recovered.json).toEqual({ webhook_id: id, since: '2026-11-20T14:00:01Z', queued: 2 });
  await stage.drain();
  const events = inbox.received.map(({ json }) => json.id);
  expect([events.length, new Set(events).size]).toEqual([3, 3]);
  expect((await stage.admin('POST', `/webhooks/${id}/recover`, { since })).json.queued).toBe(0);
  const later = '2027-01-01T00:00:00Z';
  expect((await stage.admin('POST', `/webhooks/${id}/recover`, { since: later })).json.queued).toBe(0);
});

it('cancels what waits for a subscription that is switched off or deleted', async () => {
  await using inbox = await receiver();
  await using stage = await scene();
  const off = await stage.subscribe(inbox.url);
  const gone = await stage.subscribe(inbox.url);
  await stage.event();
  await stage.patch(`/webhooks/${off}`, { status: 'disabled' });
  await stage.remove(`/webhooks/${gone}`);
  await stage.drain();
  expect(inbox.received).toEqual([]);
  expect(await states(stage)).toEqual(['cancelled', 'cancelled']);
  // Deleted is final; switched on again, what was cancelled stays so.
  expect((await stage.patch(`/webhooks/${gone}`, { status: 'active' })).status).toBe(404);
  await stage.patch(`/webhooks/${off}`, { status: 'active' });
  await stage.drain();
  expect(inbox.received).toEqual([]);
});
