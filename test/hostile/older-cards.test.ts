/**
 * A cache, or a service that tells duplicates by their content, answers a create with the card of an earlier one. That card
 * is done in another op of the journal, and is no new one: nothing is sent again, and the error names both.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { Answered, View } from '../support/card-books.ts';
import type { SeenRequest } from '../support/hostile-service.ts';
import { arena, type Place } from './arena.ts';

const here = await arena();
afterAll(() => here[Symbol.asyncDispose]());

const CREATE = 'cards create --bin bin_1 --amount 25';
const POST = 'api POST /cards -f bin_id=bin_1 -F amount:=25';

/** What the first create was answered with is what the nth create after it is answered with. */
function cached(nth: number): void {
  let kept: Answered | undefined;
  let creates = 0;
  const answer = (view: View): Answered => {
    kept ??= view.honest;
    return kept;
  };
  const plays = [
    { effect: 'done', answer },
    { effect: 'none', answer },
  ] as const;
  const where = () => {
    creates += 1;
    return creates === 1 || creates === nth + 1;
  };
  here.service.script({ operation: 'create', where, plays });
}

const isCreate = ({ operation }: SeenRequest) => operation === 'create';

async function ops(place: Place): Promise<readonly string[]> {
  const { data } = JSON.parse((await place.run('ops list')).out) as { data: { op: string }[] };
  return data.map(({ op }) => op);
}

test('the card of an earlier operation is no new one', async () => {
  await using place = await here.enter('unknown', 'test', { metadata: 'nowhere' });
  cached(1);
  expect((await place.run(CREATE)).code).toBe(0);
  const [op] = await ops(place);
  const { code, err } = await place.run(CREATE);
  expect([code, here.service.books(place.key).cards.size]).toEqual([11, 1]);
  expect(err).toContain(`the answer names the card card_1, which row 1 of ${op} has made: it is no new one`);
});

describe('no false alarm', () => {
  test.each([`${CREATE} --no-marker`, CREATE, POST])(
    '%s: a service that was set back gives its ids anew',
    async line => {
      await using place = await here.enter('unknown', 'test');
      for (const _each of [1, 2, 3]) {
        here.service.reset({ [place.key]: { metadata: 'nowhere' } });
        expect((await place.run(line)).code).toBe(0);
        here.clock.pass(5_000);
      }
    },
  );

  test('the key of the caller, and an intent, are answered with their own card', async () => {
    await using place = await here.enter('honoured', 'test', { metadata: 'nowhere', keys: 'honoured' });
    for (const line of [`${POST} --idempotency-key one`, `${CREATE} --intent one`]) {
      const [first, second] = [await place.run(line), await place.run(line)];
      expect([line, first.code, second.code]).toEqual([line, 0, 0]);
    }
    expect(here.service.requests.filter(isCreate)).toHaveLength(2);
  });
});
