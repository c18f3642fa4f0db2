/** The interface's tables, typed by hand once more: a change of the contract that leaves them is caught here. */
import { describe, expect, it } from 'vitest';
import { CARD, CARD_STATUSES, CREATE_CARD, FUND_CARD } from '../../src/contract/card.ts';
import { EVENTS } from '../../src/contract/events.ts';
import type { AnyField, Shape } from '../../src/contract/field.ts';
import { LIMITS } from '../../src/contract/limits.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { REFUSALS } from '../../src/contract/refusals.ts';
import {
  BIN,
  CHALLENGE,
  CREATE_WEBHOOK,
  CURRENCIES,
  ERROR_BODY,
  TRANSACTION_TYPES,
  WALLET,
} from '../../src/contract/resources.ts';

function typeWord({ kind, item, nullable }: AnyField): string {
  const words: Partial<Record<AnyField['kind'], string>> = {
    text: 'string',
    choice: 'string',
    time: 'string',
    money: 'number',
    flag: 'boolean',
    map: 'object',
  };
  const word = kind === 'list' && item ? `${typeWord(item)}[]` : (words[kind] ?? kind);
  return nullable ? `${word} or null` : word;
}

const table = (shape: Shape) => Object.entries(shape).map(([name, field]) => `${name} ${typeWord(field)}`);
const parameters = (shape: Shape) =>
  Object.entries(shape).map(([name, field]) => `${name} ${typeWord(field)} ${field.must ? 'yes' : 'no'}`);

describe('section 2, resources', () => {
  it('2.1 card', () => {
    expect(table(CARD)).toEqual([
      'id string',
      'bin_id string',
      'network string',
      'last4 string',
      'status string',
      'balance number',
      'spending_limit number',
      'label string',
      'allowed_categories string[]',
      'auto_freeze_at number or null',
      'metadata object',
      'created_at string',
      'expires_at string',
    ]);
    expect(CARD_STATUSES).toEqual(['active', 'frozen', 'terminated']);
  });

  it('2.2 BIN', () => {
    expect(table(BIN)).toEqual([
      'id string',
      'network string',
      'type string',
      '3ds boolean',
      'apple_pay boolean',
      'google_pay boolean',
      'max_transaction number',
      'max_monthly number',
      'acceptance_rate number',
      'best_for string[]',
    ]);
  });

  it('2.3 wallet', () => {
    expect(table(WALLET)).toEqual([
      'balance number',
      'currency string',
      'pending_deposits number',
      'total_deposited number',
      'total_spent number',
      'cards_active integer',
      'cards_total_balance number',
    ]);
  });

  it('2.4 3DS challenge', () => {
    expect(table(CHALLENGE)).toEqual([
      'id string',
      'card_id string',
      'merchant string',
      'amount number',
      'otp string',
      'status string',
      'expires_at string',
    ]);
    expect(CHALLENGE.status.choices).toEqual(['pending']);
  });

  it('2.5 transaction types', () => {
    expect(TRANSACTION_TYPES).toEqual(['authorization', 'settlement', 'refund', 'decline']);
  });

  it('2.7 error body', () => {
    expect(table(ERROR_BODY)).toEqual(['error string', 'message string', 'code integer', 'request_id string']);
  });
});

describe('section 4, operations', () => {
  it('has every row of the table, in its order', () => {
    expect(Object.keys(OPERATIONS)).toEqual([
      'bins.list',
      'cards.create',
      'cards.list',
      'cards.get',
      'cards.details',
      'cards.freeze',
      'cards.unfreeze',
      'cards.terminate',
      'cards.fund',
      'cards.withdraw',
      'transactions.list',
      'wallet.get',
      'wallet.addresses',
      'challenges.list',
      'webhooks.create',
      'webhooks.list',
      'webhooks.get',
      'webhooks.update',
      'webhooks.delete',
    ]);
  });

  it('keeps the methods and paths that are stated', () => {
    const route = (name: keyof typeof OPERATIONS) => `${OPERATIONS[name].method} ${OPERATIONS[name].path}`;
    expect(route('bins.list')).toBe('GET /bins');
    expect(route('cards.create')).toBe('POST /cards');
    expect(OPERATIONS['cards.details'].path).toBe('/cards/{card_id}/details');
    expect(CURRENCIES).toEqual(['btc', 'eth', 'sol', 'usdt']);
  });

  it('4.1 create card body', () => {
    expect(parameters(CREATE_CARD)).toEqual([
      'bin_id string yes',
      'amount number yes',
      'label string no',
      'spending_limit number no',
      'allowed_categories string[] no',
      'auto_freeze_at number no',
      'metadata object no',
    ]);
  });

  it('4.2 to 4.5, queries and bodies', () => {
    expect(parameters(OPERATIONS['cards.list'].query)).toEqual([
      'status string no',
      'bin_id string no',
      'page integer no',
      'per_page integer no',
    ]);
    expect(parameters(FUND_CARD)).toEqual(['amount number yes']);
    expect(parameters(OPERATIONS['transactions.list'].query)).toEqual([
      'card_id string no',
      'type string no',
      'from string no',
      'to string no',
      'page integer no',
    ]);
    expect(parameters(CREATE_WEBHOOK)).toEqual(['url string yes', 'events string[] yes', 'secret string no']);
  });

  it('binds every placeholder of a path to a parameter, and no name to two places', () => {
    for (const [name, row] of Object.entries(OPERATIONS)) {
      const { path, params = {}, query = {}, body = {} } = row as Operation;
      const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key);
      expect(placeholders, name).toEqual(Object.keys(params));
      const names = [...Object.keys(params), ...Object.keys(query), ...Object.keys(body)];
      expect(new Set(names).size, name).toBe(names.length);
    }
  });
});

describe('sections 6 to 8', () => {
  it('6 events', () => {
    expect(Object.keys(EVENTS)).toEqual([
      'card.created',
      'card.frozen',
      'card.unfrozen',
      'card.terminated',
      'card.funded',
      'transaction.authorized',
      'transaction.settled',
      'transaction.declined',
      'transaction.refunded',
      '3ds.challenge',
      'deposit.pending',
      'deposit.confirmed',
    ]);
  });

  it('7 the one stated error', () => {
    const { status, kind, basis } = REFUSALS.insufficient_funds;
    expect({ status, kind, basis }).toEqual({ status: 400, kind: 'insufficient_funds', basis: { stated: '7' } });
    const others = Object.values(REFUSALS).filter(refusal => refusal !== REFUSALS.insufficient_funds);
    expect(others.every(({ basis }) => 'assumed' in basis && basis.assumed !== undefined)).toBe(true);
  });

  it('8 limits', () => {
    expect(LIMITS.fundingAmount).toMatchObject({ min: 100, max: 500_000, unit: 'cents' });
    expect(LIMITS.labelLength).toMatchObject({ max: 64, unit: 'characters' });
    expect(LIMITS.metadataKeys).toMatchObject({ max: 20, unit: 'keys' });
    expect(LIMITS.pageSize).toMatchObject({ min: 1, max: 100, defaults: 25 });
    expect(LIMITS.page).toMatchObject({ defaults: 1 });
    expect(LIMITS.detailsRate).toMatchObject({ max: 30, unit: 'requests per minute' });
    expect(LIMITS.monthlySpending.defaults).toBe("the BIN's max_monthly");
  });
});
