/** Two checkpoints that were kept, asked again. */
import { expect } from 'vitest';
import type { DialectName } from '../../src/contract/sandbox/faults.ts';
import type { Reconciliation } from '../../src/mirror/reconcile.ts';
import { played } from '../books/over-http.ts';

export const QUIET = { patienceMs: 0, report: () => '' } as const;

/** What a reconciliation said. */
function told({ verdict, findings, changes, wallet, from, checkpoint, residual }: Reconciliation) {
  const byCard = (a: { card_id: string }, b: { card_id: string }) => (a.card_id < b.card_id ? -1 : 1);
  return {
    verdict,
    residual,
    wallet,
    span: [from?.cut_id, checkpoint.cut_id],
    findings: findings.map(each => JSON.stringify(each)).sort(),
    changes: [...changes].sort(byCard),
  };
}

/** Each of five checkpoints says again what was said when it was made. */
export async function saidAgain(dialect: DialectName, seed: number): Promise<void> {
  await using account = await played(dialect, seed);
  const mirror = account.mirror('copy');
  const made: Reconciliation[] = [];
  for (let checkpoint = 0; checkpoint < 5; checkpoint += 1) {
    for (let left = 10; left > 0; left -= 1) await account.step();
    if (checkpoint === 3) await account.advance('40d');
    made.push(await mirror.reconcile(QUIET));
  }
  expect(new Set(made.map(each => each.verdict)).size).toBeGreaterThan(1);
  const { last_exact_cut } = await mirror.status();
  for (const each of made)
    expect(told(await mirror.reconcile({ ...QUIET, to: each.checkpoint.cut_id }))).toEqual(told(each));
  // Nothing was kept of it.
  expect(await mirror.status()).toMatchObject({ last_exact_cut });
  using copy = await mirror.read();
  expect(copy.db.all('select cut_id from checkpoint')).toHaveLength(made.length);
}
