/** Scenarios: the documented ones play, every fault has its place, and what is compared is what is written. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STEP_OPERATIONS } from '../../src/contract/sandbox/methods.ts';
import { CliError } from '../../src/core/errors.ts';
import { EXAMPLES } from '../../src/scenario/examples.ts';
import { differences, readScenario, resolved } from '../../src/scenario/scenario.ts';
import { world } from '../support/world.ts';

const read = (text: string) => readScenario(text, 'file.yaml');

function faultsOf(text: string): readonly string[] {
  try {
    read(text);
    return [];
  } catch (error) {
    if (!(error instanceof CliError) || error.kind !== 'usage') throw error;
    return [error.message, ...(error.facts.notes ?? [])];
  }
}

describe('the documented examples', () => {
  test.each(Object.entries(EXAMPLES))('%s plays, every step of it', async (name, text) => {
    await using here = await world({ wallet: 0 });
    await writeFile(join(here.folder, name), text);
    const { code, out, err } = await here.run(`sandbox simulate run ${name} --yes --json`);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/: \d+ steps, all as expected\.\n$/) });
    const { data } = JSON.parse(out) as { data: { outcome: string }[] };
    expect(data.length).toBe(text.split('\n').filter(line => line.startsWith('  - ')).length);
    expect((await here.run('help scenarios')).out).toContain('scenario: A purchase');
  });
});

describe('what belongs together', () => {
  test.each<readonly [string, string]>([
    ['clock.advance: {}', '3:20: one of by and to is needed'],
    ['clock.advance: {by: 1d, to: 2027-01-01T00:00:00Z}', '3:20: one of by and to is needed'],
    ['clock.advance: {by: 7x}', '3:25: by must be a span of time such as 7d, 36h or 1d12h'],
    ['clock.set: {mode: scaled}', '3:16: rate is needed for a scaled clock, and for no other'],
    ['clock.set: {mode: frozen, rate: 2}', '3:16: rate is needed for a scaled clock, and for no other'],
    ['simulate.deposit: {currency: btc}', '3:23: one of amount and crypto_amount is needed'],
    ['deliveries.rotate: {webhook_id: a, overlap: soon}', '3:49: overlap must be a time'],
    ['faults.add: {action: {kind: rest}}', '3:26: action.kind must be one of status,'],
    ['faults.add: {match: {nth: 0}, action: {kind: reset}}', '3:25: match.nth 0 is outside the limit'],
    ["webhooks.create: {url: 'https://a.example/', events: [card.made]}", '3:58: "card.made" is no event; * is all'],
  ])('%s', (step, fault) => {
    const [told, ...others] = faultsOf(`scenario: a\nsteps:\n  - ${step}\n`);
    expect(others).toEqual([]);
    expect(told).toContain(`file.yaml:${fault}`);
  });

  test.each([
    'clock.advance: {to: 2027-01-01T00:00:00Z}',
    'clock.set: {mode: scaled, rate: 60}',
    'deliveries.rotate: {webhook_id: a, overlap: 0s}',
    'faults.add: {match: {card_id: $first.now}, action: {kind: reset}}',
    'faults.add: {action: $first.now}',
    'clock.advance: {by: $first.now}',
    'simulate.deposit: {currency: btc, amount: $first.now}',
    "webhooks.create: {url: 'https://a.example/', events: ['*', card.created]}",
  ])('%s is fine', step => {
    expect(faultsOf(`scenario: a\nsteps:\n  - clock.show:\n    as: first\n  - ${step}\n`)).toEqual([]);
  });
});

describe('faults', () => {
  test.each<readonly [string, unknown]>([
    ['', 'file.yaml:1:1: must be a map of scenario, about, steps'],
    ['- a', 'file.yaml:1:1: must be a map of scenario, about, steps'],
    ['steps: [{wallet.get: }]', 'file.yaml:1:1: scenario is missing'],
    ['scenario: a', 'file.yaml:1:1: steps is missing'],
    ['scenario: a\nsteps: []', 'file.yaml:2:8: steps: a scenario has 1 to 1,000 steps'],
    ['scenario: a\nstep: []\nsteps: [{wallet.get: }]', 'file.yaml:2:1: step is not known here; did you mean steps?'],
    ['scenario: 5\nsteps: [{wallet.get: }]', 'file.yaml:1:11: scenario: must be text'],
    ['scenario: a\nsteps: [wallet.get]', 'file.yaml:2:9: steps[0]: a step is a map of an operation and its fields'],
    [
      'scenario: a\nsteps:\n  - walet.get:',
      'file.yaml:3:5: "walet.get" is no operation of a scenario; cardwright help scenarios lists them',
    ],
    [
      'scenario: a\nsteps:\n  - cards.get: card_1',
      'file.yaml:3:16: the fields of cards.get must be a map; {} for none',
    ],
    ['scenario: a\nsteps:\n  - cards.get:', 'file.yaml:3:15: card_id is missing'],
    ['scenario: a\nsteps:\n  - cards.get: {card_id: 5}', 'file.yaml:3:26: card_id must be text'],
    ['scenario: a\nsteps:\n  - cards.get: {card_id: $card}', 'file.yaml:3:26: no earlier step is called "card"'],
    [
      'scenario: a\nsteps:\n  - cards.get: {card_id: $Card.id}',
      'file.yaml:3:26: "$Card.id" is no reference; $$ begins a plain $',
    ],
    [
      'scenario: a\nsteps:\n  - wallet.get:\n    expect: {balance: $w.balance}',
      'file.yaml:4:23: no earlier step is called "w"',
    ],
    [
      'scenario: a\nsteps:\n  - wallet.get:\n    expect: {}\n    fails: refused',
      'file.yaml:4:5: a step that fails has no answer to expect',
    ],
    ...(
      [
        ['cards.list: {status: gone}', '26: status'],
        ['cards.list: {page: 1.5}', '24: page'],
        ['cards.list: {page: 0}', '24: page'],
        ['cards.create: {bin_id: bin_1, amount: 5.001}', '43: amount'],
        ['cards.create: {bin_id: bin_1, amount: five}', '43: amount'],
        ['cards.create: {bin_id: bin_1, amount: 5, label: 5}', '53: label'],
        ['cards.create: {bin_id: bin_1, amount: 5, metadata: [a]}', '56: metadata'],
        ['clock.set: {mode: sideways}', '23: mode'],
        ['simulate.settle: {authorization_id: txn_1, amount: 0}', '56: amount'],
        ['wallet.get: {currency: btc}', '18: currency is not known to wallet.get; known: nothing'],
        ['stop:', '5: "stop" is no operation'],
        ['{}', '5: the step names no operation'],
        ['wallet.get:\n    as: 5', '9: as must be text'],
        ['wallet.get:\n    fails: 404', '12: fails must be text'],
        [
          'wallet.get:\n    fails: card_terminatd',
          '12: "card_terminatd" is not known here; did you mean card_terminated?',
        ],
        ['wallet.get:\n    note: [a]', '11: note must be text'],
        ['wallet.get:\n    cards.list:', '5: a step has one operation; "cards.list" is a second'],
        ['wallet.get:\n    as: w\n    fails: not_found', '5: a step that fails has no answer to name'],
        ['wallet.get:\n    as: w\n  - cards.get: {card_id: $w.id}', '26: $w.id is in no answer of wallet.get'],
        [
          'cards.list:\n    as: l\n  - cards.get: {card_id: $l.first.id}',
          '26: $l.first.id is in no answer of cards.list',
        ],
        ['cards.list:\n    as: l\n  - cards.get: {card_id: $l.data.x.id}', '26: $l.data.x.id is in no'],
        ['cards.list:\n    as: l\n  - cards.get: {card_id: $l.data.0.pan}', '26: $l.data.0.pan is in no'],
      ] as const
    ).map(([step, fault]) => [`scenario: a\nsteps:\n  - ${step}`, expect.stringContaining(`:${fault}`)] as const),
    [
      `scenario: a\nsteps:\n${'  - wallet.get:\n'.repeat(1_001)}`,
      'file.yaml:3:3: steps: a scenario has 1 to 1,000 steps',
    ],
    ['scenario: a\nscenario: b\nsteps: [{wallet.get: }]', 'file.yaml:2:1: "scenario" stands twice, first at line 1'],
    ['scenario: &a b\nsteps: [{wallet.get: *a}]', 'file.yaml:2:22: an alias means nothing here: write it out'],
    [
      'scenario: !!binary aGk=\nsteps: [{wallet.get: }]',
      'file.yaml:1:20: a tag (tag:yaml.org,2002:binary) means nothing here',
    ],
    [
      'scenario: a\n---\nsteps: []',
      'file.yaml:2:1: a second document begins here; a file holds one: write it into a file of its own, without ---',
    ],
  ])('%j', (text, fault) => {
    expect(faultsOf(text)).toContainEqual(fault);
  });

  test('all of them are told, in the order of the file', () => {
    const text = 'scenario: a\nsteps:\n  - cards.get:\n  - nothing.at.all:\n  - cards.create: {amount: 0}';
    expect(faultsOf(text).map(fault => fault.split(':').slice(1, 3).join(':'))).toEqual([
      '3:15',
      '4:5',
      '5:19',
      '5:28',
    ]);
  });

  test('a file nested for ever is refused', () => {
    expect(faultsOf(`scenario: a\nsteps: ${'['.repeat(500)}${']'.repeat(500)}`).join()).toContain(
      'nested more than 24',
    );
  });
});

test('nothing that reveals a card or ends the server is a step', () => {
  expect(STEP_OPERATIONS.has('cards.details')).toBe(false);
  expect(STEP_OPERATIONS.has('stop')).toBe(false);
  expect(STEP_OPERATIONS.has('cards.create') && STEP_OPERATIONS.has('clock.advance')).toBe(true);
});

test('what is expected of an answer is looked for and nothing else; equal values never differ', () => {
  expect(
    differences({ a: 1, b: { c: [1, { d: 'x' }] } }, { a: 1, z: 0, b: { y: 1, c: [1, { d: 'x', e: 2 }] } }),
  ).toEqual([]);
  expect(differences({ a: 1, b: { c: [1, 2] } }, { b: { c: [1] } })).toEqual([
    'a is missing, 1 expected',
    'b.c has 1 entries, 2 expected',
  ]);
  expect(differences(5, 6)).toEqual(['it is 6, 5 expected']);
  expect(differences({ a: null }, {})).toEqual(['a is missing, null expected']);
  fc.assert(fc.property(fc.jsonValue(), value => differences(value, value).length === 0));
});

test('a reference takes the value it names, and two dollars are one', () => {
  const captured = new Map<string, unknown>([['list', { data: [{ id: 'a' }, { id: 'b' }] }]]);
  expect(resolved({ x: '$list.data.1.id', y: ['$$5', 'plain'] }, captured)).toEqual({ x: 'b', y: ['$5', 'plain'] });
  expect(() => resolved('$list.data.2.id', captured)).toThrow(/is not in what that step answered/);
  expect(() => resolved('$list.constructor', captured)).toThrow(RangeError);
});
