/** A fault rule that is wrong is told by the member that is wrong. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FAULT_KINDS, faultProblem, oneFaultProblem } from '../../src/contract/sandbox/faults.ts';

const reset = { kind: 'reset' };

it.each<readonly [unknown, string]>([
  [[], 'the rule'],
  [null, 'the rule'],
  [{}, 'action'],
  [reset, 'action'],
  [{ action: 'reset' }, 'action'],
  [{ action: [reset] }, 'action'],
  [{ action: {} }, 'action.kind'],
  [{ action: { kind: 'explode' } }, 'action.kind'],
  [{ action: reset, when: 1 }, 'when'],
  [{ action: { ...reset, bytes: 1 } }, 'action.bytes'],
  [{ action: { kind: 'truncate' } }, 'action.bytes'],
  [{ action: { kind: 'truncate', bytes: -1 } }, 'action.bytes'],
  [{ action: { kind: 'status', code: 99 } }, 'action.code'],
  [{ action: { kind: 'status', code: 429, retry_after: 1.5 } }, 'action.retry_after'],
  [{ action: { kind: 'latency' } }, 'action'],
  [{ action: { kind: 'latency', fixed: 1, uniform: { min: 1, max: 2 } } }, 'action'],
  [{ action: { kind: 'latency', uniform: { min: 1 } } }, 'action.uniform.max'],
  [{ action: { kind: 'latency', uniform: { min: 3, max: 2 } } }, 'action.uniform'],
  [{ action: { kind: 'latency', lognormal: { median: 1, sigma: 'x' } } }, 'action.lognormal.sigma'],
  [{ action: reset, phase: 'after' }, 'phase'],
  [{ action: reset, times: 0 }, 'times'],
  [{ action: reset, expires_at: 'soon' }, 'expires_at'],
  [{ action: reset, match: { operation: 'cards.make' } }, 'match.operation'],
  [{ action: reset, match: { probability: 2 } }, 'match.probability'],
  [{ action: reset, match: { nth: 0 } }, 'match.nth'],
  [{ action: reset, match: { path: 'cards' } }, 'match.path'],
  [{ action: reset, match: { key_last4: 'sk_test_0123456789' } }, 'match.key_last4'],
  [{ action: reset, match: { event: 'card.created' } }, 'match.event'],
  [{ action: { kind: 'duplicate_delivery' }, match: { operation: 'cards.get' } }, 'match.operation'],
  [{ action: { kind: 'duplicate_delivery' }, phase: 'before' }, 'phase'],
])('%j: %s', (rule, member) => {
  expect(faultProblem(rule)?.field).toBe(member);
});

it('says something about every JSON value and never throws', () => {
  const part = fc.oneof(fc.jsonValue(), fc.constantFrom(...FAULT_KINDS.map(kind => ({ kind }))));
  const rule = fc.dictionary(fc.constantFrom('match', 'phase', 'action', 'times', 'expires_at', '__proto__'), part);
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), rule), value => {
      const problem = faultProblem(value);
      expect(problem === undefined || problem.text.length > 0).toBe(true);
      oneFaultProblem(value);
    }),
  );
});
