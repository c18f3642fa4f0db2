import { describe, expect, it } from 'vitest';
import { Activities } from '../../../src/books/activity.ts';
import {
  evaluatePolicy,
  judgedAgain,
  type PlannedChange,
  planChanges,
  withdrawnBy,
} from '../../../src/books/policy.ts';
import { readPolicy } from '../../../src/books/policy-file.ts';
import type { CardRow, TxRow } from '../../../src/books/rows.ts';
import { CliError } from '../../../src/core/errors.ts';
import { cents } from '../../../src/core/money.ts';
import { card, DAY, NOW, record } from '../rows.ts';

const policyOf = (text: string) => readPolicy(text, 'policy.yaml');
const rule = (text: string) => policyOf(`version: 1\nrules: [{ name: r, ${text} }]\n`);

function known({ records = [], wholeSince = 0 }: { records?: readonly TxRow[]; wholeSince?: number } = {}): Activities {
  const activities = new Activities(NOW, wholeSince);
  for (const each of records) activities.add(each);
  return activities;
}

function found(text: string, options: Partial<CardRow> = {}, given: Activities = known()): number {
  return evaluatePolicy(rule(text), [card({ card_id: 'card_1', ...options })], given).findings.length;
}

function faultsOf(text: string): readonly string[] {
  try {
    policyOf(text);
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    expect(thrown.exitCode).toBe(2);
    return [thrown.facts.message, ...(thrown.facts.notes ?? [])];
  }
  return [];
}

describe('a policy file', () => {
  it('is told every fault at once, with line, column and the nearest word', () => {
    const text = [
      'version: 2',
      'rule: []',
      'rules:',
      '  - { name: unused, when: { unused_days: ">= 30" }, then: freeze }',
      '  - { name: unused, when: { unused_day: ">= 30" } }',
      '  - { name: Loud,   when: { balance: 200 }, severity: fatal }',
      '  - { name: twice,  when: { label: empty }, than: freeze }',
      '  - { name: end,    when: { age_days: "> 1" }, then: terminate }',
      '  - { name: less,   when: { limit_use: "< 10" }, then: { withdraw: { keep: -1 } } }',
      '  - { name: none,   cards: { status: activ, lable: x }, when: {} }',
      '',
    ].join('\n');
    expect(faultsOf(text)).toEqual([
      'policy.yaml:1:10: version: must be 1',
      'policy.yaml:2:1: rule is not known here; did you mean rules?',
      'policy.yaml:5:13: rules[1].name: rules[0] is called unused already',
      'policy.yaml:5:29: rules[1].when.unused_day is not known here; did you mean unused_days?',
      'policy.yaml:6:13: rules[2].name: must be 1 to 40 of a-z, 0-9 and -',
      'policy.yaml:6:38: rules[2].when.balance: a test of it is "< <= = >= > or !=, then USD", such as "> 200.00", not "200"',
      'policy.yaml:6:55: rules[2].severity: must be one of error, warning, info',
      'policy.yaml:7:45: rules[3].than is not known here; did you mean then?',
      'policy.yaml:8:54: rules[4].then: must be freeze or {withdraw: {keep: 20.00}}',
      'policy.yaml:9:40: rules[5].when.limit_use: a test of it is "< <= = >= > or !=, then percent", such as "< 10%", not "< 10"',
      'policy.yaml:9:76: rules[5].then.withdraw.keep: must be an amount in USD, such as 20.00, not -1',
      'policy.yaml:10:38: rules[6].cards.status: "activ" is not known here; did you mean active?',
      'policy.yaml:10:45: rules[6].cards.lable is not known here; did you mean label?',
      'policy.yaml:10:63: rules[6].when: must be a map of facts and tests',
    ]);
  });
});

describe('facts and tests', () => {
  const settled = (daysAgo: number, amount = 1_00) =>
    record({ tx_id: `s${daysAgo}`, at_ms: NOW - daysAgo * DAY, cents: amount });

  it('hold at the bound and not beside it', () => {
    const used = known({ records: [settled(30)] });
    expect(found('when: { unused_days: ">= 30" }', {}, used)).toBe(1);
    expect(found('when: { unused_days: "> 30" }', {}, used)).toBe(0);
    expect(found('when: { unused_days: "= 100" }')).toBe(1);
    expect(found('when: { balance: ">= 100.00" }')).toBe(1);
    expect(found('when: { balance: "> $100.00" }')).toBe(0);
    expect(found('when: { balance: "< -5.00" }', { balance_cents: cents(-5_01) })).toBe(1);
    expect(found('when: { expires_days: "<= 30" }', { expires_ms: NOW + 30 * DAY + 5 })).toBe(1);
    const half = known({
      records: [record({ tx_id: 'a', type: 'authorization', status: 'pending', cents: 2_500_00 })],
    });
    expect(found('when: { limit_use: "= 50%" }', {}, half)).toBe(1);
    expect(found('when: { limit_use: "< 50%" }', {}, half)).toBe(0);
    expect(found('when: { limit_use: "<= 49.99%" }', {}, half)).toBe(0);
  });

  it('that are not known never hold, and are counted where everything else holds', () => {
    const given = known({ wholeSince: NOW - 10 * DAY });
    const cards = [card({ card_id: 'card_1' }), card({ card_id: 'card_2', balance_cents: null })];
    const skippedBy = (text: string) => evaluatePolicy(rule(text), cards, given);
    expect(skippedBy('when: { unused_days: ">= 30" }')).toMatchObject({
      findings: [],
      skipped: [{ rule: 'r', fact: 'unused_days', cards: 2 }],
    });
    expect(skippedBy('when: { spent_7d: "= 0" }').findings).toHaveLength(2);
    expect(skippedBy('when: { spent_30d: "= 0", balance: "> 500" }').skipped).toEqual([
      { rule: 'r', fact: 'spent_30d', cards: 1 },
    ]);
    expect(skippedBy('when: { balance: "!= 1" }')).toMatchObject({ skipped: [{ fact: 'balance', cards: 1 }] });
    // A use inside what was read whole is the newest there is.
    const used = known({ wholeSince: NOW - 10 * DAY, records: [settled(8)] });
    expect(found('when: { unused_days: "= 8" }', {}, used)).toBe(1);
  });

  it('are not known of a card that does not tell them, and of one without a limit', () => {
    const unknown = (test: string, options: Partial<CardRow>) =>
      evaluatePolicy(rule(`when: { ${test} }`), [card({ card_id: 'card_1', ...options })], known());
    for (const [test, options] of [
      ['age_days: "> 0"', { created_ms: null }],
      ['unused_days: "> 0"', { created_ms: null }],
      ['expires_days: "> 0"', { expires_ms: null }],
      ['limit: "> 0"', { spending_limit_cents: null }],
      ['limit_use: ">= 0%"', { spending_limit_cents: null }],
      ['limit_use: ">= 0%"', { spending_limit_cents: cents(0) }],
    ] as const) {
      const { findings, skipped } = unknown(test, options);
      expect([test, findings.length, skipped.map(({ cards }) => cards)]).toEqual([test, 0, [1]]);
    }
    expect(unknown('limit_use: "= 0%"', { spending_limit_cents: cents(1) }).findings).toHaveLength(1);
    // A metadata text that is no JSON tells nothing, and stops nothing.
    for (const metadata of ['', 'null', '{"owner":""}', '{"owner":null}'])
      expect(found('when: { metadata.owner: empty }', { metadata })).toBe(1);
    expect(() => found('when: { metadata.: empty }')).toThrow('metadata. is not known here');
  });
});

describe('what a policy would change', () => {
  const TEXT = [
    'version: 1',
    'rules:',
    '  - { name: rich,   when: { balance: "> 50" }, then: { withdraw: { keep: 20.00 } } }',
    '  - { name: poorer, when: { balance: "> 50" }, then: { withdraw: { keep: "0.00" } } }',
    '  - { name: idle,   when: { unused_days: ">= 30" }, then: freeze, severity: error }',
    '  - { name: cold,   cards: { status: frozen }, when: { unused_days: ">= 30" }, then: freeze }',
  ].join('\n');
  const cards = [
    card({ card_id: 'card_1' }),
    card({ card_id: 'card_2', balance_cents: cents(20_00) }),
    card({ card_id: 'card_3', status: 'frozen' }),
    card({ card_id: 'card_4', status: 'terminated' }),
  ];

  it('is each card once, freezes first, and by the largest of several withdrawals', () => {
    const { findings } = evaluatePolicy(policyOf(TEXT), cards, known());
    expect(findings.map(({ rule, card: { card_id } }) => `${rule} ${card_id}`)).toEqual([
      'idle card_1',
      'idle card_2',
      'rich card_1',
      'poorer card_1',
      'cold card_3',
    ]);
    const changes = planChanges(findings);
    expect(changes.map(({ operation, card: { card_id }, amount }) => [operation, card_id, amount])).toEqual([
      ['cards.freeze', 'card_1', undefined],
      ['cards.freeze', 'card_2', undefined],
      ['cards.withdraw', 'card_1', 100_00],
    ]);
    expect(withdrawnBy(changes)).toBe(100_00);
  });

  it('is left out where a card, read again, gives no reason any more, and is never more than before', () => {
    const policy = policyOf(TEXT);
    const before = planChanges(evaluatePolicy(policy, cards, known()).findings);
    const now = [
      card({ card_id: 'card_1', balance_cents: cents(45_00) }),
      card({ card_id: 'card_2', status: 'frozen', balance_cents: cents(900_00) }),
    ];
    const { changes, over } = judgedAgain(before, evaluatePolicy(policy, now, known()).findings);
    const named = (each: readonly PlannedChange[]) =>
      each.map(({ operation, card: { card_id } }) => [operation, card_id]);
    expect(named(changes)).toEqual([['cards.freeze', 'card_1']]);
    expect(named(over)).toEqual([
      ['cards.freeze', 'card_2'],
      ['cards.withdraw', 'card_1'],
    ]);
  });
});
