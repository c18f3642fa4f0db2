/** Two operators whose database loses what was written last, and what each of them is told of it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { OwnServer } from './own-server.ts';
import { team } from './team.ts';

/** Two operators; what they have done since the backup will be lost with the database. */
export async function worked(server: OwnServer) {
  const t = await team(server, { wallet: 500 });
  const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
  const run = async (machine: typeof ana, line: string) => {
    const ran = await machine.run(line);
    return { code: ran.code, err: ran.err, json: ran.out === '' ? undefined : JSON.parse(ran.out) };
  };
  expect(await run(ana, 'cards create --bin bin_1 --amount 10 --json')).toMatchObject({ code: 0 });
  expect(await run(ben, 'cards fund card_1 --amount 1 --json')).toMatchObject({ code: 0 });
  await server.backup();
  expect(await run(ana, 'cards create --bin bin_1 --amount 20 --intent po-2 --json')).toMatchObject({ code: 0 });
  await writeFile(join(ben.folder, 'team.csv'), 'bin_id,amount\nbin_1,2\nbin_1,3\n');
  expect(await run(ben, 'cards create --file team.csv --yes --json')).toMatchObject({ code: 0 });
  t.proxy.fail('POST', /\/cards$/, 'drop-after');
  t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
  const unknown = await ana.run('cards create --bin bin_1 --amount 4 --label ads --json');
  t.proxy.mend();
  expect(unknown.code).toBe(11);
  const op = String(JSON.parse(unknown.err.trim().split('\n').at(-1) ?? '').error.op);
  const posts = t.proxy.posts().length;
  const sentNothing = () => expect(t.proxy.posts().length).toBe(posts);
  return { ...t, ana, ben, run, op, sentNothing };
}

export type Worked = Awaited<ReturnType<typeof worked>>;

/** What was begun behind the backup is not there: nobody is told that it never was. */
export async function missed({ ana, ben, op }: Worked, code: number) {
  for (const line of [`ops show ${op}`, `ops resume ${op}`, `ops takeover ${op} --reason "why"`]) {
    const [own, others] = [await ana.run(line), await ben.run(line)];
    expect([own.code, others.code], `${line}: ${own.err}`).toEqual([code, code]);
    expect(own.err).toContain(`This machine knows ${op}, and journal push brings it back.`);
    expect(others.err).toContain(`${op} is not there, and may have been; nothing was sent`);
    expect(others.err).not.toContain('This machine knows');
  }
}

/** Five cards, and each of them once. */
export async function wholeAgain(t: Worked) {
  const { ana, ben, run } = t;
  const again = await run(ana, 'cards create --bin bin_1 --amount 20 --intent po-2 --json');
  expect(again).toMatchObject({ code: 0, json: { intent: { repeated: true } } });
  expect(await ben.run('cards create --file team.csv --yes')).toMatchObject({ code: 14 });
  expect(await ana.run('cards create --bin bin_1 --amount 4 --label ads')).toMatchObject({ code: 14 });
  t.sentNothing();
  expect(await ana.run(`ops resume ${t.op}`)).toMatchObject({ code: 0 });
  t.sentNothing();
  expect([(await t.cards()).length, await t.balance()]).toEqual([5, 500 - 10 - 1 - 20 - 5 - 4]);
  const checked = await run(ben, 'journal check --json');
  expect(checked).toMatchObject({ code: 0, json: { flaws: [] } });
}
