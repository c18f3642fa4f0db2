/** `-`: ids from standard input, wherever a command takes cards; the answer is a list, of none and of one too. */
import { expect, test } from 'vitest';
import { world } from '../support/world.ts';

async function withCards(
  run: (
    ids: readonly string[],
    go: (line: string, stdin: string) => Promise<{ code: number; out: string; err: string }>,
  ) => Promise<void>,
) {
  await using here = await world();
  const ids: string[] = [];
  for (const label of ['a', 'b', 'c']) {
    ids.push((await here.run(`cards create --bin auto --amount 20 --label ${label} -q`)).out.trim());
  }
  await run(ids, (line, stdin) => here.run(line, { stdin }));
}

const data = (out: string) => (JSON.parse(out) as { data: readonly Record<string, unknown>[] }).data;

test.each([
  ['cards get - --json', 'id'],
  ['cards freeze - --yes --json', 'card_id'],
  ['cards freeze - --dry-run --json', 'card_id'],
  ['cards terminate - --yes --json', 'card_id'],
  ['cards fund - --amount 5 --yes --json', 'card_id'],
  ['cards fund - --amount 5 --dry-run --json', 'card_id'],
  ['cards withdraw - --amount 5 --yes --json', 'card_id'],
])('%s answers a list of none, one and three', async (line, field) => {
  await withCards(async (ids, go) => {
    for (const some of [[], ids.slice(0, 1), ids.slice(1)]) {
      const { code, out, err } = await go(line, some.map(id => `${id}\n`).join(''));
      expect({ code, err: err.includes('error') }, `${line} of ${some.length}`).toEqual({ code: 0, err: false });
      expect(data(out).map(row => row[field])).toEqual(some);
    }
  });
});

test('a file of one row is a list in a dry run too', async () => {
  await withCards(async ([id], go) => {
    const { out } = await go('cards fund --file - --dry-run --json', `card_id,amount\n${id},5\n`);
    expect(data(out)).toMatchObject([{ dry_run: true, card_id: id }]);
    const chosen = await go('cards fund --to 25 --where label=a --dry-run --json', '');
    expect(data(chosen.out)).toMatchObject([{ dry_run: true, card_id: id }]);
  });
});

test('one card alone takes one id, and no card is called "-"', async () => {
  await withCards(async (ids, go) => {
    const both = await go('cards details - --reveal --print', ids.join('\n'));
    expect(both.code).toBe(2);
    expect(both.err).toContain('cards details takes one card, and standard input holds 3 ids');
    const wait = await go('wait card - --until status=active --json', `${ids[0]}\n`);
    expect(wait.code).toBe(0);
    for (const line of ['tx list --card -', 'audit list --card -', '3ds list --card -']) {
      expect((await go(line, `${ids[0]}\n`)).code, line).toBe(2);
    }
    const named = await go('cards fund - --amount 5 --intent x', `${ids[0]}\n`);
    expect(named).toMatchObject({ code: 2 });
  });
});
