/** A long queue of deliveries, emptied: each arrives once, and none waits long for the one before. */
import { expect } from 'vitest';
import { receiver } from '../../support/receiver.ts';
import { scene } from './scene.ts';

export async function expectEmptied(count: number): Promise<void> {
  await using inbox = await receiver();
  await using stage = await scene();
  await stage.subscribe(inbox.url);
  for (let nth = 0; nth < count; nth += 10) await Promise.all(Array.from({ length: 10 }, () => stage.event()));
  const hook = (await stage.get('/webhooks')).json.data[0].id;
  // Two that freeze the same card at once are one event.
  const short = count - (await stage.admin('GET', '/deliveries')).json.meta.total;
  for (let nth = 0; nth < short; nth += 1) {
    await stage.admin('POST', `/webhooks/${hook}/example`, { event: 'card.created' });
  }
  const before = performance.now();
  await stage.drain();
  const rate = count / ((performance.now() - before) / 1_000);
  expect(inbox.received).toHaveLength(count);
  expect(new Set(inbox.received.map(({ headers }) => headers['x-webhook-id'])).size).toBe(count);
  expect((await stage.admin('GET', '/deliveries?state=delivered')).json.meta.total).toBe(count);
  // A pause of a tenth of a second between two would show; a machine that is busy does 30.
  expect(rate, `${rate.toFixed(0)} a second`).toBeGreaterThan(10);
}
