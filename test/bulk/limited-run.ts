/** Many rows before a service that lets three requests through a second, however many ask. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { serviceWorld } from './service-world.ts';

const CARDS = 50;
/** Fewer than there are workers: at each turn most of them are told to wait once more. */
const PLACES = 3;

/**
 * Runs so many rows of fund in one file and expects each of them done; resolves to the requests of a row, beside those that
 * were turned away and the looks that these cost.
 */
export async function limitedRun(rows: number): Promise<number> {
  await using here = await serviceWorld({ wallet: 20_000 });
  const made = await here.creates(
    'cards.csv',
    Array.from({ length: CARDS }, () => 1),
  );
  expect((await here.run(`cards create --file ${made} --yes --concurrency 64`)).code).toBe(0);
  // No two rows are the same, so that the sum tells whether one was done twice and another not at all.
  const amounts = Array.from({ length: rows }, (_, row) => 1 + row / 100);
  const lines = amounts.map((amount, row) => `card_${(row % CARDS) + 1},${amount.toFixed(2)}`);
  await writeFile(join(here.folder, 'fund.csv'), ['card_id,amount', ...lines, ''].join('\n'));
  const before = here.proxy.seen.length;
  here.proxy.allow(PLACES);
  const { code, out, err } = await here.run('cards fund --file fund.csv --yes -o ndjson', {
    longestPause: 60_000,
    // A pause is longer than an answer takes, and a long one lets more through.
    async onPause(ms) {
      await here.proxy.answered();
      here.proxy.allow(PLACES * Math.max(1, ms / 1_000));
    },
  });
  const outcomes = out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as { outcome: string });
  expect([code, err.trimEnd().split('\n').at(-1)]).toEqual([0, expect.stringContaining(`${rows} of ${rows} done`)]);
  expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(rows);
  here.proxy.allow(Number.POSITIVE_INFINITY);
  const cents = amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0);
  expect(Math.round((await here.wallet()) * 100)).toBe((20_000 - CARDS) * 100 - cents);
  const { throttled = 0 } = here.proxy.happened();
  expect(throttled).toBeGreaterThan(rows / 2);
  // Each write that was told to come later is looked for once before it comes again.
  const looks = here.proxy.seen.slice(before).filter(({ method }) => method === 'POST').length - rows;
  return (here.proxy.seen.length - before - throttled - looks) / rows;
}
