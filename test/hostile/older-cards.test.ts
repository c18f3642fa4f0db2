/**
 * A cache, or a service that tells duplicates by their content, answers a create with the card of an earlier one. That card
 * is done in another op of the journal, and is no new one: nothing is sent again, and the error names both.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answered, BookOptions, View } from '../support/card-books.ts';
import type { SeenRequest } from '../support/hostile-service.ts';
import { isWhole } from '../support/whole.ts';
import { type Arena, arena, type Place } from './arena.ts';

let here: Arena;
beforeAll(async () => {
  here = await arena();
});
afterAll(() => here[Symbol.asyncDispose]());

const CREATE = 'cards create --bin bin_1 --amount 25';
const POST = 'api POST /cards -f bin_id=bin_1 -F amount:=25';
const ROWS = 3;
const THREE_ROWS = { line: 'cards create --file -', stdin: 'bin_id,amount\nbin_1,25\nbin_1,25\nbin_1,25\n' };

interface Asked {
  readonly line: string;
  readonly stdin?: string;
}

interface Case {
  readonly name: string;
  readonly first: Asked;
  readonly second: Asked;
  readonly metadata: NonNullable<BookOptions['metadata']>;
  /** Which create of the second command is answered with the older card, from 1; the only one when left out. */
  readonly nth?: number;
}

const CASES: readonly Case[] = [
  { name: 'no metadata', first: { line: CREATE }, second: { line: CREATE }, metadata: 'nowhere' },
  {
    name: '--no-marker',
    first: { line: CREATE },
    second: { line: `${CREATE} --no-marker` },
    metadata: 'everywhere',
  },
  { name: 'api POST', first: { line: POST }, second: { line: POST }, metadata: 'everywhere' },
  { name: 'one row of many', first: { line: CREATE }, second: THREE_ROWS, metadata: 'nowhere', nth: 2 },
];

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
  const first = here.service.requests.filter(isCreate).length;
  const where = () => {
    creates += 1;
    return creates === 1 || creates === nth + 1;
  };
  here.service.script({ operation: 'create', where, plays });
  expect(first).toBe(0);
}

const isCreate = ({ operation }: SeenRequest) => operation === 'create';

async function play({ first, second, metadata, nth = 1 }: Case, keys: 'unknown' | 'honoured') {
  await using place = await here.enter(keys, 'test');
  here.service.reset({ [place.key]: { metadata, keys: keys === 'honoured' ? 'honoured' : 'ignored' } });
  const rows = first.stdin === undefined ? 1 : ROWS;
  cached(nth + rows - 1);
  const one = await place.run(first.line, first.stdin);
  expect([one.code, one.err.includes('"error"')]).toEqual([0, false]);
  const [op] = await ops(place);
  const two = await place.run(second.line, second.stdin);
  const sent = here.service.requests.filter(isCreate).length - rows;
  const [latest] = await ops(place);
  const shown = (await place.run(`ops show ${latest}`)).out;
  return { ...two, op, shown, made: here.service.books(place.key).cards.size - rows, sent };
}

async function ops(place: Place): Promise<readonly string[]> {
  const { data } = JSON.parse((await place.run('ops list')).out) as { data: { op: string }[] };
  return data.map(({ op }) => op);
}

describe.each(['unknown', 'honoured'] as const)('keys %s', keys => {
  // Where keys are honoured, the card is found by the same reading of the journal.
  test.each(keys === 'unknown' || isWhole ? CASES : CASES.slice(0, 1))(
    '$name: the card of an earlier operation is no new one',
    async each => {
      const { code, err, made, sent, op, shown } = await play(each, keys);
      const rows = each.second.stdin?.match(/^bin_1/gm)?.length ?? 1;
      expect({ code, sent, made }).toEqual({ code: 11, sent: rows, made: rows - 1 });
      const text = each.second.stdin === undefined ? err : shown;
      expect(text).toContain(`the answer names the card card_1, which row 1 of ${op} has made: it is no new one`);
    },
  );
});

test('two rows of one run with one card: the second is not done by it', async () => {
  await using place = await here.enter('unknown', 'test');
  here.service.reset({ [place.key]: { metadata: 'nowhere' } });
  cached(1);
  const { code } = await place.run(THREE_ROWS.line, THREE_ROWS.stdin);
  const [op] = await ops(place);
  const shown = (await place.run(`ops show ${op}`)).out;
  expect(code).toBe(11);
  expect(shown).toContain('the answer names the card card_1, which row 1 was answered with');
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
    await using place = await here.enter('honoured', 'test');
    here.service.reset({ [place.key]: { metadata: 'nowhere', keys: 'honoured' } });
    for (const line of [`${POST} --idempotency-key one`, `${CREATE} --intent one`]) {
      const [first, second] = [await place.run(line), await place.run(line)];
      expect([line, first.code, second.code]).toEqual([line, 0, 0]);
    }
    expect(here.service.requests.filter(isCreate)).toHaveLength(2);
  });
});
