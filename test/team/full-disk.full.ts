/**
 * The disk of the database gets full while two operators create and fund over a shared journal. Nobody is told 0 for what is not
 * there, nothing is done twice, and each refusal names the database, what is wrong with it, and what to do. When there is room again
 * the same commands are done, each once.
 */
import { describe, expect, it } from 'vitest';
import { fillableServer, ON_IT } from '../postgres/full-disk.ts';
import { missing } from '../postgres/server.ts';
import { missingDisk } from '../postgres/small-disk.ts';
import { skippingClock } from '../support/clocks.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';

const [PAIRS, FULL_FROM, FULL_TO, CENTS] = [20, 5, 14, 500];
/** The server says that it is full, or has panicked because of it. */
const CAUSE =
  /No space left on device|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|recovery mode|not yet accepting|starting up|shutting down|closed|ended/;

describe.skipIf(missing() ?? missingDisk())('the disk of the database is full', () => {
  it.each(ON_IT)('under creates and funds of a shared journal: its %s', { timeout: 900_000 }, async onIt => {
    await using server = await fillableServer(onIt);
    await using t = await team(server, { wallet: 1000 });
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    for (const { run } of [ana, ben]) expect((await run('cards create --bin bin_1 --amount 5')).code).toBe(0);
    const codes = new Map<string, number>();
    const type = async ({ run }: World, line: string) => {
      const { code, err, out } = await run(`${line} --json`, { clock: skippingClock() });
      expect([0, 11, 14], err).toContain(code);
      if (code !== 0) saysWhy(err, server.server.socket);
      codes.set(line, Math.max(code, codes.get(line) ?? 0));
      return { code, out };
    };
    /** One after the other on each machine, both machines at once. */
    const both = (from: number, to: number) =>
      Promise.all(
        [ana, ben].map(async (machine, which) => {
          for (let pair = from; pair < to; pair += 1)
            for (const line of linesOf(pair, which)) await type(machine, line);
        }),
      );
    await both(0, FULL_FROM);
    const filled = server.fill();
    await both(FULL_FROM, FULL_TO);
    await filled;
    const hasPanicked = !(await server.answers());
    await server.mend();
    await both(FULL_TO, PAIRS);

    const first = new Map(codes);
    const counts = [0, 11, 14].map(code => [...first.values()].filter(each => each === code).length);
    process.stdout.write(
      `${onIt}: ${counts} ended with 0, 11 and 14; ${hasPanicked ? 'it has panicked' : 'it answered'}\n`,
    );
    expect(counts[2], 'nobody has seen a full disk').toBeGreaterThan(0);
    expect(hasPanicked).toBe(onIt === 'write-ahead log');
    for (const [which, machine] of [ana, ben].entries()) {
      for (let pair = 0; pair < PAIRS; pair += 1) {
        for (const line of linesOf(pair, which)) {
          const again = await type(machine, line);
          expect(again.code, line).toBe(0);
          if (first.get(line) === 0) expect(JSON.parse(again.out).intent.repeated, line).toBe(true);
        }
      }
    }
    await eachOnce(t, server);
  });
});

/**
 * A create and a fund, of other amounts than all others: none is the twin of another. Each machine funds a card of its own: what
 * others do to a card at the same moment keeps an answer from being believed, whatever the disk is like.
 */
function linesOf(pair: number, which: number): readonly string[] {
  const at = 2 * pair + which;
  return [
    `cards create --bin bin_1 --amount ${dollars(CENTS + at)} --intent make-${at}`,
    `cards fund card_${which + 1} --amount ${dollars(100 + at)} --intent fund-${at}`,
  ];
}

const dollars = (cents: number) => (cents / 100).toFixed(2);

function saysWhy(err: string, socket: string): void {
  const { error } = JSON.parse(err.trim().split('\n').at(-1) ?? '');
  expect(decodeURIComponent(error.message), err).toContain(socket);
  expect(error.message, err).toMatch(CAUSE);
  expect(error.hint, err).toMatch(/^cardwright /);
}

async function eachOnce(t: Awaited<ReturnType<typeof team>>, server: Awaited<ReturnType<typeof fillableServer>>) {
  const all = Array.from({ length: 2 * PAIRS }, (_, at) => at);
  const made = all.map(at => CENTS + at);
  const funded = [0, 1].map(which => all.filter(at => at % 2 === which).reduce((sum, at) => sum + 100 + at, CENTS));
  const cards = (await t.cards()).map(({ balance }) => Math.round(balance * 100));
  expect(cards.toSorted()).toEqual([...made, ...funded].toSorted());
  const ben = await t.machine('ben');
  const checked = await ben.run('journal check --json', { clock: skippingClock() });
  expect([checked.code, checked.out === '' ? checked.err : JSON.parse(checked.out).flaws]).toEqual([0, []]);
  const root = await server.as('postgres');
  expect(await root.call(`select count(*) from cardwright.op where state <> 'finished'`, [])).toEqual([['0']]);
  expect(await root.call('select sum(held), sum(spent) from cardwright.spend_day', [])).toEqual([
    ['0', String([...made, ...funded].reduce((sum, cents) => sum + cents, 0))],
  ]);
}
