/** The order of deliveries, and that none is lost or held up by another. */
import { expect, it } from 'vitest';
import { receiver } from '../../support/receiver.ts';
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
  for (let nth = 0; nth < 40; nth += 1) await stage.event();
  await stage.drain();
  for (const { received } of [inbox, second]) {
    expect(received).toHaveLength(40);
    expect(inOrder(received.map(({ json }) => json.type))).toBe(true);
  }
  expect(most).toBe(1);
});

it('does not let a hanging receiver hold another one up', async () => {
  await using hanging = await receiver(() => undefined);
  await using inbox = await receiver();
  await using stage = await scene({ deliveries: 'live', deliveryLimits: { poll: 5 } });
  await stage.subscribe(hanging.url);
  await stage.subscribe(inbox.url);
  for (let nth = 0; nth < 5; nth += 1) await stage.event();
  await inbox.until(5);
  expect(hanging.received).toHaveLength(1);
});
