/** Rules that meet deliveries: kept in the store, counted where a delivery is claimed. */
import { expect, it } from 'vitest';
import { receiver } from '../../support/receiver.ts';
import { scene } from '../delivery/scene.ts';

async function meets(action: object, more: object = {}) {
  const inbox = await receiver();
  const stage = await scene();
  await stage.subscribe(inbox.url);
  const added = await stage.admin('POST', '/faults', { action, ...more });
  expect([added.status, added.json.phase]).toEqual([201, null]);
  const rule = async () =>
    (await stage.admin('GET', '/faults')).json.data.find((each: { id: string }) => each.id === added.json.id);
  return { inbox, stage, rule };
}

it('sends twice, as often as the rule says', async () => {
  const { inbox, stage, rule } = await meets({ kind: 'duplicate_delivery' }, { times: 2 });
  for (let nth = 0; nth < 3; nth += 1) await stage.event();
  await stage.drain();
  const ids = inbox.received.map(({ json }) => json.id as string);
  expect([ids.length, new Set(ids).size]).toEqual([5, 3]);
  expect(await rule()).toMatchObject({ active: false, struck: 2 });
  await stage[Symbol.asyncDispose]();
  await inbox[Symbol.asyncDispose]();
});

it('sends a body that was written by hand twice, byte for byte and without a signature too', async () => {
  const { inbox, stage } = await meets({ kind: 'duplicate_delivery' }, { times: 1 });
  const [{ id }] = (await stage.get('/webhooks')).json.data;
  await stage.admin('POST', `/webhooks/${id}/send`, { event: 'card.frozen', body: '[7]', sign: 'none' });
  await stage.drain();
  expect(inbox.received.map(({ bytes }) => bytes.toString())).toEqual(['[7]', '[7]']);
  expect(inbox.received.map(({ headers }) => headers['x-webhook-signature'])).toEqual([undefined, undefined]);
  await stage[Symbol.asyncDispose]();
  await inbox[Symbol.asyncDispose]();
});

it('meets the event it names alone, and sends that one later', async () => {
  const { inbox, stage } = await meets({ kind: 'delay_delivery', ms: 60_000 }, { match: { event: 'card.frozen' } });
  await stage.event();
  await stage.event();
  await stage.drain();
  expect(inbox.received.map(({ json }) => json.type)).toEqual(['card.unfrozen']);
  await stage.admin('POST', '/clock/advance', { by: '1m' });
  await stage.drain();
  expect(inbox.received.map(({ json }) => json.type)).toEqual(['card.unfrozen', 'card.frozen']);
  await stage[Symbol.asyncDispose]();
  await inbox[Symbol.asyncDispose]();
});

it('lets later ones go first, and loses none', async () => {
  const { inbox, stage } = await meets({ kind: 'reorder_deliveries', window: 3 });
  for (let nth = 0; nth < 12; nth += 1) await stage.event();
  await stage.drain();
  const { json } = await stage.admin('GET', '/events');
  const made = (json.data as { id: string; type: string }[]).filter(({ type }) => type !== 'card.created');
  const came = inbox.received.map(received => received.json.id as string);
  expect(came).not.toEqual(made.map(({ id }) => id));
  expect(new Set(came)).toEqual(new Set(made.map(({ id }) => id)));
  await stage[Symbol.asyncDispose]();
  await inbox[Symbol.asyncDispose]();
});
