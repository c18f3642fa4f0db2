/** A key of the caller's own that another machine has used already: the first request from here may be a repeat. */
import { expect, test } from 'vitest';
import { type KeyPolicy, refusal } from '../support/card-books.ts';
import { arena, TEST_KEY } from './arena.ts';

const LINES = {
  create: 'cards create --bin bin_1 --amount 25 --idempotency-key order-7',
  fund: 'cards fund card_1 --amount 25 --idempotency-key order-7',
  withdraw: 'cards withdraw card_1 --amount 25 --idempotency-key order-7',
} as const;
const POLICIES: Readonly<Record<string, KeyPolicy>> = {
  honoured: 'honoured',
  '409 duplicate_request': { repeated: refusal(409, 'duplicate_request') },
  '409 idempotency_key_reused': { repeated: refusal(409, 'idempotency_key_reused') },
  '422 idempotency_key_reused': { repeated: refusal(422, 'idempotency_key_reused') },
  '400 odd word': { repeated: refusal(400, 'not_this_way') },
};

test.each(Object.entries(POLICIES))('a repeated key is answered: %s', async (_name, keys) => {
  await using here = await arena();
  for (const [operation, line] of Object.entries(LINES)) {
    await using one = await here.enter('unknown', 'test');
    await using other = await here.enter('unknown', 'test', { keys, cards: [{}] });
    expect((await one.run(line)).code, operation).toBe(0);
    // That nothing happened is what nobody may say: under this key it did.
    expect([0, 11], operation).toContain((await other.run(line)).code);
    const { effects } = here.service.books(TEST_KEY);
    expect(effects.map(each => each.operation)).toEqual([operation]);
  }
});
