/** What is wrong in a fleet file is told all at once, each fault with its line and its column. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { readFleet } from '../../src/fleet/read.ts';

const NOW = Date.parse('2026-11-23T00:00:00Z');

const fleetOf = (text: string) => readFleet(text, { file: 'cards.fleet.yaml', now: NOW });

function faultsOf(text: string): readonly string[] {
  try {
    fleetOf(text);
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    expect(thrown.exitCode).toBe(2);
    return (thrown.facts.faults ?? []).map(({ line, column, text: what }) => `${line}:${column}: ${what}`);
  }
  return [];
}

const HEAD = 'version: 1\nfleet: ads\ncaps: {per_apply: 100, cards: 40}\n';
const DEFAULTS = 'defaults: {amount: 25.00}\n';
/** Lines before `cards:`, which is line 5 of a file. */
const cards = (...lines: readonly string[]) => `${HEAD}${DEFAULTS}cards:\n${lines.join('\n')}\n`;

const FUNDING = 'must be an amount in USD from 1.00 to 5000.00, such as 20.00';

/** Kinds of faults: a file, and what is told of it. */
const CORPUS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'a tab that indents': [`${HEAD}${DEFAULTS}cards:\n\ta: {}\n`, '6:1: tabs may not indent'],
  'an alias': [cards('  a: &x {label: one}', '  b: *x'), '7:6: an alias means nothing here: write it out'],
  'a duplicate card': [cards('  search: {}', '  search: {}'), '7:3: "search" stands twice, first at line 6'],
  'of every kind at once': [
    cards('  a: {}', '  a: {lable: x}', '  b: {floor: 20.00, top_up_to: 20.00}', '  c: {template: none}'),
    '7:3: "a" stands twice, first at line 6',
    '7:7: cards.a.lable is not known here; did you mean label?',
    '8:32: top_up_to 20.00 must be at least 21.00 (floor + 1.00)',
    '9:17: no template "none"; there is none',
  ],
  // What a faulty part would have said is nobody's fault.
  'nothing that follows from another one': [
    `${HEAD}templates: {ads: {amount: 1.234}}\ncards:\n  a: {template: ads}\n  b: {count: x, amount: 5}\nmoved: {c: b-1}\n`,
    `4:27: templates.ads.amount: ${FUNDING}, not 1.234`,
    '7:14: cards.b.count: must be a whole number from 1 to 1000, not x',
  ],
  'defaults that cannot be read': [
    `${HEAD}defaults: {amount: x}\ncards: {a: {}}\nretired: {card_1: {since: 2026-11-30}}\n`,
    `4:20: defaults.amount: ${FUNDING}, not x`,
    '6:27: since 2026-11-30 lies ahead',
  ],
  'an unknown field': [
    cards('  a: {spending_limit: 5}'),
    '6:7: cards.a.spending_limit is not known here; known: template, card, replace, count, names, amount, bin, label, limit, categories, auto_freeze_at, owner, team, metadata, state, floor, top_up_to, monthly_cap',
  ],
  'a mistyped field': [cards('  a: {lable: x}'), '6:7: cards.a.lable is not known here; did you mean label?'],
  'an unknown template': [
    `${HEAD}templates: {ads: {amount: 1}}\ncards:\n  a: {template: adds}\n`,
    '6:17: no template "adds"; known: ads',
    '6:3: amount is missing: what a new card holds, 1.00 to 5000.00',
  ],
  decimals: [cards('  a: {amount: 12.345}'), `6:15: cards.a.amount: ${FUNDING}, not 12.345`],
  'an amount that is too large': [cards('  a: {amount: 6000.00}'), `6:15: cards.a.amount: ${FUNDING}, not 6000.00`],
  'hexadecimal digits': [
    cards('  a: {limit: 0x10}'),
    '6:14: cards.a.limit: must be an amount in USD above 0, such as 20.00, not 0x10',
  ],
  'a long label': [
    cards(`  seat: {label: "${'x'.repeat(60)} {name}", names: [valeria]}`),
    `6:17: 68 characters, at most 64; expanded from "${'x'.repeat(60)} {name}" for seat-valeria`,
  ],
  'too many metadata keys': [
    cards(`  a: {owner: x, metadata: {${Array.from({ length: 19 }, (_, n) => `k${n}: v`).join(', ')}}}`),
    '6:27: 20 keys with owner and team; 19 are free beside the marker',
  ],
  'a name': [cards('  Ads_Search: {}'), '6:3: cards.Ads_Search: a name has lower-case letters, digits and -'],
  'a name after expansion': [
    cards('  event: {count: 3}', '  event-1: {}'),
    '7:3: event-1 is also made by `event` with count 3, line 6',
  ],
  'a top-up that is too small': [
    cards('  a: {floor: 20.00, top_up_to: 20.00}'),
    '6:32: top_up_to 20.00 must be at least 21.00 (floor + 1.00)',
  ],
  'a floor below the automatic freeze': [
    cards('  a: {floor: 5.00, top_up_to: 20.00, auto_freeze_at: 5.00}'),
    '6:14: floor 5.00 is not above auto_freeze_at 5.00',
  ],
  'a cap of the month below the floor': [
    cards('  a: {floor: 30.00, top_up_to: 60.00, monthly_cap: 5.00}'),
    '6:52: monthly_cap 5.00 is below floor 30.00, so the card can never be brought to it',
  ],
  'a new card that would be frozen at once': [
    cards('  a: {amount: 20.00, auto_freeze_at: 50.00}'),
    '6:15: amount 20.00 is below auto_freeze_at 50.00, so the card would be frozen at once',
  ],
  'a name that has moved on': [
    `${cards('  c: {}')}moved: {a: b, b: c}\n`,
    '7:12: moved: a leads to b, and b is no card of this file',
  ],
  'a new name without a card': [
    `${cards('  c: {}')}moved: {a: b}\n`,
    '7:12: moved: a leads to b, and b is no card of this file',
  ],
  'an old name that is a card': [
    `${cards('  a: {}', '  b: {}')}moved: {a: b}\n`,
    '8:9: a is still in cards; a name leads to one card',
  ],
  'a card number': [
    cards('  a: {label: "4111 1111 1111 1111"}'),
    '6:15: this looks like a card number; it must not be in a file',
  ],
  'a card number in a comment': [
    cards('  a: {}   # 5555555555554444'),
    '6:13: this looks like a card number; it must not be in a file',
  ],
  'an API key': [
    cards('  a: {label: sk_live_0000}'),
    '6:14: this looks like an API key or a webhook secret; it must not be in a file',
  ],
  'a key called like a secret': [
    cards('  a: {metadata: {cvv: "123"}}'),
    '6:18: cards.a.metadata.cvv: such a key speaks of a secret; it must not be in a file',
  ],
  'a card that is retired and wanted': [
    `${cards('  a: {card: card_1}')}retired: {card_1: {since: 2026-11-22}}\n`,
    '7:11: card_1 is also in cards (line 6); one of the two',
  ],
  'a day that lies ahead': [
    `${cards('  a: {}')}retired: {card_1: {since: 2027-01-01}}\n`,
    '7:27: since 2027-01-01 lies ahead',
  ],
  'a day that is none': [
    `${cards('  a: {}')}retired: {card_1: {since: 2026-02-30}}\n`,
    '7:27: retired.card_1.since: must be a day such as 2026-11-22, not 2026-02-30',
  ],
  'no caps': ['version: 1\nfleet: ads\ncards: {}\n', '1:1: caps is missing'],
  'a short quarantine': [
    `${cards('  a: {}')}quarantine: 3d\n`,
    '7:13: quarantine: must be 7d to 3650d, such as 30d, not 3d',
  ],
  'two cards with one id': [
    cards('  a: {card: card_1}', '  b: {card: card_1}'),
    '7:3: card_1 is also the card of a, line 6',
  ],
  'a tag': [cards('  a: {label: !!str x}'), '6:20: a tag (tag:yaml.org,2002:str) means nothing here'],
};

describe('a fault is told where it stands', () => {
  test.each(Object.entries(CORPUS))('%s', (_, [text, ...told]) => {
    expect([...faultsOf(text)].sort()).toEqual([...told].sort());
    // The same some lines further down.
    for (const above of [1, 9]) {
      const below = `${Array.from({ length: above }, (_each, line) => `# line ${line + 1}`).join('\n')}\n${text}`;
      const moved = told.map(each => shifted(each, above)).sort();
      expect([...faultsOf(below)].sort()).toEqual(moved);
    }
  });
});

/** A fault that many lines further down, with the lines it speaks of. */
function shifted(fault: string, by: number): string {
  const down = (line: string) => String(Number(line) + by);
  return fault
    .replace(/^\d+/, down)
    .replace(/(line )(\d+)(\)|$)/, (_, word: string, line: string, end: string) => `${word}${down(line)}${end}`)
    .replace(/(line )(\d+)(;)/, (_, word: string, line: string, end: string) => `${word}${down(line)}${end}`);
}

it('writes cards out: defaults below the template below the card, metadata merged', () => {
  const { wishes, entries } = fleetOf(`${HEAD}
defaults: {amount: 25, metadata: {a: "1", b: "1"}}
templates:
  ads: {limit: 500.00, team: marketing, metadata: {b: "2"}}
cards:
  event: {template: ads, label: "event {n}", count: 2}
  seat: {label: "seat {name}", names: [kim, lee], limit: 40.00, metadata: {c: "3"}}
`);
  expect(entries).toBe(2);
  expect(wishes.map(({ name, label, limit, amount, metadata }) => ({ name, label, limit, amount, metadata }))).toEqual([
    {
      name: 'event-1',
      label: 'event 1',
      limit: 50_000,
      amount: 2_500,
      metadata: { a: '1', b: '2', team: 'marketing' },
    },
    {
      name: 'event-2',
      label: 'event 2',
      limit: 50_000,
      amount: 2_500,
      metadata: { a: '1', b: '2', team: 'marketing' },
    },
    { name: 'seat-kim', label: 'seat kim', limit: 4_000, amount: 2_500, metadata: { a: '1', b: '1', c: '3' } },
    { name: 'seat-lee', label: 'seat lee', limit: 4_000, amount: 2_500, metadata: { a: '1', b: '1', c: '3' } },
  ]);
});

it('a text is what is written, as a number or a truth too', () => {
  const { wishes } = fleetOf(cards('  a: {label: 0123, owner: true, categories: [0742]}'));
  expect(wishes).toMatchObject([{ label: '0123', metadata: { owner: 'true' }, categories: ['0742'] }]);
});

it('ids are no card numbers', () => {
  // The digits of this id pass the check of card numbers.
  expect(faultsOf(cards('  a: {card: card_4111111111111111}'))).toEqual([]);
});

const TEXTS = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc
    .array(fc.constantFrom(...Object.values(CORPUS).flatMap(([text]) => text.split('\n'))), { maxLength: 20 })
    .map(lines => lines.join('\n')),
);

it('never throws anything but faults, whatever stands in the file', () => {
  fc.assert(
    fc.property(TEXTS, text => {
      faultsOf(text);
    }),
    { numRuns: 1_000 },
  );
});
