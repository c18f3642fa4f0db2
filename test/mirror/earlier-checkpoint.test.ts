/** Cuts that were kept; `earlier-checkpoint.full.ts` asks other accounts again. */
import { describe, expect, it } from 'vitest';
import type { Reconciliation } from '../../src/mirror/reconcile.ts';
import { played } from '../books/over-http.ts';
import { isWhole } from '../support/whole.ts';
import { QUIET, saidAgain } from './earlier-checkpoint.ts';

describe('two checkpoints that were kept', () => {
  it('say again what was said when the later one was made', () => saidAgain('auth-single', 2));

  it.runIf(isWhole)('a span of several checkpoints is the sum of its parts', async () => {
    await using account = await played('default', 9);
    const mirror = account.mirror('copy');
    const made: Reconciliation[] = [];
    for (let checkpoint = 0; checkpoint < 4; checkpoint += 1) {
      for (let left = 12; left > 0; left -= 1) await account.step();
      // Nothing stays open, so that every checkpoint is exact.
      await account.advance('40d');
      made.push(await mirror.reconcile(QUIET));
    }
    const [first, ...rest] = made;
    const last = made.at(-1);
    if (first === undefined || last === undefined) throw new Error('no cuts');
    const all = await mirror.reconcile({ ...QUIET, from: first.checkpoint.cut_id, to: last.checkpoint.cut_id });
    const sum = (of: (each: Reconciliation) => number) => rest.reduce((total, each) => total + of(each), 0);
    expect(all.verdict).toBe('balanced');
    expect(all.wallet.funded).toBe(sum(each => each.wallet.funded));
    expect(all.wallet.deposits).toBe(sum(each => each.wallet.deposits));
    const settled = ({ changes }: Reconciliation) => changes.reduce((total, each) => total + each.settled, 0);
    expect(settled(all)).toBe(sum(settled));
    expect(settled(all)).toBeGreaterThan(0);
  });
});
