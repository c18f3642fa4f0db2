import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realClock } from '../support/clocks.ts';
import { ask } from '../support/sandbox-http.ts';
import { errorOf, world } from '../support/world.ts';

const CREATE = 'cards create --bin auto --amount 25 --yes --json';

async function withRule() {
  const here = await world({ served: true, wallet: 500, env: { CARDWRIGHT_PROFILE: 'team' } });
  const login = `login --profile team --base-url ${here.sandbox.url} --key-stdin`;
  expect((await here.run(login, { stdin: here.sandbox.key.expose(), env: { CARDWRIGHT_PROFILE: '' } })).code).toBe(0);
  expect((await here.run('profiles set team approve_above 20')).code).toBe(0);
  const typed = (...words: string[]) => ({ terminal: 100, typed: words });
  const cards = async () => (await ask(here.sandbox, { path: '/cards' })).json.data as unknown[];
  return { here, typed, cards };
}

test('an agent asks, a person at a terminal of the same machine approves, and it is sent once', async () => {
  const { here, typed, cards } = await withRule();
  await using _ = here;
  // Nobody could approve it: it is refused, and not held for ever.
  const nobody = await here.run(CREATE);
  expect(nobody.code).toBe(14);
  expect(nobody.err).toContain('ops keys create');
  expect((await here.run('ops keys create')).code).toBe(3);
  expect((await here.run('ops keys create', typed('correct horse', 'correct horse'))).code).toBe(0);
  expect((await here.run('ops keys create', typed('correct horse', 'correct horse'))).code).toBe(2);
  expect(JSON.parse((await here.run('ops keys list --json')).out).data).toMatchObject([{ person: 'tester' }]);
  const dry = await here.run(`${CREATE} --dry-run`);
  expect(dry.all).toContain('approve_above');
  const held = await here.run(CREATE);
  expect(held.code).toBe(17);
  const { op, hint, approval } = errorOf(held);
  expect(hint).toBe(`cardwright ops approve ${op}`);
  expect(approval).toMatchObject({ needed: 1, have: 0, command: hint });
  // The same request again is the same request.
  expect(errorOf(await here.run(CREATE)).op).toBe(op);
  expect((await here.run(`ops resume ${op}`)).code).toBe(17);
  expect((await here.run(`ops approve ${op}`)).code).toBe(3);
  expect(await cards()).toEqual([]);
  const shown = async () => JSON.parse((await here.run(`ops show ${op} --json`)).out);
  expect((await shown()).approval).toMatchObject({ have: 0, needed: 1, persons: [], why: expect.any(String) });
  const seen = (await here.run(`ops show ${op}`, { terminal: 100 })).all;
  for (const way of ['0 of 1 have approved it: cardwright ops approve', `cardwright ops reject ${op} --reason`])
    expect(seen).toContain(way);
  const approved = await here.run(`ops approve ${op}`, typed('25.00', 'correct horse'));
  expect(approved.code).toBe(0);
  expect(approved.all).toContain('$25.00');
  expect(await shown()).toMatchObject({
    approval: { have: 1, persons: ['tester'] },
    events: [{ kind: 'approved', text: 'by tester: 1 of 1' }],
  });
  expect((await here.run('ops list', { terminal: 100 })).all).toContain(`${op} is approved`);
  expect((await here.run(CREATE)).code).toBe(0);
  expect(await cards()).toHaveLength(1);
  // Approved once is sent once: the next one is held anew.
  const next = errorOf(await here.run(CREATE)).op;
  expect(await cards()).toHaveLength(1);
  // A file is no command: run once more it would be sent anew.
  await writeFile(join(here.folder, 'one.csv'), 'bin_id,amount\nauto,25\n');
  expect((await here.run(`ops approve ${next}`, typed('25.00', 'correct horse'))).code).toBe(0);
  const file = await here.run('cards create --file one.csv --yes --json');
  expect([file.code, errorOf(file).hint]).toEqual([14, `cardwright ops show ${next}`]);
  expect(await cards()).toHaveLength(1);
});

test('an operation that is not there waits for nobody', async () => {
  await using here = await world({ wallet: 5 });
  const missing = 'op_00000000000000000000000001';
  for (const line of [`ops approve ${missing}`, `ops reject ${missing} --reason no`]) {
    const { code, err } = await here.run(line, { terminal: 100, typed: [] });
    expect([line, code, err]).toEqual([line, 5, expect.stringContaining('cardwright ops list')]);
  }
});

test('a resume releases it, a rejected one is never sent, and an intent stays used', async () => {
  const { here, typed, cards } = await withRule();
  await using _ = here;
  await here.run('ops keys create', typed('correct horse', 'correct horse'));
  const first = errorOf(await here.run(`${CREATE} --intent one`)).op;
  const second = errorOf(await here.run(`${CREATE} --intent two`)).op;
  expect(first).not.toBe(second);
  expect((await here.run(`ops reject ${second} --reason "not in the budget"`)).code).toBe(0);
  expect((await here.run(`ops approve ${second}`, typed('25.00', 'correct horse'))).code).toBe(2);
  const resumed = await here.run(`ops resume ${second}`);
  expect([resumed.code, resumed.err]).toEqual([14, expect.stringContaining('not in the budget')]);
  expect((await here.run(`${CREATE} --intent two`)).code).not.toBe(0);
  expect(JSON.parse((await here.run(`ops show ${second} --json`)).out).state).toBe('rejected');
  expect(await cards()).toEqual([]);
  expect((await here.run(`ops approve ${first}`, typed('25.00', 'correct horse'))).code).toBe(0);
  expect((await here.run(`ops resume ${first}`)).code).toBe(0);
  expect((await here.run(`ops resume ${first}`)).code).toBe(0);
  expect(await cards()).toHaveLength(1);
  expect((await here.run('journal check')).code).toBe(0);
});

test.each(['', ',intent'])(
  'a file that is held is sent by the same command once it is approved (columns%s)',
  async more => {
    const { here, typed, cards } = await withRule();
    await using _ = here;
    await here.run('ops keys create', typed('correct horse', 'correct horse'));
    await writeFile(
      join(here.folder, 'rows.csv'),
      `bin_id,amount${more}\nauto,15${more && ',one'}\nauto,16${more && ',two'}\n`,
    );
    const file = 'cards create --file rows.csv --yes --json';
    const held = await here.run(file);
    expect(held.code).toBe(17);
    const { op } = errorOf(held);
    const again = await here.run(file);
    expect([again.code, errorOf(again).op]).toEqual([17, op]);
    if (more === '') {
      await writeFile(join(here.folder, 'edited.csv'), 'bin_id,amount\nauto,15\nauto,17\n');
      const edited = await here.run('cards create --file edited.csv --yes --json');
      expect([edited.code, errorOf(edited).hint]).toEqual([14, `cardwright ops show ${op}`]);
      expect(edited.err).not.toContain('and finishes it');
    }
    const dry = await here.run('cards create --file rows.csv --dry-run');
    expect([dry.code, dry.err]).toEqual([0, expect.stringContaining(`it is held already, as ${op}`)]);
    const looked = await here.run(`ops resume ${op} --dry-run`);
    expect([looked.code, looked.err]).toEqual([17, expect.stringContaining(`ops approve ${op}`)]);
    expect((await here.run(`ops approve ${op}`, typed('31.00', 'correct horse'))).code).toBe(0);
    expect((await here.run(`ops resume ${op} --dry-run`)).code).toBe(0);
    expect(await cards()).toEqual([]);
    const released = await here.run(file);
    expect([released.code, released.err]).toEqual([0, expect.stringContaining(`cardwright ops resume ${op}`)]);
    expect(await cards()).toHaveLength(2);
  },
);

test('a request that has expired is told, rejected and asked anew', async () => {
  const { here, typed, cards } = await withRule();
  await using _ = here;
  await here.run('ops keys create', typed('correct horse', 'correct horse'));
  const { op } = errorOf(await here.run(CREATE));
  const later = { clock: { ...realClock, now: () => Date.parse('2026-12-30T00:00:00Z') } };
  const told = await here.run(CREATE, later);
  expect(told.code).toBe(14);
  expect(told.err).toContain(`ops reject ${op}`);
  expect((await here.run(`ops reject ${op} --reason expired`, later)).code).toBe(0);
  expect((await here.run(CREATE, later)).code).toBe(17);
  expect(await cards()).toEqual([]);
});
