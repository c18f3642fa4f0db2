/** Every alias, envelope and odd value that the documents name reads back through a real connection. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { findRows, readObject, readValue } from '../../src/client/decode.ts';
import { DETAILS, FUNDING } from '../../src/contract/card.ts';
import { ENVELOPES } from '../../src/contract/envelopes.ts';
import { EVENT_ENVELOPE } from '../../src/contract/events.ts';
import { type AnyField, money, type Shape } from '../../src/contract/field.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { ADDRESS, BIN, CHALLENGE, DEPOSIT, TRANSACTION, WALLET, WEBHOOK } from '../../src/contract/resources.ts';
import { centsOf } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import { CARD, json, type Served, serve, speak, thrown } from './served.ts';

let served: Served;
afterEach(() => served?.close());

const PAN = '4000001234567899';
const details = { card_id: 'card_1', pan: PAN, cvv: '012', exp_month: 8, exp_year: 2029 };
const noNames = () => undefined;

function sample(field: AnyField): unknown {
  const samples: Partial<Record<AnyField['kind'], unknown>> = {
    money: 12.34,
    integer: field.min ?? 7,
    number: 1.5,
    flag: true,
    list: [],
    map: {},
    sealed: '4242',
    time: '2026-01-01',
  };
  return samples[field.kind] ?? field.only ?? 'word';
}

function nested(name: string, value: unknown): Record<string, unknown> {
  const [head = '', ...rest] = name.split('.');
  return { [head]: rest.length > 0 ? nested(rest.join('.'), value) : value };
}

const shapes: Record<string, Shape> = {
  ADDRESS,
  BIN,
  CHALLENGE,
  DEPOSIT,
  TRANSACTION,
  WALLET,
  WEBHOOK,
  DETAILS,
  FUNDING,
  EVENT_ENVELOPE,
};
const aliases = Object.entries(shapes).flatMap(([of, shape]) =>
  Object.entries(shape).flatMap(([slot, field]) =>
    [field.wire ?? slot, ...(field.also ?? [])].map(name => ({ of, shape, slot, field, name })),
  ),
);

test.each(aliases)('$of.$slot is read from $name', ({ shape, slot, field, name }) => {
  const others = Object.entries(shape).filter(([other]) => other !== slot && shape[other]?.must);
  const rest = Object.fromEntries(others.map(([other, row]) => [row.wire ?? other, sample(row)]));
  const read = readObject({ ...rest, ...nested(name, sample(field)) }, { shape, at: '', nameOf: noNames });
  expect(read.problems).toEqual([]);
  const value = read.value[slot];
  expect(value instanceof Secret ? value.expose() : value).toEqual(sample(field));
});

describe('card details', () => {
  const get = async (body: unknown, more = {}) => {
    served = await serve((_, r) => json(r, 200, body));
    return speak(served.baseUrl, more).service.send('cards.details', { card_id: 'card_1' });
  };

  test.each<[string, unknown]>([
    ['default', details],
    ['stripe', { id: 'card_1', number: PAN, cvc: '012', exp_month: '08', exp_year: '29' }],
    ['increase', { primary_account_number: PAN, verification_code: '012', expiration_month: 8, expiration_year: 2029 }],
    ['wrapped', { data: { card: details } }],
    ['under card', { card: { id: 'card_1', number: PAN, cvc: '012', expiry: '08/29' } }],
    ['MM/YY', { pan: PAN, cvv: '012', expiry: '08/29' }],
    ['MM/YYYY', { pan: PAN, cvv: '012', expiration: '08/2029' }],
    ['MMYY', { pan: PAN, cvv: '012', exp: '0829' }],
    ['YYYY-MM', { pan: PAN, cvv: '012', exp: '2029-08' }],
    ['numbers', { pan: Number(PAN), cvv: '012', exp_month: 8, exp_year: 29 }],
    ['the same number twice', { ...details, number: PAN, last4: '7899' }],
  ])('%s', async (_name, body) => {
    const { result } = await get(body);
    expect(result.number.expose()).toBe(PAN);
    expect(result.cvv.expose()).toBe('012');
    expect([result.exp_month, result.exp_year]).toEqual([8, 2029]);
    expect(JSON.stringify(result)).not.toContain(PAN);
  });

  test.each<[string, unknown, string]>([
    ['two numbers', { ...details, number: '4111111111111111' }, 'number has two candidates'],
    ['no number', { ...details, pan: undefined }, 'number is missing'],
    ['not a number', { ...details, pan: '4000-01' }, '13 to 19 digits'],
    ['wrong check digit', { ...details, pan: '4000001234567890' }, 'check digit'],
    ['other last four', { ...details, last4: '0000' }, 'last4'],
    ['code without its zero', { ...details, cvv: 12 }, '3 or 4 digits'],
    ['month 13', { ...details, exp_month: 13 }, 'exp_month'],
    ['another card', { ...details, card_id: 'card_2' }, 'but asked for was "card_1"'],
    ['no expiry', { ...details, exp_month: undefined, expiry: 'soon' }, 'exp_month is missing'],
  ])('%s is refused without a digit of it', async (_name, body, text) => {
    const failed = await thrown(get(body));
    expect(failed.kind).toBe('contract_mismatch');
    expect(failed.message).toContain(text);
    expect(JSON.stringify([failed.message, failed.facts])).not.toMatch(/4000001234|4111111/);
  });

  test('an override names the field', async () => {
    const overrides = { operations: {}, fields: { 'details.number': 'x.y', 'details.expiry': 'until' }, headers: {} };
    const { result } = await get({ x: { y: PAN }, cvv: '012', until: '08/29' }, { overrides });
    expect(result.number.expose()).toBe(PAN);
    expect(result.exp_year).toBe(2029);
  });
});

describe('money', () => {
  const field = money('', {});

  test('decimal text is the same amount, with one warning and no value in it', async () => {
    served = await serve((_, r) => json(r, 200, { balance: '12.30', total_spent: '-4' }));
    const { service, warnings } = speak(served.baseUrl);
    const { result } = await service.send('wallet.get', {});
    await service.send('wallet.get', {});
    expect(result).toEqual({ balance: 12.3, total_spent: -4 });
    expect(warnings).toEqual([
      'wallet.get: balance is an amount as text',
      'wallet.get: total_spent is an amount as text',
    ]);
  });

  test.each(['12.345', '1e400', '-0', '"12.345"', '"1e3"', '" 1"', '"NaN"', '90071992547409930', 'true', '{}'])(
    '%s never passes for an amount',
    async text => {
      served = await serve((_, r) => r.writeHead(200).end(`{"balance":5,"total_spent":${text}}`));
      const failed = await thrown(speak(served.baseUrl).service.send('wallet.get', {}));
      expect(failed.kind).toBe('contract_mismatch');
      expect(failed.message).toContain('total_spent');
    },
  );

  test('every amount reads back exactly, as number and as text', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5_000_000_00, max: 5_000_000_00 }), amount => {
        const usd = JSON.parse(JSON.stringify(amount / 100)) as number;
        const number = readValue(field, usd);
        const text = readValue(field, amount === 0 ? '0.00' : (amount / 100).toFixed(2));
        expect(number.ok && centsOf(number.value as number)).toBe(amount);
        expect(text.ok && centsOf(text.value as number)).toBe(amount);
      }),
    );
  });

  test.each(['balance', 'last4', 'status'])('a card without %s is no card', async name => {
    served = await serve((_, r) => json(r, 200, { ...CARD, [name]: null }));
    const failed = await thrown(speak(served.baseUrl).service.send('cards.get', { card_id: 'card_1' }));
    expect(failed.message).toContain(`${name} is null`);
  });
});

describe('objects', () => {
  test('unknown fields and words are kept, secrets and prototypes are not', async () => {
    const odd = `{"colour":"red","status":"melted","nested":{"pan":"${PAN}","a":[{"cvv":"1"}]},"card_number":"${PAN}","__proto__":{"x":1}}`;
    served = await serve((_, r) => r.writeHead(200).end(`${JSON.stringify(CARD).slice(0, -1)},${odd.slice(1)}`));
    const { result } = await speak(served.baseUrl).service.send('cards.get', { card_id: 'card_1' });
    expect(result).toEqual({ ...CARD, status: 'melted', colour: 'red', nested: { a: [{}] } });
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('a secret of a subscription is not repeated by a list', async () => {
    served = await serve((_, r) =>
      json(r, 200, { data: [{ id: 'wh_1', url: 'https://a.example', secret: 'whsec_x' }] }),
    );
    const { result } = await speak(served.baseUrl).service.send('webhooks.list', {});
    expect(JSON.stringify(result)).not.toContain('whsec');
  });

  test('reading never throws, whatever comes', () => {
    const shape = OPERATIONS['cards.get'].returns.shape;
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(shape), 'data', '__proto__'), fc.jsonValue()),
        source => {
          const read = readObject(source, { shape, at: '', nameOf: noNames });
          expect(Object.getPrototypeOf(read.value)).toBe(Object.prototype);
          if (read.problems.length === 0) expect(typeof read.value['balance']).toBe('number');
        },
      ),
    );
  });
});

describe('list envelopes', () => {
  const rows = [{ id: 'a' }];
  test.each<[string, unknown]>([
    ['bare', rows],
    ...[ENVELOPES.array.name, ...ENVELOPES.array.also].map(name => [name, { [name]: rows }] as [string, unknown]),
    ['any single array', { things: rows, other: 1 }],
    ['items in data', { data: { items: rows } }],
  ])('%s', (_name, value) => {
    expect(findRows(value, {})?.rows).toEqual(rows);
  });

  test.each<[string, unknown]>([
    ['two arrays', { a: [], b: [] }],
    ['none', { a: 1 }],
    ['text', 'x'],
    ['null', null],
  ])('%s is no list', (_name, value) => expect(findRows(value, {})).toBeUndefined());
});
