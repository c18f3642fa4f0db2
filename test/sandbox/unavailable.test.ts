/** What whoever is answered 503 is told, by what the database said. */
import { expect, it } from 'vitest';
import { PostgresRefusal } from '../../src/postgres/refusal.ts';
import { whyAway, whyUnavailable } from '../../src/sandbox/requests/unavailable.ts';
import { changeError } from '../../src/sandbox/serving/accounts/database.ts';
import { StoreBusy } from '../../src/sandbox/store/sql.ts';

it.each([
  [
    '53100',
    'could not extend file',
    /^The disk of the store is full; nothing of the request happened\. Try again when it has room\.$/,
  ],
  ['55P03', 'lock timeout', /^The store is busy; nothing of the request happened\.$/],
  ['57P01', 'terminating connection', /cannot use its database now; nothing of the request happened\./],
])('of SQLSTATE %s', (code, text, says) => {
  const error = new StoreBusy('busy', { cause: new PostgresRefusal(code, text) });
  expect(whyUnavailable(error, { isShared: true })).toMatch(says);
  expect(whyAway(error)).toBe(`${text} (SQLSTATE ${code})`);
});

it.each([
  ['53100', 'has no room left', 'when its disk has room again'],
  ['55P03', 'is busy', 'in a moment'],
])('a change of the accounts that was answered with SQLSTATE %s', (code, what, when) => {
  const error = changeError(new StoreBusy('busy', { cause: new PostgresRefusal(code, 'could not extend file') }), 'db');
  expect(error).toMatchObject({
    kind: 'unreachable',
    facts: {
      message: `the sandbox store db ${what}: could not extend file (SQLSTATE ${code})`,
      notes: [`Nothing happened. Repeat the command ${when}.`],
    },
  });
});
