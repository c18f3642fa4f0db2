/** What a refusal proves: the table in the code, and the rule for each operation and word. */
import { describe, expect, test } from 'vitest';
import { RAW_OPERATIONS } from '../../src/contract/calls.ts';
import { REFUSAL_RULES, type RefusalFacts, ruleFor } from '../../src/contract/evidence.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { REFUSALS, type RefusalName } from '../../src/contract/refusals.ts';

const FACTS = { status: 409, inServiceForm: true, saysKeyReused: false, keyOfCaller: false } as const;

function weightOf(row: Operation, more: Partial<RefusalFacts>) {
  return ruleFor({ ...FACTS, row, ...more }).weight;
}

const WRITES: readonly (readonly [string, Operation])[] = Object.entries({ ...OPERATIONS, ...RAW_OPERATIONS }).filter(
  ([, { effect }]) => effect !== 'read' && effect !== 'reveals-secret',
);

test('every rule holds first for something', () => {
  const words = [undefined, ...(Object.keys(REFUSALS) as RefusalName[])];
  const found = WRITES.flatMap(([, row]) =>
    words.flatMap(refusal =>
      [401, 404, 409].flatMap(status =>
        [FACTS, { ...FACTS, saysKeyReused: true }, { ...FACTS, saysKeyReused: true, keyOfCaller: true }].map(facts =>
          ruleFor({ ...facts, row, refusal, status }),
        ),
      ),
    ),
  );
  const outside = ruleFor({ ...FACTS, row: OPERATIONS['cards.create'], inServiceForm: false });
  expect(REFUSAL_RULES.filter(rule => ![...found, outside].includes(rule))).toEqual([]);
});

describe.each(WRITES)('%s', (name, row) => {
  test('believes a word of its own row at once, unless it is that of the wanted state', () => {
    for (const refusal of row.fails ?? []) {
      const saysState = 'saysState' in REFUSALS[refusal] ? REFUSALS[refusal].saysState : undefined;
      const isWanted = saysState !== undefined && saysState === row.leadsTo?.value;
      expect([refusal, weightOf(row, { refusal })]).toEqual([refusal, isWanted ? 'none' : 'definite']);
    }
  });

  test('believes no word of another row, and nothing that is not the service', () => {
    if (name === 'api.write') return expect(weightOf(row, { refusal: 'card_expired' })).toBe('definite');
    const own: readonly string[] = row.fails ?? [];
    const isForeign = (word: string) => !own.includes(word) && !('everywhere' in REFUSALS[word as RefusalName]);
    const foreign = (['bin_not_found', 'card_expired', 'card_not_frozen', 'card_already_frozen'] as const).filter(
      isForeign,
    );
    expect(foreign.length).toBeGreaterThan(0);
    for (const refusal of foreign) expect([refusal, weightOf(row, { refusal })]).toEqual([refusal, 'none']);
    for (const status of [400, 401, 403, 404]) expect(weightOf(row, { status, inServiceForm: false })).toBe('none');
  });

  test('believes 401 and 403 in any word of the service, and no other word that nobody knows', () => {
    expect([401, 403, 409, 422].map(status => weightOf(row, { status }))).toEqual([
      'definite',
      'definite',
      'plausible',
      'plausible',
    ]);
  });

  test('"key reused" is possible for a key of the caller alone', () => {
    const facts = { refusal: 'idempotency_key_reused', saysKeyReused: true } as const;
    expect(weightOf(row, { ...facts, keyOfCaller: true })).toBe('plausible');
    expect(weightOf(row, facts)).toBe('none');
  });
});

test('one word for an empty wallet and an empty card is a word of a withdrawal (A-110)', () => {
  expect(weightOf(OPERATIONS['cards.withdraw'], { refusal: 'insufficient_funds' })).toBe('definite');
  expect(weightOf(OPERATIONS['cards.freeze'], { refusal: 'insufficient_funds' })).toBe('none');
});
