import { describe, expect, it } from 'vitest';
import type { Reconciliation } from '../../src/mirror/reconcile.ts';
import { played } from '../books/over-http.ts';

const QUIET = { patienceMs: 0, report: () => '' } as const;

/** What a reconciliation said. */
function told({ verdict, findings, changes, wallet, from, cut, residual }: Reconciliation) {
  const byCard = (a: { card_id: string }, b: { card_id: string }) => (a.card_id < b.card_id ? -1 : 1);
  return {
    verdict,
    residual,
    wallet,
    span: [from?.cut_id, cut.cut_id],
    findings: findings.map(each => JSON.stringify(each)).sort(),
    changes: [...changes].sort(byCard),
  };
}

describe('two cuts that were kept', () => {
  it.each([
    ['default', 1],
    ['minimal', 7],
    ['auth-single', 2],
  ] as const)('say again what was said when the later one was made: %s, seed %i', async (dialect, seed) => {
    await using account = await played(dialect, seed);
    const mirror = account.mirror('copy');
    const made: Reconciliation[] = [];
    for (let cut = 0; cut < 5; cut += 1) {
      for (let left = 10; left > 0; left -= 1) await account.step();
      if (cut === 3) await account.advance('40d');
      made.push(await mirror.reconcile(QUIET));
    }
    expect(new Set(made.map(each => each.verdict)).size).toBeGreaterThan(1);
    const { last_exact_cut } = await mirror.status();
    for (const each of made)
      expect(told(await mirror.reconcile({ ...QUIET, to: each.cut.cut_id }))).toEqual(told(each));
    // Nothing was kept of it.
    expect(await mirror.status()).toMatchObject({ last_exact_cut });
    using copy = await mirror.read();
    expect(copy.db.all('select cut_id from cut')).toHaveLength(made.length);
  });

  it('a span of several cuts is the sum of its parts', async () => {
    await using account = await played('default', 9);
    const mirror = account.mirror('copy');
    const made: Reconciliation[] = [];
    for (let cut = 0; cut < 4; cut += 1) {
      for (let left = 12; left > 0; left -= 1) await account.step();
      // Nothing stays open, so that every cut is exact.
      await account.advance('40d');
      made.push(await mirror.reconcile(QUIET));
    }
    const [first, ...rest] = made;
    const last = made.at(-1);
    if (first === undefined || last === undefined) throw new Error('no cuts');
    const all = await mirror.reconcile({ ...QUIET, from: first.cut.cut_id, to: last.cut.cut_id });
    const sum = (of: (each: Reconciliation) => number) => rest.reduce((total, each) => total + of(each), 0);
    expect(all.verdict).toBe('balanced');
    expect(all.wallet.funded).toBe(sum(each => each.wallet.funded));
    expect(all.wallet.deposits).toBe(sum(each => each.wallet.deposits));
    const settled = ({ changes }: Reconciliation) => changes.reduce((total, each) => total + each.settled, 0);
    expect(settled(all)).toBe(sum(settled));
    expect(settled(all)).toBeGreaterThan(0);
  });

  it('refuses a base that is not before, and a cut that is not there', async () => {
    await using account = await played('default', 4);
    const mirror = account.mirror('copy');
    const first = await mirror.reconcile(QUIET);
    await account.step();
    const second = await mirror.reconcile(QUIET);
    const [from, to] = [second.cut.cut_id, first.cut.cut_id];
    await expect(mirror.reconcile({ ...QUIET, from, to })).rejects.toMatchObject({ kind: 'usage' });
    await expect(mirror.reconcile({ ...QUIET, to: 'cut_none' })).rejects.toMatchObject({ kind: 'usage' });
  });
});
