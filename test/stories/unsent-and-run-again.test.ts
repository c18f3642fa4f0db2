/**
 * A command that ended by itself before anything was sent, and is run again. It was promised that it may be: exit 12 is
 * `retryable`, and its outcome is `not_sent`.
 */
import { expect, test } from 'vitest';
import { stoppedBy } from '../../src/cli/run.ts';
import type { Answer } from '../support/scripted-service.ts';
import { type ScriptedWorld, scriptedWorld } from '../support/scripted-world.ts';

const no = (status: number, error: string): Answer => ({ status, body: { error, message: error, code: status } });

const LINES = [
  ['cards fund card_old --amount 25', 'fund'],
  ['cards withdraw card_old --amount 25', 'withdraw'],
  ['api POST /cards/card_old/fund -F amount:=25', 'fund'],
  ['cards create --bin bin_1 --amount 25', 'create'],
  ['cards terminate card_old --yes', 'terminate'],
  ['cards fund card_old --amount 25 --idempotency-key order-7', 'fund'],
] as const;

/** Its op is over, and the same command does it once. */
async function runAgain(s: ScriptedWorld, line: string, action: string): Promise<void> {
  const ops = JSON.parse((await s.run('ops list')).out).data as readonly { readonly state: string }[];
  expect(ops.map(({ state }) => state)).toEqual(ops.map(() => 'finished'));
  expect(s.service.asked).toEqual([]);
  expect((await s.run(line)).code).toBe(0);
  expect(s.service.effects).toEqual([action]);
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

const MOVING = [LINES[0], LINES[1]] as const;

test.each([[...MOVING[0], 503, 12] as const, [...MOVING[1], 401, 4] as const])(
  '%s (%s), the reading before is answered %i: exit %i, and it may be run again',
  async (line, action, status, exit) => {
    for (const path of ['/cards/card_old', '/wallet']) {
      await using s = await scriptedWorld();
      s.service.reads = asked => (asked === path ? no(status, 'odd') : undefined);
      for (const _ of [1, 2]) {
        const { code, error } = await s.run(line);
        expect([code, error['outcome']]).toEqual([exit, 'not_sent']);
      }
      s.service.reads = () => undefined;
      await runAgain(s, line, action);
    }
  },
);

test.each(MOVING)('%s (%s), Ctrl-C before it is sent: it may be run again', async (line, action) => {
  await using s = await scriptedWorld();
  const person = new AbortController();
  s.service.reads = () => {
    person.abort(stoppedBy('interrupted'));
    return undefined;
  };
  const { code } = await s.here.run(`${line} --json`, { signal: person.signal });
  expect(code).toBe(130);
  s.service.reads = () => undefined;
  await runAgain(s, line, action);
});
