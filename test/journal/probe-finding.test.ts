/** What one key used twice teaches, as a table: class of the second answer, its result, effects by reading. */
import { expect, test } from 'vitest';
import type { Delivery } from '../../src/contract/service.ts';
import { CliError } from '../../src/core/errors.ts';
import { findingOf } from '../../src/journal/execution/probe-finding.ts';

const known = {
  sent: true,
  attempts: 1,
  throttled: false,
  doubted: false,
  unlooked: false,
  resentOnCheck: false,
  changed: true,
  reread: false,
};
const error = new CliError('outcome_unknown', { message: 'said otherwise' });
const CLASSES: readonly Delivery['class'][] = [
  'done',
  'unverified',
  'not_sent',
  'refused',
  'throttled',
  'in_progress',
  'ambiguous',
];
const first: Delivery = { ...known, class: 'done', result: { id: 'card_1' } };

test('honoured in one case of all: a success, the same result, one effect', () => {
  const found: string[] = [];
  for (const outcome of CLASSES) {
    for (const result of [{ id: 'card_1' }, { id: 'card_2' }, {}, undefined]) {
      for (const reread of [false, true]) {
        for (const effects of [0, 1, 2, 3, 0.5, 'the list could not be read']) {
          const second = { ...known, class: outcome, result, reread, error };
          const { key, text } = findingOf({ first, second, effects, shown: ['id'] });
          expect(text).not.toBe('');
          expect(key === 'ignored').toBe(effects === 2);
          if (key === 'honoured') found.push(JSON.stringify([outcome, result, reread, effects]));
        }
      }
    }
  }
  expect(found).toEqual([JSON.stringify(['done', { id: 'card_1' }, false, 1])]);
});

test('a first answer that was read again has nothing to compare with', () => {
  const shown = ['card_balance', 'wallet_balance'];
  const result = { card_balance: 2, wallet_balance: 9 };
  const one: Delivery = { ...known, class: 'done', result };
  expect(findingOf({ first: one, second: one, effects: 1, shown }).key).toBe('honoured');
  expect(findingOf({ first: { ...one, reread: true }, second: one, effects: 1, shown }).key).toBe('unknown');
  const spent = { ...one, result: { ...result, wallet_balance: 8 } };
  expect(findingOf({ first: one, second: spent, effects: 1, shown })).toMatchObject({
    key: 'unknown',
    text: expect.stringContaining('another wallet_balance'),
  });
});
