/** Order, faults on the way, and how fast a queue empties. */
import { describe, expect, it } from 'vitest';
import type { DeliveryFault, DeliveryFaults } from '../../../src/sandbox/delivery/parts.ts';
import { receiver } from '../../support/receiver.ts';
import { expectEmptied } from './emptied.ts';
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

it('empties a queue of 100', () => expectEmptied(100));

describe('faults', () => {
  const once = (fault: DeliveryFault): DeliveryFaults => {
    let left = 1;
    return async () => (left-- > 0 ? fault : undefined);
  };
  const types = (received: readonly { readonly json: { readonly type: string } }[]) =>
    received.map(({ json }) => json.type);

  it('delivers twice, with the same id and bytes', async () => {
    await using inbox = await receiver();
    await using stage = await scene({ delivery: { faults: once({ kind: 'duplicate' }) } });
    await stage.subscribe(inbox.url);
    await stage.event();
    await stage.event();
    await stage.drain();
    expect(types(inbox.received)).toEqual(['card.frozen', 'card.unfrozen', 'card.frozen']);
    expect(inbox.received[2]?.bytes).toEqual(inbox.received[0]?.bytes);
  });

  it('delays on the clock of the sandbox', async () => {
    await using inbox = await receiver();
    await using stage = await scene({ delivery: { faults: once({ kind: 'delay', ms: 60_000 }) } });
    await stage.subscribe(inbox.url);
    await stage.event();
    await stage.event();
    await stage.drain();
    expect(types(inbox.received)).toEqual(['card.unfrozen']);
    await stage.admin('POST', '/clock/advance', { by: '1m' });
    await stage.drain();
    expect(types(inbox.received)).toEqual(['card.unfrozen', 'card.frozen']);
  });

  it('lets later ones overtake, by the seed, and loses none', async () => {
    const run = async (seed: number) => {
      await using inbox = await receiver();
      const faults: DeliveryFaults = async () => ({ kind: 'reorder', window: 4 });
      await using stage = await scene({ seed, delivery: { faults, limits: { hold: 20 } } });
      await stage.subscribe(inbox.url);
      for (let nth = 0; nth < 12; nth += 1) await stage.event();
      await stage.drain();
      return inbox.received.map(({ headers }) => Number(String(headers['x-webhook-id']).split('_')[1]));
    };
    const first = await run(5);
    const sorted = first.toSorted((a, b) => a - b);
    expect(new Set(first).size).toBe(12);
    expect(first).not.toEqual(sorted);
    expect(await run(5)).toEqual(first);
  });

  it('does not wait for ever for somebody to overtake', async () => {
    await using inbox = await receiver();
    const faults: DeliveryFaults = async () => ({ kind: 'reorder', window: 1_000 });
    await using stage = await scene({ delivery: { faults, limits: { hold: 20 } } });
    await stage.subscribe(inbox.url);
    await stage.event();
    await stage.drain();
    expect(inbox.received).toHaveLength(1);
  });
});
