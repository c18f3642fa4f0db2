/**
 * The one failure that loses money (docs/design/sandbox.md, section 5): the work is committed, the answer is lost.
 * Repeated under its key it has one effect and the first answer; where keys are worth nothing it is never sent again.
 */
import { expect, it } from 'vitest';
import type { WriteName } from '../../../src/contract/calls.ts';
import { cents } from '../../../src/core/money.ts';
import { type Scene, scene } from './scene.ts';

interface Money {
  readonly operation: WriteName;
  readonly input: (here: Scene) => object;
  /** Balances after one effect. */
  readonly after: { readonly card: number; readonly wallet: number; readonly cards: number };
}

const OPERATIONS: readonly Money[] = [
  {
    operation: 'cards.create',
    input: ({ bin }) => ({ bin_id: bin, amount: cents(2_500) }),
    after: { card: 100, wallet: 4_875, cards: 2 },
  },
  {
    operation: 'cards.fund',
    input: ({ card }) => ({ card_id: card, amount: cents(2_500) }),
    after: { card: 125, wallet: 4_875, cards: 1 },
  },
  {
    operation: 'cards.withdraw',
    input: ({ card }) => ({ card_id: card, amount: cents(2_500) }),
    after: { card: 75, wallet: 4_925, cards: 1 },
  },
  {
    operation: 'cards.terminate',
    input: ({ card }) => ({ card_id: card }),
    after: { card: 0, wallet: 5_000, cards: 1 },
  },
];

const LOST = { phase: 'after_commit', action: { kind: 'reset' } } as const;

it.each(OPERATIONS)('$operation again under its key: one effect, the first answer', async money => {
  await using here = await scene();
  await here.fault({ ...LOST, match: { operation: money.operation }, times: 1 });
  expect((await here.attempt(money.operation, money.input(here), 'key-1')).class).toBe('ambiguous');
  expect(await here.balances()).toEqual(money.after);
  const first = await here.attempt(money.operation, money.input(here), 'key-1');
  expect(first.class).toBe('done');
  const asked = await here.requests(money.operation);
  expect(asked[0]).toMatchObject({ fault: 'after_commit reset', replayed: false });
  expect(asked.map(({ replayed }) => replayed)).toEqual([false, true]);
  const again = await here.attempt(money.operation, money.input(here), 'key-1');
  expect(again.result).toEqual(first.result);
  expect(await here.balances()).toEqual(money.after);
  expect(await here.broken()).toEqual([]);
});

it.each(OPERATIONS.filter(({ operation }) => operation !== 'cards.terminate'))(
  '$operation where keys are ignored: sent once, and unknown',
  async money => {
    await using here = await scene({ dialect: 'keys-ignored' });
    await here.fault({ ...LOST, match: { operation: money.operation } });
    const { class: outcome, error } = await here.attempt(money.operation, money.input(here), 'key-1');
    expect([outcome, error?.kind]).toEqual(['ambiguous', 'outcome_unknown']);
    expect(await here.requests(money.operation)).toHaveLength(1);
    expect(await here.balances()).toEqual(money.after);
  },
);

it('cards.terminate where keys are ignored: the state is read, nothing is sent again', async () => {
  await using here = await scene({ dialect: 'keys-ignored' });
  await here.fault({ ...LOST, match: { operation: 'cards.terminate' } });
  const { changed, reread } = await here.service.send('cards.terminate', { card_id: here.card });
  expect([changed, reread]).toEqual([true, true]);
  expect(await here.requests('cards.terminate')).toHaveLength(1);
});

it('keys-ignored is no idle name: the same key twice has two effects', async () => {
  await using here = await scene({ dialect: 'keys-ignored' });
  const input = { card_id: here.card, amount: cents(500) };
  await here.attempt('cards.fund', input, 'key-1');
  await here.attempt('cards.fund', input, 'key-1');
  expect((await here.balances()).card).toBe(110);
});
