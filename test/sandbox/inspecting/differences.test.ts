import { expect, it } from 'vitest';
import { ask, type Served } from '../../support/sandbox-http.ts';
import { scene } from '../faults/scene.ts';

const ADMIN = '/_sandbox/v1';
const save = (served: Served, name: string) =>
  ask(served, { method: 'POST', path: `${ADMIN}/snapshots`, body: { name } });
const diff = (served: Served, name: string, to?: string) =>
  ask(served, { path: `${ADMIN}/snapshots/${name}/diff${to === undefined ? '' : `?to=${to}`}` });

it('names the card, its fields and the accounts that moved', async () => {
  await using here = await scene();
  await save(here.sandbox, 'before');
  await here.admin('POST', '/simulate/authorizations', { card_id: here.card, amount: 30 });
  const made = await ask(here.sandbox, { method: 'POST', path: '/cards', body: { bin_id: here.bin, amount: 5 } });
  const { json } = await diff(here.sandbox, 'before');
  expect(json.accounts).toEqual([
    { account: `card:${here.card}`, delta: -30 },
    { account: `card:${made.json.id}`, delta: 5 },
    { account: `hold:${here.card}`, delta: 30 },
    { account: 'wallet:acct_sandbox', delta: -5 },
  ]);
  const [changed, added] = json.cards;
  expect(changed).toEqual({
    card_id: here.card,
    fields: [
      { field: 'balance', from: '100', to: '70' },
      { field: 'hold', from: '0', to: '30' },
    ],
  });
  expect(added.card_id).toBe(made.json.id);
  expect(added.fields).toContainEqual({ field: 'status', from: null, to: '"active"' });
  const times = added.fields.filter(({ field }: { field: string }) => /^(?:created|expires)_at$/.test(field));
  expect(times.map(({ to }: { to: string }) => /^"\d{4}-\d\d-\d\dT[\d:.]+Z"$/.test(to))).toEqual([true, true]);
  expect(json.tables).toContainEqual({ table: 'transactions', added: 1, removed: 0, changed: 0 });
});

it('tells no card number and no security code', async () => {
  await using here = await scene();
  await save(here.sandbox, 'before');
  const made = await ask(here.sandbox, { method: 'POST', path: '/cards', body: { bin_id: here.bin, amount: 5 } });
  const { json } = await ask(here.sandbox, { path: `/cards/${made.json.id}/details` });
  const { text } = await diff(here.sandbox, 'before');
  expect([text.includes(json.pan), /"(?:cvv|number|document)"/.test(text)]).toEqual([false, false]);
});
