/** The order of deliveries, and that none is lost or held up by another. */
import { expect, it } from 'vitest';
import { receiver } from '../../support/receiver.ts';
import { isWhole } from '../../support/whole.ts';
import { scene } from './scene.ts';

const inOrder = (types: readonly string[]) =>
  types.every((type, nth) => type === (nth % 2 === 0 ? 'card.frozen' : 'card.unfrozen'));

it('keeps the order of the events, one at a time, for each of several subscriptions', async () => {
  let open = 0;
  let most = 0;
  await using inbox = await receiver((response, nth) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(
      () => {
        open -= 1;
        response.end();
      },
      (nth * 7) % 5,
    );
  });
  await using second = await receiver();
  await using stage = await scene();
  await stage.subscribe(inbox.url);
  await stage.subscribe(second.url);
  for (let nth = 0; nth < 12; nth += 1) await stage.event();
  await stage.drain();
  for (const { received } of [inbox, second]) {
    expect(received).toHaveLength(12);
    expect(inOrder(received.map(({ json }) => json.type))).toBe(true);
  }
  expect(most).toBe(1);
});

it('lets a retry hold nothing else up', async () => {
  await using inbox = await receiver((response, nth) => response.writeHead(nth === 1 ? 500 : 200).end());
  await using stage = await scene();
  await stage.subscribe(inbox.url);
  for (let nth = 0; nth < 3; nth += 1) await stage.event();
  await stage.drain();
  expect((await stage.deliveries()).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'queued']);
});

it('does not let a hanging receiver hold another one up', async () => {
  await using hanging = await receiver(() => undefined);
  await using inbox = await receiver();
  await using stage = await scene({ deliveries: 'sent', delivery: { limits: { poll: 5 } } });
  await stage.subscribe(hanging.url);
  await stage.subscribe(inbox.url);
  for (let nth = 0; nth < 5; nth += 1) await stage.event();
  await inbox.until(5);
  expect(hanging.received).toHaveLength(1);
});

it('sends while it runs what comes in, also from the first moment on', async () => {
  await using inbox = await receiver();
  await using stage = await scene({ deliveries: 'sent', clock: { mode: 'real' } });
  await stage.subscribe(inbox.url);
  await stage.event();
  await inbox.until(1);
  await stage.event();
  await inbox.until(2);
});

it('empties a long queue', () => expectEmptied(isWhole ? 1_000 : 50));

/** Each arrives once. */
async function expectEmptied(count: number): Promise<void> {
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
  await stage.drain();
  expect(inbox.received).toHaveLength(count);
  expect(new Set(inbox.received.map(({ headers }) => headers['x-webhook-id'])).size).toBe(count);
  expect((await stage.admin('GET', '/deliveries?state=delivered')).json.meta.total).toBe(count);
}
