/** What is printed for a card is what was seen of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { entryText, nameFor, starterText } from '../../src/fleet/entry.ts';
import { isName } from '../../src/fleet/fleet-file.ts';
import { planFleet } from '../../src/fleet/plan.ts';
import { fleetOf, inputOf, MemoryAccount } from './memory-account.ts';

test('names come from labels, and never twice', () => {
  expect(nameFor('ads: Search (EU)', '1234', new Set())).toBe('ads-search-eu');
  expect(nameFor('ads', '1234', new Set(['ads', 'ads-2']))).toBe('ads-3');
  expect(nameFor('広告', '1234', new Set())).toBe('card-1234');
  expect(nameFor('Prototype', '1234', new Set())).toBe('prototype-2');
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), label => isName(nameFor(label, '1234', new Set()), 40)));
});

const CARD = fc.record({
  label: fc.string({ unit: 'grapheme', maxLength: 40 }),
  limit: fc.integer({ min: 1, max: 500_000 }),
  balance: fc.integer({ min: 0, max: 500_000 }),
  status: fc.constantFrom('active', 'frozen'),
  categories: fc.array(fc.constantFrom('advertising', '7311', 'saas'), { maxLength: 3 }),
  autoFreezeAt: fc.option(fc.integer({ min: 0, max: 10_000 })),
});

test('an adopted account has an empty plan', () => {
  fc.assert(
    fc.property(fc.array(CARD, { maxLength: 6 }), cards => {
      const account = new MemoryAccount({ wallet: 0, honoursKeys: true });
      const taken = new Set<string>();
      const entries = cards.map(card => {
        const { id } = account.make(card);
        const name = nameFor(card.label, '1234', taken);
        taken.add(name);
        const isPlain = card.label !== '' && !/\p{Cc}|\{name\}|\{n\}/u.test(card.label);
        const fields = {
          card: id,
          ...(isPlain && { label: card.label }),
          limit: cents(card.limit),
          ...(card.categories.length > 0 && { categories: card.categories }),
          ...(card.autoFreezeAt !== null && { auto_freeze_at: cents(card.autoFreezeAt) }),
          ...(card.status === 'frozen' && { state: 'frozen' as const }),
        };
        return entryText(name, fields);
      });
      const after = [starterText('team'), ...entries.map(entry => `${entry}\n`)].join('');
      expect(fleetOf(after).wishes).toHaveLength(cards.length);
      const plan = planFleet(inputOf(account, after));
      expect([plan.steps, plan.blocked, plan.held_back, plan.differences]).toEqual([[], [], [], []]);
    }),
    { numRuns: 150 },
  );
});
