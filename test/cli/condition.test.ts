import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allOf } from '../../src/cli/condition.ts';
import { CARD } from '../../src/contract/card.ts';
import type { Shape } from '../../src/contract/field.ts';
import { BIN, TRANSACTION, WALLET } from '../../src/contract/resources.ts';

import { CliError } from '../../src/core/errors.ts';
import { cents, plainAmount, toUsd } from '../../src/core/money.ts';

const card = {
  id: 'card_1',
  status: 'active',
  balance: 20.1,
  label: 'Ads = north',
  allowed_categories: ['software', '5734'],
  auto_freeze_at: null,
  metadata: { team: 'growth', 'a.b': 'c' },
  created_at: '2026-11-20T14:00:00Z',
};

const NOW = Date.parse('2026-12-25T14:00:00Z');
const testOf = (shape: Shape, ...texts: readonly string[]) => allOf(texts, { shape, flag: '--where', now: () => NOW });
const holds = (text: string, row: Readonly<Record<string, unknown>> = card) => testOf(CARD, text)(row);

function message(text: string, shape: Shape = CARD): string {
  try {
    testOf(shape, text);
  } catch (error) {
    if (error instanceof CliError) {
      expect({ kind: error.kind, outcome: error.facts.outcome }).toEqual({ kind: 'usage', outcome: 'not_sent' });
      return error.message;
    }
    throw error;
  }
  return 'parsed';
}

describe('a condition', () => {
  it.each(['label~"', 'label="Ads', 'label<=z'])('%s is a text like any other', text => {
    expect(message(text)).toBe('parsed');
  });

  it.each([
    ['status=active', true],
    ['status=frozen', false],
    ['status!=frozen', true],
    ['status!=active', false],
    ['balance=20.10', true],
    ['balance=20.1', true],
    ['balance<20.11', true],
    ['balance<20.10', false],
    ['balance<=20.10', true],
    ['balance>20', true],
    ['balance>=20.11', false],
    ['balance>-5', true],
    ['label~ADS', true],
    ['label~south', false],
    ['label=Ads = north', true],
    ['allowed_categories~5734', true],
    ['allowed_categories=software;5734', true],
    ['metadata.team=growth', true],
    ['metadata.team!=growth', false],
    ['metadata.a.b=c', true],
    ['created_at>2026-11-19', true],
    ['created_at>2026-11-20', false],
    ['created_at>=2026-11-20', true],
    ['created_at=2026-11-20', true],
    ['created_at!=2026-11-20', false],
    ['created_at<=2026-11-20', true],
    ['created_at<2026-11-20', false],
    ['created_at<30d', true],
    ['created_at<35d', false],
    ['created_at<=35d', true],
    ['created_at<36d', false],
    ['created_at>5w', false],
    ['created_at>=5w', true],
    ['created_at<now', true],
    ['created_at<+1d', true],
    ['created_at<yesterday', true],
    ['created_at=2026-11-20T15:00:00+01:00', true],
    ['created_at<2026-11-20T14:00:00Z', false],
    ['id=card_1', true],
  ])('%s is %s', (text, expected) => {
    expect(holds(text)).toBe(expected);
  });

  it('is met by an absent value only when it says "not"', () => {
    for (const row of [card, {}, { auto_freeze_at: 'soon' }]) {
      for (const operator of ['=', '<', '<=', '>', '>=']) expect(holds(`auto_freeze_at${operator}5`, row)).toBe(false);
    }
    expect(holds('auto_freeze_at!=5')).toBe(true);
    expect(holds('metadata.other!=x')).toBe(true);
    expect(holds('metadata.other=x')).toBe(false);
    expect(holds('metadata.team=x', {})).toBe(false);
  });

  it('compares money exactly, whatever the amounts', () => {
    const amount = fc.integer({ min: -1_000_000, max: 1_000_000 });
    fc.assert(
      fc.property(amount, amount, (there, wanted) => {
        const row = { balance: toUsd(cents(there)) };
        const text = plainAmount(cents(wanted));
        expect(holds(`balance<${text}`, row)).toBe(there < wanted);
        expect(holds(`balance>=${text}`, row)).toBe(there >= wanted);
        expect(holds(`balance=${text}`, row)).toBe(there === wanted);
      }),
    );
  });
});

describe('a condition on a number, a switch or a known word', () => {
  it.each([
    [WALLET, 'cards_active=1.5', 'is not a whole number'],
    [WALLET, 'cards_active=0x10', 'is not a whole number'],
    [BIN, 'acceptance_rate>1e1', 'is not a number'],
    [BIN, '3ds=yes', 'is not one of true, false'],
    [BIN, 'network=vis', 'Did you mean'],
    [TRANSACTION, 'type=settlemnt', 'Did you mean "settlement"?'],
  ] as const)('%#: %s', (shape, text, expected) => {
    expect(message(text, shape)).toContain(expected);
  });
});

describe('a wrong condition', () => {
  it.each([
    ['', 'is not <field><op><value>'],
    ['status', 'is not <field><op><value>'],
    ['=active', 'is not <field><op><value>'],
    ['colour=red', 'fields: id, bin_id, network'],
    ['toString=x', 'is not <field><op><value>'],
    ['__proto__=x', 'is not <field><op><value>'],
    ['balance<twenty', '"twenty" is not an amount'],
    ['balance<1.999', '"1.999" is not an amount'],
    ['balance<--5', 'is not an amount'],
    ['created_at>soon', '"soon" is not a time such as 2026-11-01'],
    ['created_at>2026-02-31', 'is not a time such as'],
    ['created_at>30', 'is not a time such as'],
    ['status=activ', 'is not one of active, frozen, terminated. Did you mean "active"?'],
    ['status!=forzen', 'Did you mean "frozen"?'],
    ['status=', '"" is not one of active, frozen, terminated.'],
    ['status=Active', 'is not one of active, frozen, terminated.'],
    ['status<frozen', 'have no order; write = or !='],
    ['statsu=active', 'Did you mean "status"?'],
    ['label~', 'write a text after ~'],
    ['label!=a && status=frozen', 'each condition has its own --where'],
    ['label!==a', 'one operator'],
    ['label!="a"', 'no quotes of its own'],
    ['metadata=x', 'write metadata.<key>'],
    ['status.x=1', 'write status'],
  ])('%j is usage and says how', (text, expected) => {
    expect(message(text)).toContain(expected);
    expect(message(text)).toContain('--where');
  });
});
