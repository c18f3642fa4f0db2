import { describe, expect, it } from 'vitest';
import { asCliError, CliError, ERROR_KINDS, type ErrorKind } from '../../src/core/errors.ts';

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

describe('errors', () => {
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
