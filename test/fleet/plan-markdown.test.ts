/** The page of a plan for a pull request: it fits, every part is whole, and what is left out is counted. */
import { expect, test } from 'vitest';
import type { PlanDocument } from '../../src/fleet/plan-file.ts';
import { planLines, planMarkdown, planText } from '../../src/fleet/plan-page.ts';

const NO_STEPS = { freeze: 0, withdraw: 0, terminate: 0, create: 0, fund: 0, unfreeze: 0 };

/** A plan of so many creates, blocked cards, notes and cards to retire. */
function planOf({ creates = 0, blocked = 0, notes = 0, retired = 0 }): PlanDocument {
  const names = Array.from({ length: blocked }, (_, at) => `blocked-card-with-a-long-name-${at}`);
  const document = {
    fleet: 'ads',
    created_at: '2026-11-20T12:00:00Z',
    expires_at: '2026-11-21T12:00:00Z',
    id: 'plan_1',
    bound: { mode: 'test' },
    caps: { per_apply: 0, cards: 9, wallet_reserve: 0 },
    totals: { ...NO_STEPS, create: creates, spend: 0, returns: 0, wallet: 0, wallet_after: 0 },
    steps: Array.from({ length: creates }, (_, at) => ({
      do: 'create',
      name: `new-${at}`,
      why: 'new',
      body: { bin_id: 'bin_1', amount: 25 },
    })),
    blocked: names,
    differences: names.map(name => ({
      name,
      card: `card_${name}`,
      field: 'limit',
      class: 'fixed',
      is: 400,
      wanted: 5,
    })),
    held_back: [],
    unknown: [],
    notes: Array.from({ length: notes }, (_, at) => `a note about the card number ${at} of this fleet`),
    to_retire: Array.from({ length: retired }, (_, at) => ({ card: `card_${at}`, name: `old-${at}`, balance: 0 })),
  };
  return document as unknown as PlanDocument;
}

const count = (page: string, pattern: RegExp) => page.match(pattern)?.length ?? 0;

test.each([
  { creates: 3 },
  { blocked: 51 },
  { blocked: 5_000 },
  { creates: 5_000, blocked: 5_000, notes: 5_000, retired: 5_000 },
  { creates: 2, retired: 9_000 },
])('%j: under 60,000 characters, each row shown or counted, every fold and block closed', wanted => {
  const page = planMarkdown(planOf(wanted), { amounts: true });
  expect(page.length).toBeLessThanOrEqual(60_000);
  expect(count(page, /<details>/g)).toBe(count(page, /<\/details>/g));
  expect(count(page, /```/g) % 2).toBe(0);
  const shown = {
    steps: /^\| `\+`/gm,
    'cards that wait': /^- `!`/gm,
    notes: /^- note/gm,
    'cards to retire': /^ {2}card_/gm,
  };
  const asked = {
    steps: wanted.creates,
    'cards that wait': wanted.blocked,
    notes: wanted.notes,
    'cards to retire': wanted.retired,
  };
  for (const [noun, pattern] of Object.entries(shown)) {
    const left = Number(new RegExp(`^and (\\d+) more ${noun}$`, 'm').exec(page)?.[1] ?? 0);
    expect({ noun, rows: count(page, pattern) + left }).toEqual({ noun, rows: asked[noun as keyof typeof asked] ?? 0 });
  }
});

test('a limit that is no whole number of cents is shown as it came', () => {
  const document = planOf({ blocked: 1 });
  const [difference] = document.differences;
  const odd = { ...document, differences: [{ ...difference, is: 400.001 }] } as unknown as PlanDocument;
  expect(planLines(odd)[0]?.why).toBe('limit 400.001 -> $5.00, fixed at creation');
});

test('on a terminal no line of a card is wider than 100 columns, and no word of it is lost', () => {
  const plan = planOf({ creates: 2, blocked: 3 });
  const lines = planText(plan).split('\n');
  expect(lines.filter(line => /^[-+~!? ]/.test(line) && line.length > 100)).toEqual([]);
  const shown = lines.join(' ').replace(/\s+/g, ' ');
  for (const { why } of planLines(plan)) expect(shown).toContain(why);
});
