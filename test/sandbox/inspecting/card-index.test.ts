/** What a server remembers of cards answers as the store does, whatever happens between two looks. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CardIndex } from '../../../src/sandbox/service/card-index.ts';
import { type FakeService, fakeService } from '../../support/fake-service.ts';
import { ask } from '../../support/sandbox-http.ts';
import { ADMIN } from '../page/probes.ts';

const post = (service: FakeService, path: string, body: object = {}) => ask(service, { method: 'POST', path, body });

/** The same looks with the index and without. */
async function expectSame(service: FakeService, cards: readonly string[]): Promise<void> {
  const { parts } = service;
  const paths = [
    ...[
      '?q=AD',
      '?q=nothing',
      '?q=%25',
      '?q=team%3Dred',
      '?q=metadata.team%3Dred',
      '?q=ad&status=frozen',
      '?q=a&per_page=2&page=2',
    ],
    ...cards.flatMap(id => [`?q=${id.slice(0, 12)}`, `/${id}`, `/${id}/timeline?per_page=200`]),
  ];
  const index = parts.cardIndex;
  // The first look begins to read, and is answered by the store.
  for (const path of ['?q=a', `/${cards[0] ?? 'none'}`]) await ask(service, { path: `${ADMIN}/cards${path}` });
  await index?.whenRead();
  for (const path of paths) {
    const told = [];
    for (const cardIndex of [index, undefined]) {
      Object.assign(parts, { cardIndex });
      const { status, json } = await ask(service, { path: `${ADMIN}/cards${path}` });
      told.push({ path, status, json: status < 400 ? json : json.error });
    }
    Object.assign(parts, { cardIndex: index });
    expect(told[0]).toEqual(told[1]);
  }
}

const STEP = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), nth: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('purchase' as const), nth: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('freeze' as const), nth: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('reset', 'restore', 'save', 'back'), nth: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('look' as const), nth: fc.nat(1) }) },
);

async function carryOut(service: FakeService, cards: string[], step: { do: string; nth: number }): Promise<void> {
  const card = cards[step.nth % Math.max(1, cards.length)];
  if (step.do === 'create') {
    const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
    const more = [{ label: 'Ads 100%' }, { label: 'bread' }, { metadata: { team: 'red' } }, { label: 'ÄD' }][step.nth];
    cards.push((await post(service, '/cards', { bin_id, amount: 20, ...more })).json.id);
  } else if (step.do === 'purchase' && card !== undefined)
    await post(service, `${ADMIN}/simulate/authorizations`, { card_id: card, amount: 2 });
  else if (step.do === 'freeze' && card !== undefined) await post(service, `/cards/${card}/freeze`);
  else if (step.do === 'reset') await post(service, `${ADMIN}/reset`, { data: 'demo', seed: step.nth });
  else if (step.do === 'save') await post(service, `${ADMIN}/snapshots`, { name: 'one' });
  else if (step.do === 'restore') await post(service, `${ADMIN}/snapshots/one/restore`);
  else if (step.do === 'back') service.clock.set(service.clock.now() - 3_600_000);
  else if (step.do === 'look') await expectSame(service, cards.slice(-3));
}

it('after random histories, with resets, restores and a clock that goes back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 8, maxLength: 20, size: 'max' }), async steps => {
      await using service = await fakeService();
      Object.assign(service.parts, { cardIndex: new CardIndex(5) });
      const cards: string[] = [];
      for (const step of steps) await carryOut(service, cards, step);
      await expectSame(service, cards);
      expect(service.faults).toEqual([]);
    }),
    { numRuns: 6 },
  );
});

it('goes on in slices: many entries, and cards that are new meanwhile', async () => {
  await using service = await fakeService();
  Object.assign(service.parts, { cardIndex: new CardIndex(60) });
  await post(service, `${ADMIN}/reset`, { data: 'load', seed: 1, cards: 150, transactions: 400 });
  const { data } = (await ask(service, { path: '/cards?per_page=3' })).json;
  const ids = data.map(({ id }: { id: string }) => id);
  await expectSame(service, ids);
  const bin_id = (await ask(service, { path: '/bins' })).json.data[0].id;
  const { id } = (await post(service, '/cards', { bin_id, amount: 5, label: 'ad hoc' })).json;
  await expectSame(service, [id]);
});
