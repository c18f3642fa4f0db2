/**
 * A refusal of a request that was sent before says nothing about the first sending
 * (docs/design/reliability.md, section 1). `refused-repeats.full.ts` has every refusal of every change.
 */
import { describe, expect, test } from 'vitest';
import { scriptedWorld } from '../support/scripted-world.ts';
import { MONEY, REFUSALS, refusal, refusedLater } from './refused-repeats.ts';

// How a refusal is understood does not depend on what was asked for; what is looked for behind it does.
const DUPLICATE = refusal(409, 'duplicate_request');
const OF_TRANSFERS = [DUPLICATE, refusal(400, 'insufficient_funds'), refusal(422, 'idempotency_key_reused')];
refusedLater({ create: REFUSALS, fund: OF_TRANSFERS, withdraw: [DUPLICATE], terminate: [DUPLICATE] });

test.each(MONEY.slice(0, 3))(
  '%s: never executed, and refused for want of money: settled when it was looked for',
  async (line, action) => {
    await using s = await scriptedWorld({ keys: 'honoured' });
    const error = action === 'withdraw' ? 'insufficient_card_funds' : 'insufficient_funds';
    s.service.script = write => (write.times === 1 ? 'lost' : refusal(400, error));
    const first = await s.run(line);
    expect(first.code).toBe(11);
    const resumed = await s.run(`ops resume ${first.error['op']}`);
    expect([resumed.code, s.service.effects]).toEqual([action === 'withdraw' ? 6 : 10, []]);
  },
);

describe('a key of the caller’s own, used by another machine before', () => {
  const own = '--idempotency-key order-7';

  test.each([refusal(409, 'duplicate_request'), refusal(400, 'duplicate_transaction'), refusal(409, 'conflict')])(
    'the first sending is refused with %j: not told as "nothing happened"',
    async answer => {
      await using s = await scriptedWorld();
      s.service.script = () => answer;
      for (const line of ['cards create --bin bin_1 --amount 25', 'cards fund card_old --amount 25']) {
        const { code, error } = await s.run(`${line} ${own}-${line.length}`);
        expect([code, error['outcome']]).toEqual([11, 'unknown']);
      }
    },
  );

  test('a create under a key that was used: its marker makes every body another, so that says nothing', async () => {
    await using s = await scriptedWorld();
    s.service.script = () => refusal(422, 'idempotency_key_reused');
    expect((await s.run(`cards create --bin bin_1 --amount 25 ${own}`)).code).toBe(11);
    // A service that does not repeat its answers may say it of the very same transfer.
    expect((await s.run(`cards fund card_old --amount 25 ${own}-2`)).code).toBe(11);
  });

  test('a transfer under a key that was used: where keys are known to be honoured, it was used for another one', async () => {
    await using s = await scriptedWorld({ keys: 'honoured' });
    s.service.script = () => refusal(422, 'idempotency_key_reused');
    const { code, error } = await s.run(`cards fund card_old --amount 25 ${own}`);
    expect([code, error['outcome']]).toEqual([6, 'refused']);
  });
});

describe('money that was moved, and refused in words nobody knows', () => {
  const odd = [refusal(400, 'odd_word'), refusal(409, 'odd_word'), refusal(422, 'idempotency_key_reused')];

  test.each(MONEY.slice(0, 3).flatMap(([line, action]) => odd.map(answer => [line, action, answer] as const)))(
    '%s (%s) answered with %j: looked at before it is told',
    async (line, action, answer) => {
      await using s = await scriptedWorld();
      s.service.script = write => {
        write.execute();
        return answer;
      };
      expect((await s.run(line)).code).toBe(action === 'create' ? 0 : 11);
      expect(s.service.effects).toEqual([action]);
    },
  );

  test('not moved, it stays refused', async () => {
    await using s = await scriptedWorld();
    s.service.script = () => refusal(409, 'odd_word');
    for (const [line] of MONEY.slice(0, 3)) expect((await s.run(line)).code).toBe(6);
  });
});

describe('a change of state that was made, and refused in words nobody knows', () => {
  test.each(
    ['freeze', 'unfreeze', 'terminate'].flatMap(action =>
      [400, 403, 404, 409, 410, 422].map(status => [action, status] as const),
    ),
  )('cards %s answered with %i: reading tells', async (action, status) => {
    await using s = await scriptedWorld();
    const card = s.service.cards.get('card_old');
    if (card !== undefined && action === 'unfreeze') card.status = 'frozen';
    s.service.script = write => {
      write.execute();
      return refusal(status, 'card_closed_for_good');
    };
    const { code, out } = await s.run(`cards ${action} card_old --yes`);
    expect([code, JSON.parse(out).changed]).toEqual([0, false]);
  });

  test('refused and not made stays refused', async () => {
    await using s = await scriptedWorld();
    s.service.script = () => refusal(409, 'not_today');
    expect((await s.run('cards terminate card_old --yes')).code).toBe(6);
  });
});
