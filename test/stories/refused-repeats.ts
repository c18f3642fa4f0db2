/** Changes that were done, their answer lost, and that are refused when they are asked for again. */
import { describe, expect, test } from 'vitest';
import type { Answer, Script } from '../support/scripted-service.ts';
import { scriptedWorld } from '../support/scripted-world.ts';

export const refusal = (status: number, error: string): Answer => ({
  status,
  body: { error, message: error, code: status },
});

/** How services answer a key that they know, or check before they look at it. */
export const REFUSALS: readonly Answer[] = [
  refusal(409, 'duplicate_request'),
  refusal(409, 'request_already_processed'),
  refusal(409, 'conflict'),
  refusal(400, 'duplicate_request'),
  refusal(400, 'invalid_request'),
  refusal(400, 'insufficient_funds'),
  refusal(422, 'idempotency_key_reused'),
  refusal(422, 'validation_error'),
  refusal(404, 'not_found'),
  refusal(404, 'bin_not_found'),
  refusal(410, 'gone'),
];

/** Executed, and its answer lost; every later one is refused. */
const doneThenRefused =
  (answer: Answer): Script =>
  write => {
    if (write.times > 1) return answer;
    write.execute();
    return 'lost';
  };

export const MONEY = [
  ['cards create --bin bin_1 --amount 25', 'create'],
  ['cards fund card_old --amount 25', 'fund'],
  ['cards withdraw card_old --amount 25', 'withdraw'],
  ['cards terminate card_old --yes', 'terminate'],
] as const;

type Action = (typeof MONEY)[number][1];

/** What is refused says nothing about the first sending. */
export function refusedLater(refusals: Readonly<Record<Action, readonly Answer[]>>): void {
  describe.each(MONEY.filter(([, action]) => refusals[action].length > 0))('%s', (line, action) => {
    test.each(refusals[action])('done, its answer lost, asked again and refused with %j', async answer => {
      await using s = await scriptedWorld({ keys: 'honoured' });
      s.service.script = doneThenRefused(answer);
      const { code, error } = await s.run(line);
      // What can be looked for is found; of a transfer only balances tell, and they prove nothing alone.
      expect(code).toBe(action === 'fund' || action === 'withdraw' ? 11 : 0);
      expect(s.service.effects).toEqual([action]);
      if (code === 0) return;
      expect(error['outcome']).toBe('unknown');
      expect((error['evidence'] as Record<string, unknown>)['verdict']).toBe('probably done');
      const resumed = await s.run(`ops resume ${error['op']}`);
      expect([resumed.code, s.service.effects]).toEqual([11, [action]]);
    });
  });
}
