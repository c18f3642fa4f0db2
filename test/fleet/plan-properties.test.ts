/** What is true of every plan, over random fleets and accounts. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CliError } from '../../src/core/errors.ts';
import { planFleet } from '../../src/fleet/plan.ts';
import { inputOf, MemoryAccount, NOW } from './memory-account.ts';
import { appliedIsEmpty, CASES, orderIsNothing, staysWithin, twiceIsOnce } from './plan-properties.ts';

const RUNS = { numRuns: 150 };

test('a plan that was carried out whole leaves nothing to do', () => {
  fc.assert(fc.property(CASES, appliedIsEmpty), RUNS);
});

test('no stranger is touched, no cap is passed, nothing is unfrozen, recreated or terminated by itself', () => {
  fc.assert(fc.property(CASES, staysWithin), RUNS);
});

test('the order of cards and of the file changes nothing, and neither do cards of others', () => {
  fc.assert(fc.property(CASES, fc.nat(), orderIsNothing), RUNS);
});

test('sent twice under its keys it is done once', () => {
  fc.assert(fc.property(CASES, twiceIsOnce), RUNS);
});

const HEAD = 'version: 1\nfleet: team\ncaps: {per_apply: 900, cards: 99}\ndefaults: {amount: 10}\n';

test('a card under a new name is the same card', () => {
  const account = new MemoryAccount({ wallet: 100_000, honoursKeys: true });
  account.make({ balance: 1_000, metadata: { cardwright: 'fleet/team/a#1' } });
  const stayed = planFleet(inputOf(account, `${HEAD}cards: {a: {label: x}}\n`));
  const moved = planFleet(inputOf(account, `${HEAD}cards: {c: {label: x}}\nmoved: {a: c}\n`));
  expect(moved.steps).toEqual(stayed.steps);
  expect(moved.differences.map(({ name: _, ...rest }) => rest)).toEqual(
    stayed.differences.map(({ name: _, ...rest }) => rest),
  );
  expect(moved.blocked).toEqual(['c']);
});

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
  expect(plan(27)).toMatchObject({ steps: [], heldBack: [{ class: 'removals', count: 3 }] });
  expect(plan(26)).toMatchObject({ steps: [], heldBack: [{ class: 'removals', count: 4 }] });
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
  expect(planFleet(inputOf(single, HEAD)).heldBack).toEqual([{ class: 'removals', count: 1, names: ['a'] }]);
});

test('a fleet with cards keeps its name', () => {
  const account = new MemoryAccount({ wallet: 0, honoursKeys: true });
  account.make({ metadata: { cardwright: 'fleet/before/a#1' } });
  expect(() => planFleet(inputOf(account, `${HEAD}cards: {a: {}, b: {}}\n`))).toThrow(
    'this file has the names of all cards of the fleet before',
  );
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

test('a line of moved is over with its card', () => {
  const account = new MemoryAccount({ wallet: 0, honoursKeys: true });
  const old = account.make({ metadata: { cardwright: 'fleet/team/s#1' } });
  const notes = () => planFleet(inputOf(account, `${HEAD}cards: {s2: {}}\nmoved: {s: s2}\n`)).notes;
  expect(notes()).toEqual([]);
  old.status = 'terminated';
  expect(notes()).toEqual(['moved: s has no card now; delete the line']);
});

test('a day of retired is judged by the clock of the service', () => {
  const account = new MemoryAccount({ wallet: 0, honoursKeys: true });
  const { id } = account.make({ metadata: { cardwright: 'fleet/team/a#1' } });
  const plan = (since: string) => planFleet(inputOf(account, `${HEAD}retired: {${id}: {since: ${since}}}\n`));
  expect(plan('2026-11-23').steps).toHaveLength(1);
  expect(() => plan('2026-11-24')).toThrow('since 2026-11-24 lies ahead: at the service it is 2026-11-23');
});
