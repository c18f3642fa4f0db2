/** What is put into a file is there, and everything else of it stands as it stood. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import { isName } from '../../src/fleet/fleet-file.ts';
import { type NewEntry, nameFor, starterText, withEntries } from '../../src/fleet/insert.ts';
import { planFleet } from '../../src/fleet/plan.ts';
import { yamlTree } from '../../src/terminal/yaml-file.ts';
import { fleetOf, inputOf, MemoryAccount } from './memory-account.ts';

function inserted(text: string, entries: readonly NewEntry[]): string {
  const { root } = yamlTree(text);
  if (root === undefined) throw new Error('no tree');
  return withEntries(text, root, entries);
}

const ENTRY: NewEntry = { name: 'new', card: 'card_1', label: 'a "quoted" # label' };
const LINE = 'new: {card: card_1, label: "a \\"quoted\\" # label"}';
const HEAD = 'version: 1\nfleet: team\ncaps: {per_apply: 0, cards: 9}\n';

test.each([
  ['behind the last card', `${HEAD}cards:\n    a: {amount: 5}   # one\n    b: {amount: 5}\n`, `    ${LINE}\n`],
  ['behind a card of several lines', `${HEAD}cards:\n  a:\n    amount: 5\n    label: x\n`, `  ${LINE}\n`],
  ['into an empty map', `${HEAD}cards:   # none yet\n`, `  ${LINE}\n`],
  ['where there are no cards', HEAD, `cards:\n  ${LINE}\n`],
  ['with the line ends of the file', `${HEAD}cards:\n  a: {amount: 5}\n`.replaceAll('\n', '\r\n'), `  ${LINE}\r\n`],
  ['behind a file without a last line end', `${HEAD}cards:\n  a: {amount: 5}`, `\n  ${LINE}`],
])('%s', (_, text, line) => {
  expect(inserted(text, [ENTRY])).toBe(`${text}${line}`);
});

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

test('an adopted account has an empty plan, and the file before it is the file behind it', () => {
  fc.assert(
    fc.property(fc.array(CARD, { maxLength: 6 }), cards => {
      const account = new MemoryAccount({ wallet: 0, honoursKeys: true });
      const taken = new Set<string>();
      const entries = cards.map(card => {
        const { id } = account.make(card);
        const name = nameFor(card.label, '1234', taken);
        taken.add(name);
        const isPlain = card.label !== '' && !/\p{Cc}|\{name\}|\{n\}/u.test(card.label);
        return {
          name,
          card: id,
          ...(isPlain && { label: card.label }),
          limit: cents(card.limit),
          ...(card.categories.length > 0 && { categories: card.categories }),
          ...(card.autoFreezeAt !== null && { autoFreezeAt: cents(card.autoFreezeAt) }),
          ...(card.status === 'frozen' && { state: 'frozen' as const }),
        };
      });
      const before = starterText('team');
      const after = inserted(before, entries);
      expect(after.startsWith(before)).toBe(true);
      expect(fleetOf(after).wishes).toHaveLength(cards.length);
      const plan = planFleet(inputOf(account, after));
      expect([plan.steps, plan.blocked, plan.heldBack, plan.differences]).toEqual([[], [], [], []]);
    }),
    { numRuns: 150 },
  );
});
