/**
 * Commands that write against what their effect column demands, one of each kind of effect; every one
 * is in the whole run. The list is the registry's: a new command is in it without being written here.
 */
import { describe, expect, it } from 'vitest';
import { isWhole } from '../support/whole.ts';
import {
  type Case,
  closesStages,
  effectOf,
  everyCommand,
  freezings,
  isChosen,
  MODES,
  SAIDS,
  stage,
  WHERES,
  walk,
  writes,
} from './guard-cases.ts';
import { stopAfter } from './hostile-walk.ts';

closesStages();

const CASES = await everyCommand();
const writing = CASES.filter(writes);

it('knows every kind of effect', () => {
  expect(new Set(writing.map(({ command }) => effectOf(command)))).toEqual(
    new Set(['moves-money', 'reversible', 'irreversible']),
  );
  expect(writing.length).toBeGreaterThanOrEqual(9);
});

const kindOf = (one: Case) => `${effectOf(one.command)}, ${isChosen(one.line) ? 'chosen' : 'named'}`;
/** What is asked hangs on the effect that a command declares, and on how its cards are said: one of each kind shows it. */
const firsts = [...new Map(writing.toReversed().map(one => [kindOf(one), one])).values()];

describe('with a live key', () => {
  it.each(firsts.map(one => [one.line, one] as const))('%s', async (_, one) => {
    const pipe = await walk(one, { mode: 'live', wheres: ['pipe'], saids: SAIDS });
    const wheres = ['terminal', 'terminal, answered'] as const;
    expect(pipe + (await walk(one, { mode: 'live', wheres, saids: [''] }))).toBe(SAIDS.length + wheres.length);
  });
});

/** What FREEZING_ASKS says, of one example and one way to choose cards; the whole run has every one. */
describe('freezing with a live key', async () => {
  const all = await freezings();
  const lines = [true, false].flatMap(chosen =>
    all.filter(({ line }) => isChosen(line) === chosen && !line.includes(' --file ')).slice(0, 1),
  );

  it.each(lines.map(one => [isChosen(one.line) ? 'asks' : 'asks nothing', one.line, one] as const))(
    '%s: %s',
    async (_asks, _line, one) => {
      const pipe = await walk(one, { mode: 'live', wheres: ['pipe'], saids: ['', '--live @', '--yes --live @'] });
      expect(pipe + (await walk(one, { mode: 'live', wheres: ['terminal'], saids: [''] }))).toBe(4);
    },
  );

  it('names its cards, or chooses them', () => {
    expect(lines.map(({ line }) => isChosen(line))).toEqual([true, false]);
  });
});

describe('with a test key', () => {
  it.each(firsts.map(one => [one.line, one] as const))('%s', async (_, one) => {
    const saids =
      effectOf(one.command) === 'irreversible' ? (['', '--dry-run', '--yes'] as const) : (['', '--dry-run'] as const);
    expect(await walk(one, { mode: 'test', wheres: ['pipe'], saids })).toBe(saids.length);
  });
});

/** Long-running ones are stopped: nothing of theirs may have been sent by then. */
const PATIENCE_MS = 1_000;
/** They change who the next command is. */
const CHANGES_PROFILE = /^(?:login|logout|profiles) ?/;

it('without a leave, off a terminal, no other command of a service writes with a live key', async () => {
  // Programs of others are not ours to run here, and these speak to no service of a profile.
  const rest = CASES.filter(
    one =>
      !writes(one) &&
      !(one.command.rest && one.command.operation === undefined) &&
      !/^(?:sandbox|help|completion|commands|schema|explain)\b/.test(one.command.path),
  );
  const order = [...rest].sort((a, b) => Number(CHANGES_PROFILE.test(a.line)) - Number(CHANGES_PROFILE.test(b.line)));
  await using on = await stage('live');
  const told: unknown[] = [];
  for (const { line } of order) {
    const { done, ...stopping } = stopAfter(PATIENCE_MS);
    const { err } = await on.run(line, stopping).finally(done);
    const sent = await on.newWrites();
    if (sent !== 0) told.push({ line, sent, err });
  }
  expect(told).toEqual([]);
  expect(order.length).toBeGreaterThan(40);
}, 120_000);

/** Every line of every command that writes x modes x places x what was said. */
describe.runIf(isWhole).each(MODES)('every line, with a key of mode %s', async mode => {
  const examples = (await everyCommand(true)).filter(writes);
  const told = new Set(examples.map(({ line }) => line));
  const all = [...examples, ...(await freezings()).filter(({ line }) => !told.has(line))];

  it.each(all.map(one => [one.line, one] as const))('%s', async (_, one) => {
    expect(await walk(one, { mode, wheres: WHERES, saids: SAIDS })).toBe(WHERES.length * SAIDS.length);
  });
});
