/**
 * Whatever faults come between: the books are whole, no idempotency record is half there, a key has one effect and
 * one answer (I1 to I16, I13). The caller repeats under its key until an answer gets through.
 */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OneFault, RequestAction } from '../../../src/contract/sandbox/faults.ts';
import { fakeService } from '../../support/fake-service.ts';
import { ask, type Served } from '../../support/sandbox-http.ts';
import { isWhole } from '../../support/whole.ts';

const action: fc.Arbitrary<RequestAction> = fc.oneof(
  fc.constantFrom(500, 503, 429, 408).map(code => ({ kind: 'status', code }) as const),
  fc.constant({ kind: 'reset' } as const),
  fc.constant({ kind: 'malformed' } as const),
  fc.nat(40).map(bytes => ({ kind: 'truncate', bytes }) as const),
  fc.constant({ kind: 'empty', status: 502 } as const),
  fc.constant({ kind: 'html' } as const),
  fc.constant({ kind: 'hang', max_ms: 0 } as const),
  fc.constant({ kind: 'latency', fixed: 1 } as const),
);
const fault: fc.Arbitrary<OneFault> = fc.record({
  phase: fc.constantFrom('before', 'after_commit'),
  action,
});

interface Step {
  readonly what: 'create' | 'fund' | 'withdraw' | 'terminate' | 'freeze';
  readonly amount: number;
  /** What meets the attempts before the one that gets through. */
  readonly faults: readonly OneFault[];
  /** Attempts in the air at the same time. */
  readonly together: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('create', 'fund', 'fund', 'withdraw', 'terminate', 'freeze'),
  amount: fc.integer({ min: 100, max: 9_000 }).map(value => value / 100),
  faults: fc.array(fault, { maxLength: 3 }),
  together: fc.integer({ min: 1, max: 3 }),
});

/** Of so many random histories. */
async function expectWholeBooks(numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async steps => {
      await using service = await fakeService();
      const bin = (await ask(service, { path: '/bins' })).json.data[0].id as string;
      const first = await ask(service, { method: 'POST', path: '/cards', body: { bin_id: bin, amount: 50 } });
      let card = first.json.id as string;
      for (const [index, { what, amount, faults, together }] of steps.entries()) {
        const moves = what === 'terminate' || what === 'freeze' ? {} : { body: { amount } };
        const request =
          what === 'create'
            ? { path: '/cards', body: { bin_id: bin, amount } }
            : { path: `/cards/${card}/${what}`, ...moves };
        const once = { method: 'POST', ...request, idempotencyKey: `step-${index}` };
        const before = await moneyOf(service);
        for (const one of faults) {
          const headers = { 'x-sandbox-fault': JSON.stringify(one) };
          const tries = Array.from({ length: together }, () =>
            ask(service, { ...once, headers }).catch(() => undefined),
          );
          await Promise.all(tries);
        }
        const answer = await ask(service, once);
        const again = await ask(service, once);
        expect(again.status, `${what} again`).toBe(answer.status);
        if (answer.status < 400) expect(again.text).toBe(answer.text);
        const after = await moneyOf(service);
        if (answer.status === 201) card = answer.json.id;
        // One effect at most: the wallet moved by the amount, once, or not at all.
        if (what !== 'terminate') {
          const moved = Math.abs(Math.round((after - before) * 100));
          expect([0, Math.round(amount * 100)]).toContain(moved);
          expect(moved > 0).toBe(answer.status < 400 && what !== 'freeze');
        }
      }
      const check = await ask(service, { method: 'POST', path: '/_sandbox/v1/ledger/check' });
      expect(check.json.faults).toEqual([]);
      const half = await service.store.read(sql =>
        sql.all(`select scope from idempotency where state = 'running' or (state = 'done' and body is null)`),
      );
      expect(half).toEqual([]);
      expect(service.faults).toEqual([]);
    }),
    { numRuns },
  );
}

async function moneyOf(service: Served): Promise<number> {
  return (await ask(service, { path: '/wallet' })).json.balance as number;
}

it('no fault leaves the books broken or a record half stored', { timeout: 180_000 }, () =>
  expectWholeBooks(isWhole ? 200 : 10),
);
