import { describe, expect, it } from 'vitest';
import { NO_OVERRIDES, readOverrides } from '../../src/contract/overrides.ts';
import { CliError } from '../../src/errors.ts';

/** The example of CLI.md, "Contract overrides". */
const EXAMPLE = `{
  "operations": {
    "cards.terminate": { "method": "DELETE", "path": "/cards/{card_id}" },
    "cards.freeze": { "method": "PATCH", "path": "/cards/{card_id}", "body": { "status": "frozen" } },
    "transactions.list": { "path": "/history" }
  },
  "fields": { "details.number": "card_number" },
  "headers": { "webhook_signature": "X-Signature", "idempotency_key": "X-Idempotency-Key" }
}`;

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
  it('reads the documented example', () => {
    expect(readOverrides(EXAMPLE, 'mine.json')).toEqual({
      operations: {
        'cards.terminate': { method: 'DELETE', path: '/cards/{card_id}' },
        'cards.freeze': { method: 'PATCH', path: '/cards/{card_id}', body: { status: 'frozen' } },
        'transactions.list': { path: '/history' },
      },
      fields: { 'details.number': 'card_number' },
      headers: { webhook_signature: 'X-Signature', idempotency_key: 'X-Idempotency-Key' },
    });
  });

  it('takes a file that changes nothing', () => {
    expect(readOverrides('{}', 'mine.json')).toEqual(NO_OVERRIDES);
  });

  it('lets a query parameter stand in a path, as one known other form has it (A-10)', () => {
    const path = '/cards/{card_id}/transactions';
    expect(readOverrides(JSON.stringify({ operations: { 'transactions.list': { path } } }), 'f').operations).toEqual({
      'transactions.list': { path },
    });
  });

  it.each([
    ['{', 'not JSON'],
    ['', 'not JSON'],
    ['[]', 'the file must be an object'],
    ['null', 'the file must be an object'],
    [{ operation: {} }, 'unknown key "operation"'],
    [{ operations: [] }, 'operations must be an object'],
    [{ fields: 'x' }, 'fields must be an object'],
    [{ headers: 1 }, 'headers must be an object'],
    [{ operations: { 'cards.burn': {} } }, 'unknown operation "cards.burn"; known: bins.list cards.create'],
    [{ operations: { toString: {} } }, 'unknown operation "toString"'],
    [{ operations: { 'cards.get': 'GET /x' } }, 'cards.get must be an object'],
    [{ operations: { 'cards.get': { route: '/x' } } }, 'cards.get has an unknown key "route"'],
    [
      { operations: { 'cards.get': { method: 'get' } } },
      'cards.get.method must be one of GET, POST, PUT, PATCH, DELETE',
    ],
    [{ operations: { 'cards.get': { method: ['GET'] } } }, 'cards.get.method must be one of'],
    [{ operations: { 'cards.get': { path: 'cards' } } }, 'cards.get.path must begin with / and hold no query'],
    [{ operations: { 'cards.get': { path: '/cards?x=1' } } }, 'cards.get.path must begin with /'],
    [{ operations: { 'cards.get': { path: '/a b' } } }, 'cards.get.path must begin with /'],
    [{ operations: { 'cards.get': { path: 7 } } }, 'cards.get.path must begin with /'],
    [{ operations: { 'cards.get': { path: '/c/{id}' } } }, 'cards.get.path has the unknown parameter {id}'],
    [{ operations: { 'cards.get': { path: '/c/{}' } } }, 'cards.get.path has the unknown parameter {}'],
    [{ operations: { 'cards.freeze': { body: 'frozen' } } }, 'cards.freeze.body must be an object'],
    [{ fields: { number: 'pan' } }, 'unknown field "number"; write <resource>.<field>'],
    [{ fields: { 'detail.number': 'pan' } }, 'unknown field "detail.number"'],
    [{ fields: { 'details.': 'pan' } }, 'unknown field "details."'],
    [{ fields: { 'details.number': '' } }, 'details.number must be the name on the wire'],
    [{ fields: { 'details.number': 4 } }, 'details.number must be the name on the wire'],
    [{ headers: { signature: 'X-S' } }, 'unknown header "signature"; known: authorization idempotency_key'],
    [{ headers: { webhook_signature: 'X S' } }, 'webhook_signature must be a header name'],
    [{ headers: { webhook_signature: 'X-S\r\nA: b' } }, 'webhook_signature must be a header name'],
    [{ headers: { idempotency_key: 'Authorization' } }, 'idempotency_key cannot be Authorization'],
    [{ headers: { idempotency_key: 'content-length' } }, 'idempotency_key cannot be content-length'],
    [{ headers: { webhook_signature: null } }, 'webhook_signature must be a header name'],
  ])('refuses %j', (value, expected) => {
    expect(refusal(value)).toContain(expected);
  });
});
