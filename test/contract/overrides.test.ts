import { describe, expect, it } from 'vitest';
import { readOverrides } from '../../src/contract/overrides.ts';
import { CliError } from '../../src/core/errors.ts';

function refusal(value: unknown): string {
  try {
    readOverrides(typeof value === 'string' ? value : JSON.stringify(value), 'mine.json');
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    expect({ kind: error.kind, outcome: error.facts.outcome }).toEqual({ kind: 'usage', outcome: 'not_sent' });
    expect(error.message).toContain('mine.json');
    return error.message;
  }
  return 'read';
}

describe('readOverrides', () => {
  it('lets a query parameter stand in a path, as one known other form has it (A-10)', () => {
    const path = '/cards/{card_id}/transactions';
    expect(readOverrides(JSON.stringify({ operations: { 'transactions.list': { path } } }), 'f').operations).toEqual({
      'transactions.list': { path },
    });
  });

  it.each([
    ['{', 'not JSON'],
    ['[]', 'the file must be an object'],
    [{ operation: {} }, 'unknown key "operation"'],
    [{ operations: [] }, 'operations must be an object'],
    [{ operations: { 'cards.burn': {} } }, 'unknown operation "cards.burn"; known: bins.list cards.create'],
    [{ operations: { toString: {} } }, 'unknown operation "toString"'],
    [{ operations: { 'cards.get': 'GET /x' } }, 'cards.get must be an object'],
    [{ operations: { 'cards.get': { route: '/x' } } }, 'cards.get has an unknown key "route"'],
    [
      { operations: { 'cards.get': { method: 'get' } } },
      'cards.get.method must be one of GET, POST, PUT, PATCH, DELETE',
    ],
    [{ operations: { 'cards.get': { path: 'cards' } } }, 'cards.get.path must begin with / and hold no query'],
    [{ operations: { 'cards.get': { path: '/cards?x=1' } } }, 'cards.get.path must begin with /'],
    [{ operations: { 'cards.get': { path: '/c/{id}' } } }, 'cards.get.path has the unknown parameter {id}'],
    [{ operations: { 'cards.freeze': { body: 'frozen' } } }, 'cards.freeze.body must be an object'],
    [{ fields: { number: 'pan' } }, 'unknown field "number"; write <resource>.<field>'],
    [{ fields: { 'details.numbr': 'pan' } }, 'unknown field "details.numbr"'],
    [{ fields: { 'details.number': '' } }, 'details.number must be the name on the wire'],
    [{ headers: { signature: 'X-S' } }, 'unknown header "signature"; known: authorization idempotency_key'],
    [{ headers: { webhook_signature: 'X-S\r\nA: b' } }, 'webhook_signature must be a header name'],
    [{ headers: { idempotency_key: 'Authorization' } }, 'idempotency_key cannot be Authorization'],
    [{ headers: { idempotency_key: 'content-length' } }, 'idempotency_key cannot be content-length'],
    [{ operations: { 'cards.get': { path: '/cards/../{card_id}' } } }, 'cards.get.path leads out of the base address'],
    [{ operations: { 'cards.get': { path: '/%2e%2e/{card_id}' } } }, 'cards.get.path leads out of the base address'],
    [{ operations: { 'cards.get': { path: '/cards%2f{card_id}' } } }, 'cards.get.path leads out of the base address'],
    [{ operations: { 'cards.get': { path: '/%zz/{card_id}' } } }, 'cards.get.path is not percent-encoded'],
  ])('refuses %j', (value, expected) => {
    expect(refusal(value)).toContain(expected);
  });
});

describe('an operation stays what it is', () => {
  const refusalOf = (operations: object) => refusal({ operations });

  it.each([
    [{ 'bins.list': { method: 'POST' } }, 'bins.list.method must be GET: bins.list only reads'],
    [{ 'bins.list': { method: 'DELETE', path: '/cards' } }, 'bins.list.method must be GET'],
    [{ 'cards.details': { method: 'DELETE' } }, 'cards.details.method must be GET or POST'],
    [{ 'wallet.get': { body: { amount: 5 } } }, 'wallet.get.body cannot be: a GET carries none'],
    [{ 'cards.details': { body: { a: 1 } } }, 'cards.details.body cannot be: a GET carries none'],
  ])('a read may not write: %j', (operations, expected) => {
    expect(refusalOf(operations)).toContain(expected);
  });

  it.each([
    [{ 'cards.terminate': { method: 'GET' } }, 'cards.terminate.method must be POST, PUT, PATCH or DELETE'],
    [{ 'cards.create': { method: 'GET', path: '/new' } }, 'cards.create.method must be POST, PUT, PATCH or DELETE'],
  ])('a change is no GET: %j', (operations, expected) => {
    expect(refusalOf(operations)).toContain(expected);
  });

  it.each([
    [{ 'cards.details': { method: 'POST', path: '/cards/{card_id}/fund', body: { amount: 5 } } }, 'cards.fund'],
    [{ 'cards.details': { method: 'POST', path: '//CARDS/{card_id}/%66und/' } }, 'cards.fund'],
    [{ 'cards.details': { method: 'POST', path: '/cards/{card_id}/{card_id}' } }, 'cards.freeze'],
    [{ 'cards.freeze': { path: '/cards/{card_id}/terminate' } }, 'cards.terminate'],
    [
      {
        'cards.freeze': { method: 'DELETE', path: '/issued/{card_id}' },
        'cards.terminate': { method: 'DELETE', path: '/issued/{card_id}' },
      },
      'cards.terminate',
    ],
    [{ 'cards.get': { path: '/cards/{card_id}/details' } }, 'cards.details'],
    [{ 'cards.get': { path: '/cards/{card_id}/Details/' } }, 'cards.details'],
    // Where a write went before it was overridden, the service may still write.
    [
      {
        'cards.fund': { path: '/cards/{card_id}/load' },
        'cards.details': { method: 'POST', path: '/cards/{card_id}/fund' },
      },
      'cards.fund',
    ],
  ])('no route of another kind: %j', (operations, other) => {
    expect(refusalOf(operations)).toContain(`is the route of ${other}`);
  });

  it.each([
    [{ 'cards.fund': { body: { amount: 5000 } } }, 'cards.fund.body must not set amount: it is what the command asks'],
    [{ 'cards.create': { body: { metadata: {} } } }, 'cards.create.body must not set metadata'],
    [
      { 'cards.freeze': { method: 'PATCH', path: '/cards/{card_id}', body: { status: 'terminated' } } },
      'cards.freeze.body leads to terminated: that is cards.terminate',
    ],
    [
      { 'cards.unfreeze': { method: 'PATCH', path: '/cards/{card_id}', body: { to: [{ state: 'Terminated' }] } } },
      'cards.unfreeze.body leads to terminated',
    ],
  ])('fixed members do not change what is asked: %j', (operations, expected) => {
    expect(refusalOf(operations)).toContain(expected);
  });

  it.each([
    [{ 'cards.details': { method: 'POST' } }],
    [{ 'cards.details': { method: 'POST', path: '/cards/{card_id}/reveal', body: { reason: 'checkout' } } }],
    [{ 'wallet.get': { path: '/account' }, 'wallet.addresses': { path: '/account' } }],
    [{ 'webhooks.update': { method: 'POST' } }],
    [
      {
        'cards.freeze': { method: 'PATCH', path: '/cards/{card_id}', body: { status: 'frozen' } },
        'cards.unfreeze': { method: 'PATCH', path: '/cards/{card_id}', body: { status: 'active' } },
        'cards.terminate': { method: 'PATCH', path: '/cards/{card_id}', body: { status: 'terminated' } },
      },
    ],
  ])('what other services do is taken: %j', operations => {
    expect(refusalOf(operations)).toBe('read');
  });
});
