/** What is true of every plan, over random fleets and accounts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CliError } from '../../src/core/errors.ts';
import { cents, toUsd } from '../../src/core/money.ts';
import { AccountCards } from '../../src/fleet/account.ts';
import { planFleet } from '../../src/fleet/plan.ts';
import type { Planned } from '../../src/fleet/plan-file.ts';
import { isWhole } from '../support/whole.ts';
import { carryOut, fleetOf, inputOf, MemoryAccount, NOW, wholePlan } from './memory-account.ts';

const NAMES = ['ads', 'saas', 'travel', 'event', 'event-1', 'seat-kim', 'old'];

interface WantedCard {
  readonly name: string;
  readonly amount: number;
  readonly limit: number | undefined;
  readonly label: boolean;
  readonly state: 'active' | 'frozen';
  readonly floor: number | undefined;
  readonly cap: number | undefined;
}

const USD = fc.integer({ min: 1, max: 500 });
const WANTED: fc.Arbitrary<WantedCard> = fc.record({
  name: fc.constantFrom(...NAMES),
  amount: USD,
  limit: fc.option(fc.constantFrom(400, 500), { nil: undefined }),
  label: fc.boolean(),
  state: fc.constantFrom('active', 'active', 'active', 'frozen'),
  floor: fc.option(fc.integer({ min: 10, max: 100 }), { nil: undefined }),
  cap: fc.option(fc.integer({ min: 100, max: 400 }), { nil: undefined }),
});

interface ThereCard {
  readonly name: string | undefined;
  readonly status: string;
  readonly balance: number;
  readonly limit: number;
  readonly label: boolean;
  readonly used: number;
}

const THERE: fc.Arbitrary<ThereCard> = fc.record({
  name: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
  status: fc.constantFrom('active', 'active', 'frozen', 'terminated'),
  balance: fc.integer({ min: 0, max: 20_000 }),
  limit: fc.constantFrom(40_000, 50_000),
  label: fc.boolean(),
  used: fc.integer({ min: 0, max: 30_000 }),
});

interface Case {
  readonly wanted: readonly WantedCard[];
  readonly there: readonly ThereCard[];
  /** Of the cards there, which are retired, by index. */
  readonly retired: readonly number[];
}

const CASES: fc.Arbitrary<Case> = fc.record({
  wanted: fc.uniqueArray(WANTED, { maxLength: 6, selector: ({ name }) => name }),
  there: fc.array(THERE, { maxLength: 8, size: 'max' }),
  retired: fc.uniqueArray(fc.nat({ max: 7 }), { maxLength: 2 }),
});

/** The account of a case; each name has its cards as generations, so that none stands there twice. */
function accountOf({ there }: Case): MemoryAccount {
  const account = new MemoryAccount({ wallet: 10_000_000, honoursKeys: true });
  const generations = new Map<string, number>();
  for (const { name, status, balance, limit, label, used } of there) {
    const generation = (generations.get(name ?? '') ?? 0) + 1;
    generations.set(name ?? '', generation);
    account.make({
      status,
      balance: status === 'terminated' ? 0 : balance,
      limit,
      label: label ? `label ${name}` : '',
      used,
      records: used > 0 ? [`txn_of_${name}_${generation}`] : [],
      metadata: name === undefined ? {} : { cardwright: `fleet/team/${name}#${generation}` },
    });
  }
  return account;
}

/** The file of a case; in the order of `order`. */
function textOf({ wanted, there, retired }: Case, order = (cards: readonly string[]) => cards): string {
  const lines = wanted.map(({ name, amount, limit, label, state, floor, cap }) => {
    const fields = [
      `amount: ${amount}.00`,
      ...(limit === undefined ? [] : [`limit: ${limit}.00`]),
      ...(label ? [`label: "label ${name}"`] : []),
      `state: ${state}`,
      ...(floor === undefined ? [] : [`floor: ${floor}.00`, `top_up_to: ${floor + 50}.00`]),
      ...(floor === undefined || cap === undefined ? [] : [`monthly_cap: ${cap}.00`]),
    ];
    return `  ${name}: {${fields.join(', ')}}`;
  });
  const ended = retired
    .filter(index => index < there.length)
    .map(index => `  card_${index + 1}: {since: 2026-08-01, drain: true}`);
  return [
    'version: 1',
    'fleet: team',
    'caps: {per_apply: 99999, cards: 999}',
    'cards:',
    ...order(lines),
    ...(ended.length > 0 ? ['retired:', ...ended] : []),
    '',
  ].join('\n');
}

/** What is left to be done or decided, blocked names aside: only a person changes these. */
function left({ steps, held_back }: Planned): unknown {
  return { steps, held_back };
}

/** Carried out whole, a plan leaves nothing: the next one is empty, whatever was there. */
function appliedIsEmpty(each: Case): void {
  const [account, text] = [accountOf(each), textOf(each)];
  const before = account.total();
  // A card is frozen before it is drained, and drained before its quarantine is looked at.
  for (let round = 0; round < 3; round += 1) {
    const { steps } = wholePlan(account, text);
    carryOut(account, steps);
  }
  expect(left(wholePlan(account, text))).toEqual({ steps: [], held_back: [] });
  expect(account.total()).toBe(before);
}

/** Nothing but what the file names is touched, and no limit is passed. */
function staysWithin(each: Case): void {
  const [account, text] = [accountOf(each), textOf(each)];
  const fleet = fleetOf(text);
  const named = new Set(fleet.retired.map(({ card }) => card));
  const plan = planFleet(inputOf(account, text));
  for (const step of plan.steps) {
    expect(['unfreeze', 'terminate']).not.toContain(step.do);
    if (step.do === 'create') {
      expect(step.why === 'new' || step.why === 'replaces').toBe(true);
      continue;
    }
    const card = account.card(step.card);
    const isOurs = card?.metadata['cardwright']?.startsWith('fleet/team/') === true || named.has(step.card);
    expect(isOurs).toBe(true);
    if (step.do !== 'fund' || card === undefined) continue;
    const wish = fleet.wishes.find(({ name }) => name === step.name);
    const after = card.balance + Math.round(step.amount * 100);
    expect(after).toBeLessThanOrEqual(wish?.top_up_to ?? 0);
    if (wish?.monthly_cap !== undefined) expect(card.used + after).toBeLessThanOrEqual(wish.monthly_cap);
    expect(card.status).toBe('active');
  }
}

/** The order of cards, pages and keys changes no plan; neither do other people's cards. */
function orderIsNothing(each: Case, seed: number): void {
  const [account, text] = [accountOf(each), textOf(each)];
  const plan = planFleet(inputOf(account, text));
  const shuffled = <T>(list: readonly T[]) => [...list].sort((a, b) => hash(a, seed) - hash(b, seed));
  const other = textOf(each, shuffled);
  expect(planFleet(inputOf(account, other))).toEqual(plan);
  const input = inputOf(account, text);
  const cards = new AccountCards(input.fleet);
  for (const card of shuffled(account.listed())) cards.add(card);
  for (let n = 0; n < seed % 5; n += 1) {
    cards.add({
      id: `card_x${n}`,
      last4: '0000',
      status: 'active',
      balance: toUsd(cents(n)),
      metadata: { team: 'other' },
    });
  }
  const { bins, wallet } = input.account;
  expect(planFleet({ ...input, account: cards.account({ bins, wallet, now: NOW }) })).toEqual(plan);
}

function hash(value: unknown, seed: number): number {
  let sum = seed;
  for (const character of JSON.stringify(value)) sum = (Math.imul(sum, 31) + character.charCodeAt(0)) | 0;
  return sum;
}

/** A second apply of what was carried out sends nothing: its steps are none, and the keys of the first are kept. */
function twiceIsOnce(each: Case): void {
  const [account, text] = [accountOf(each), textOf(each)];
  const { steps } = wholePlan(account, text);
  carryOut(account, steps);
  const cards = account.cards.length;
  const total = account.cards.reduce((sum, { balance }) => sum + balance, 0);
  carryOut(
    account,
    steps.filter(step => 'key' in step),
  );
  expect(account.cards.length).toBe(cards);
  expect(account.cards.reduce((sum, { balance }) => sum + balance, 0)).toBe(total);
}

const RUNS = { numRuns: isWhole ? 50_000 : 60 };

/** ms; fifty thousand runs take minutes. */
const HOUR = 3_600_000;

test(
  'a plan that was carried out whole leaves nothing to do',
  () => {
    fc.assert(fc.property(CASES, appliedIsEmpty), RUNS);
  },
  HOUR,
);

test(
  'no stranger is touched, no cap is passed, nothing is unfrozen, recreated or terminated by itself',
  () => {
    fc.assert(fc.property(CASES, staysWithin), RUNS);
  },
  HOUR,
);

test(
  'the order of cards and of the file changes nothing, and neither do cards of others',
  () => {
    fc.assert(fc.property(CASES, fc.nat(), orderIsNothing), RUNS);
  },
  HOUR,
);

test(
  'sent twice under its keys it is done once',
  () => {
    fc.assert(fc.property(CASES, twiceIsOnce), RUNS);
  },
  HOUR,
);

const HEAD = 'version: 1\nfleet: team\ncaps: {per_apply: 900, cards: 99}\ndefaults: {amount: 10}\n';

test('two cards of one marker, and a name with a pin and a marker, end everything', () => {
  const account = new MemoryAccount({ wallet: 100_000, honoursKeys: true });
  const mark = { cardwright: 'fleet/team/a#1' };
  account.make({ metadata: mark });
  account.make({ metadata: mark });
  expect(() => planFleet(inputOf(account, `${HEAD}cards: {a: {}}\n`))).toThrow('not one for one');
  const other = new MemoryAccount({ wallet: 100_000, honoursKeys: true });
  other.make({ metadata: mark });
  other.make();
  expect(() => planFleet(inputOf(other, `${HEAD}cards: {a: {card: card_2}}\n`))).toThrow('not one for one');
  // Retired, the marked card is in nobody's way.
  const retired = `${HEAD}cards: {a: {card: card_2}}\nretired: {card_1: {since: 2026-11-01}}\n`;
  expect(planFleet(inputOf(other, retired)).steps.map(step => [step.do, step.name])).toEqual([['freeze', 'a']]);
});

test('an edit that would take more than one card waits for its number', () => {
  const account = new MemoryAccount({ wallet: 100_000, honoursKeys: true });
  for (let n = 1; n <= 30; n += 1) account.make({ metadata: { cardwright: `fleet/team/event-${n}#1` } });
  const plan = (count: number, allowed = {}) =>
    planFleet(inputOf(account, `${HEAD}cards: {event: {count: ${count}}}\n`, allowed));
  expect(plan(29).steps).toHaveLength(1);
  expect(plan(27)).toMatchObject({ steps: [], held_back: [{ class: 'removals', count: 3 }] });
  expect(plan(26)).toMatchObject({ steps: [], held_back: [{ class: 'removals', count: 4 }] });
  expect(plan(26, { removals: 4 }).steps.map(({ name }) => name)).toEqual([
    'event-27',
    'event-28',
    'event-29',
    'event-30',
  ]);
  expect(() => plan(26, { removals: 3 })).toThrow('--allow removals=3, but the plan has 4');
  // A file without cards always waits.
  const single = new MemoryAccount({ wallet: 0, honoursKeys: true });
  single.make({ metadata: { cardwright: 'fleet/team/a#1' } });
  expect(planFleet(inputOf(single, HEAD)).held_back).toEqual([{ class: 'removals', count: 1, names: ['a'] }]);
});

test('of two cards with one marker the older stays, and one that is frozen never does', () => {
  const metadata = { cardwright: 'fleet/team/a#1' };
  const account = new MemoryAccount({ wallet: 0, honoursKeys: true });
  const [older, newer] = [account.make({ metadata, made: NOW - 2 }), account.make({ metadata, made: NOW - 1 })];
  const told = () => {
    try {
      planFleet(inputOf(account, `${HEAD}cards: {a: {}}\n`));
    } catch (thrown) {
      return (thrown as CliError).facts.notes ?? [];
    }
    return [];
  };
  expect(told()).toEqual([
    `2 cards carry the marker fleet/team/a#1: ${older.id}, ${newer.id}. ${older.id} stays`,
    `cardwright cards freeze ${newer.id}`,
    `cardwright cards terminate ${newer.id}`,
  ]);
  older.status = 'frozen';
  expect(told().slice(1)).toEqual([`cardwright cards terminate ${older.id}`]);
});

test('a day of retired is judged by the clock of the service', () => {
  const account = new MemoryAccount({ wallet: 0, honoursKeys: true });
  const { id } = account.make({ metadata: { cardwright: 'fleet/team/a#1' } });
  const plan = (since: string) => planFleet(inputOf(account, `${HEAD}retired: {${id}: {since: ${since}}}\n`));
  expect(plan('2026-11-23').steps).toHaveLength(1);
  expect(() => plan('2026-11-24')).toThrow('since 2026-11-24 lies ahead: at the service it is 2026-11-23');
});
