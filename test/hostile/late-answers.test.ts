/** What a person is told of a service whose readings are behind its books, and how long he waits for it. */
import { afterAll, describe, expect, it } from 'vitest';
import type { BookOptions } from '../support/card-books.ts';
import { errorOf } from '../support/world.ts';
import { answerNamed } from './answers.ts';
import { arena, type Place } from './arena.ts';

const here = await arena();
afterAll(() => here[Symbol.asyncDispose]());

const AN_HOUR = 3_600_000;
const SINGLE = ['cards create --bin bin_1 --amount 25 --label row-2', undefined] as const;
const BULK = ['cards create --file -', 'bin_id,amount,label\nbin_1,25,row-1\nbin_1,25,row-2\n'] as const;

/** The row that is called 2 meets the answer. */
async function entered(account: BookOptions, answer: string): Promise<Place> {
  const place = await here.enter('unknown', 'test');
  here.service.reset({ [place.key]: { keys: 'ignored', ...account } });
  const plays = [answerNamed(answer).play];
  here.service.script({ operation: 'create', where: ({ body }) => body['label'] === 'row-2', plays });
  return place;
}

const creates = () => here.service.requests.filter(({ operation }) => operation === 'create').length;
/** Waited since then, s. */
const seconds = (from: number) => Math.round((here.clock.waited() - from) / 1_000);

describe('a card that was answered and cannot be read yet', () => {
  it.each([
    ['single', SINGLE],
    ['bulk', BULK],
  ])('is unknown, and a command finds it once it shows: %s', async (_, [line, stdin]) => {
    await using place = await entered({ behind: { listMs: 20_000, newMs: 20_000 } }, 'honest, done');
    const made = await place.run(line, stdin);
    expect(made.code).toBe(11);
    const next = /^cardwright (ops resume op_\w+)$/.exec(errorOf(made).hint)?.[1] ?? '';
    here.clock.pass(20_000);
    const from = here.clock.waited();
    const resumed = await place.run(next);
    expect([resumed.code, creates()]).toEqual([0, stdin === undefined ? 1 : 2]);
    expect(seconds(from)).toBeLessThan(20);
  });
});

describe('a 429 behind which a card was made that no list shows', () => {
  it('single: the wallet says that it may have been done, and no resume offers to send it again', async () => {
    await using place = await entered({ behind: { listMs: AN_HOUR } }, '429, done');
    const made = await place.run(...SINGLE);
    const { hint, evidence } = errorOf(made);
    expect([made.code, creates()]).toEqual([11, 1]);
    expect(evidence['checked']).toMatch(/: none, wallet \$1,000\.00 -> \$975\.00$/);
    const resumed = await place.run(hint.replace('cardwright ', ''));
    expect([resumed.code, creates(), errorOf(resumed).hint]).toEqual([11, 1, hint.replace('resume', 'show')]);
    const sent = await place.run(`${hint.replace('cardwright ', '')} --resend-absent`);
    expect([sent.code, creates()]).toEqual([11, 1]);
  });

  it('bulk: the end of the run names the row, and a command that shows what was paid', async () => {
    await using place = await entered({ behind: { listMs: AN_HOUR } }, '429, done');
    const made = await place.run(...BULK);
    expect([made.code, creates()]).toEqual([15, 3]);
    const [objection] = errorOf(made).evidence.objections;
    expect(objection).toMatch(
      /^the wallet holds \$925\.00, \$25\.00 less than .*: row 2 was sent again and may have been done twice/,
    );
    const list = /cardwright (tx list.*)$/.exec(objection)?.[1] ?? '';
    expect((await place.run(list)).code).toBe(0);
  });
});
