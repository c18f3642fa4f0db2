/**
 * Finding a card again by its marker, before services that do not make it easy
 * (docs/design/reliability.md, section 6, "Reconcile").
 */
import { expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { type Bench, bench, createRow, planOf } from './bench.ts';

type Values = Record<string, unknown>;

/** A client that changes what lists and answers hold. */
function changing(b: Bench, change: { card?: (card: Values) => Values; list?: (cards: Values[]) => Values[] }) {
  const { card = each => each, list = each => each } = change;
  async function* pages(operation: 'cards.list', input: object) {
    for await (const page of b.service.pages(operation, input as never)) {
      const { data } = page as unknown as { data: Values[] };
      yield { ...(page as object), data: list(data) };
    }
  }
  const service: Bench['service'] = {
    ...b.service,
    async deliver(...asked) {
      const delivery = await b.service.deliver(...asked);
      return delivery.class === 'done' ? { ...delivery, result: card(delivery.result as Values) } : delivery;
    },
    pages: pages as Bench['service']['pages'],
  };
  return b.another({ service });
}

const without = ({ metadata: _metadata, ...card }: Values): Values => card;

test('a service that does not give metadata back: the operator is told, and nothing is sent twice', async () => {
  await using b = await bench({ capability: { key: 'honoured', ttl_ms: null, proved_ms: 5_000, at: 0 } });
  const journal = changing(b, { card: card => ({ ...card, metadata: {} }) });
  await using run = await journal.begin(planOf([1, 2].map(row => createRow(b.bin, row))));
  expect(await run.perform(1)).toMatchObject({ outcome: 'done' });
  expect(b.notices).toEqual([expect.stringContaining('does not give the metadata of a new card back')]);
  b.proxy.fail('POST', /\/cards$/, 'drop-before');
  expect(await run.perform(2)).toMatchObject({ outcome: 'unknown' });
  expect(b.proxy.posts()).toHaveLength(2);
  await run[Symbol.asyncDispose]();
  await using resumed = await journal.resume(run.op, { resendAbsent: true });
  expect(await resumed.perform(2)).toMatchObject({ outcome: 'unknown' });
  expect(b.proxy.posts()).toHaveLength(2);
});

test('a list without metadata: young cards are read one by one', async () => {
  await using b = await bench({ stripKeys: true });
  await b.service.send('cards.create', { bin_id: b.bin, amount: cents(100) }, { key: 'another' });
  b.proxy.fail('POST', /\/cards$/, 'drop-after');
  await using run = await changing(b, { list: cards => cards.map(without) }).begin(planOf([createRow(b.bin)]));
  expect(await run.perform(1)).toMatchObject({ outcome: 'done', reread: true });
  expect(await b.cards()).toHaveLength(2);
});

test('a list that changes while it is read proves nothing', async () => {
  await using b = await bench({ stripKeys: true });
  b.proxy.fail('POST', /\/cards$/, 'drop-after');
  let reads = 0;
  const list = (cards: Values[]) => {
    reads += 1;
    return reads % 2 === 0 ? cards : [];
  };
  await using run = await changing(b, { list }).begin(planOf([createRow(b.bin)]));
  const { outcome, error } = await run.perform(1);
  expect([outcome, error?.facts.evidence?.['verdict']]).toEqual(['unknown', 'cannot be determined']);
  expect(error?.facts.notes?.join('\n')).toContain('the list changes while it is read');
});

test('one card in the answers of two rows that carry no marker: the second row is not done by it', async () => {
  await using b = await bench({ capability: { key: 'honoured', ttl_ms: null, proved_ms: 5_000, at: 0 } });
  let first: Values | undefined;
  const journal = changing(b, { card: card => (first ??= without(card)) });
  await using run = await journal.begin(planOf([1, 2].map(row => createRow(b.bin, row))));
  await run.perform(1);
  const { outcome, error } = await run.perform(2);
  expect([outcome, error?.message]).toEqual([
    'unknown',
    expect.stringMatching(/the answer names the card \S+, which row 1 was answered with/),
  ]);
  expect((await run.finish()).counts).toMatchObject({ done: 1, unknown: 1 });
});
