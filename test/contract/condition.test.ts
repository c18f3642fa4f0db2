import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CARD } from '../../src/contract/card.ts';
import { parseCondition } from '../../src/contract/condition.ts';
import { BIN, CHALLENGE, WALLET } from '../../src/contract/resources.ts';
import { CliError } from '../../src/errors.ts';
import { cents, plainAmount, toUsd } from '../../src/money.ts';
import { codePoint } from '../support/code-point.ts';

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

const holds = (text: string, row: Readonly<Record<string, unknown>> = card) =>
  parseCondition(text, CARD, '--where')(row);

function message(text: string): string {
  try {
    parseCondition(text, CARD, '--where');
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
    ['created_at>2026-11-20', true],
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

  it('is met by no unfit value: one with three decimals, text for a number, no time', () => {
    for (const balance of [20.123, '20.10', Number.NaN]) {
      expect(holds('balance>=0', { balance })).toBe(false);
      expect(holds('balance!=0', { balance })).toBe(false);
    }
    expect(holds('created_at>2020-01-01', { created_at: 'soon' })).toBe(false);
  });

  it('compares numbers as numbers', () => {
    expect(parseCondition('acceptance_rate>9', BIN, '--where')({ acceptance_rate: 98.5 })).toBe(true);
    expect(parseCondition('cards_active>=10', WALLET, '--until')({ cards_active: 9 })).toBe(false);
    expect(parseCondition('otp=048213', CHALLENGE, '--where')({ otp: '048213' })).toBe(true);
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

describe('a wrong condition', () => {
  it.each([
    ['', 'is not <field><op><value>'],
    ['status', 'is not <field><op><value>'],
    ['=active', 'is not <field><op><value>'],
    ['colour=red', 'fields: id, bin_id, network'],
    ['toString=x', 'is not <field><op><value>'],
    ['__proto__=x', 'is not <field><op><value>'],
    ['balance<twenty', '"twenty" is not an amount such as 25 or 1250.00'],
    ['balance<1.999', '"1.999" is not an amount'],
    ['balance<--5', 'is not an amount'],
    ['created_at>soon', '"soon" is not an ISO 8601 time'],
    ['metadata=x', 'write metadata.<key>'],
    ['status.x=1', 'write status'],
  ])('%j is usage and says how', (text, expected) => {
    expect(message(text)).toContain(expected);
    expect(message(text)).toContain('--where');
  });

  it('is never anything but parsed or usage', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 40 }), text => {
        expect(message(text)).not.toBe('');
      }),
    );
  });
});
