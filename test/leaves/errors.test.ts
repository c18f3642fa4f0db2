import { describe, expect, it } from 'vitest';
import { asCliError, CliError, ERROR_KINDS, type ErrorKind, errorDocument } from '../../src/core/errors.ts';

/** The exit codes that scripts rely on, by hand. */
const EXIT_CODES: Readonly<Record<ErrorKind, number>> = {
  internal: 1,
  usage: 2,
  not_confirmed: 3,
  not_authenticated: 4,
  not_found: 5,
  refused: 6,
  rate_limited: 7,
  wait_expired: 8,
  partly_failed: 9,
  insufficient_funds: 10,
  outcome_unknown: 11,
  unreachable: 12,
  contract_mismatch: 13,
  guarded: 14,
  check_failed: 15,
  differs: 16,
  pending_approval: 17,
  interrupted: 130,
  terminated: 143,
};

describe('kinds', () => {
  it('have the documented exit codes, none twice', () => {
    const found = Object.fromEntries(Object.entries(ERROR_KINDS).map(([kind, { exit }]) => [kind, exit]));
    expect(found).toEqual(EXIT_CODES);
    expect(new Set(Object.values(found)).size).toBe(Object.keys(found).length);
  });

  it('let a script repeat on 7 and 12 alone', () => {
    const retryable = Object.entries(ERROR_KINDS).flatMap(([, row]) => ('retryable' in row ? [row.exit] : []));
    expect(retryable).toEqual([7, 12]);
  });
});

describe('the JSON error', () => {
  it('has the documented keys in the documented order', () => {
    const error = new CliError('insufficient_funds', {
      op: 'op_1',
      idempotencyKey: 'key_1',
      service: { error: 'insufficient_funds', message: 'Too low.', code: 400, request_id: 'req_1' },
      httpStatus: 400,
      operation: 'cards.fund',
      outcome: 'refused',
      hint: 'cardwright wallet addresses',
      notes: ['a line for people'],
      message: 'the wallet is too low',
    });
    expect(JSON.stringify(errorDocument(error))).toBe(
      '{"error":{"kind":"insufficient_funds","message":"the wallet is too low","hint":"cardwright wallet addresses",' +
        '"notes":["a line for people"],' +
        '"exit_code":10,"retryable":false,"outcome":"refused","operation":"cards.fund","http_status":400,' +
        '"service":{"error":"insufficient_funds","message":"Too low.","code":400,"request_id":"req_1"},' +
        '"idempotency_key":"key_1","op":"op_1"}}',
    );
  });

  it('never holds a cause', () => {
    const error = new CliError('internal', { message: 'no', cause: new Error('sk_test_secret') });
    expect(JSON.stringify(errorDocument(error))).not.toContain('sk_test_secret');
  });
});

describe('errors', () => {
  it('keep their kind and gain facts', () => {
    const cause = new Error('cause');
    const error = new CliError('refused', { message: 'no', cause, operation: 'cards.fund' });
    const more = error.with({ message: 'no, because', op: 'op_1' });
    expect(more).toMatchObject({ kind: 'refused', message: 'no, because', exitCode: 6 });
    expect(more.facts).toMatchObject({ operation: 'cards.fund', op: 'op_1' });
    expect(more.cause).toBe(cause);
    expect(error.facts.op).toBeUndefined();
  });

  it('are bugs when nobody threw them on purpose', () => {
    const own = new CliError('usage', { message: 'wrong' });
    expect(asCliError(own)).toBe(own);
    expect(asCliError(new TypeError('x is undefined'))).toMatchObject({
      kind: 'internal',
      exitCode: 1,
      message: 'unexpected: x is undefined',
    });
    for (const thrown of ['text', 7, null, undefined]) expect(asCliError(thrown).kind).toBe('internal');
  });
});
