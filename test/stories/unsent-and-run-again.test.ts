/**
 * A command that ended by itself before anything was sent, and is run again. It was promised that it may be: exit 12 is
 * `retryable`, and its outcome is `not_sent`.
 */
import { expect, test } from 'vitest';
import { type ScriptedWorld, scriptedWorld } from '../support/scripted-world.ts';

const LINES = [
  ['cards fund card_old --amount 25', 'fund'],
  ['cards create --bin bin_1 --amount 25', 'create'],
  ['cards fund card_old --amount 25 --idempotency-key order-7', 'fund'],
] as const;

/** Its op is over, and the same command does it once. */
async function runAgain(s: ScriptedWorld, line: string, action: string): Promise<void> {
  const ops = JSON.parse((await s.run('ops list')).out).data as readonly { readonly state: string }[];
  expect(ops.map(({ state }) => state)).toEqual(ops.map(() => 'not_sent'));
  expect(s.service.asked).toEqual([]);
  expect((await s.run(line)).code).toBe(0);
  expect(s.service.effects()).toEqual([action]);
}

test.each(LINES)('%s, nobody there: run again twice, then it is done once', async (line, action) => {
  await using s = await scriptedWorld();
  await s.service.gone();
  for (const _ of [1, 2]) {
    const { code, error } = await s.run(line);
    expect([code, error['outcome'], error['retryable']]).toEqual([12, 'not_sent', true]);
  }
  await s.service.back();
  await runAgain(s, line, action);
});
