/**
 * A backup is restored that was made in the middle of a run: the chain has every line that anybody has seen, and yet rows were sent
 * that the database takes for open. The machine that has sent them brings that before anything of the run is sent.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../src/journal/wal/records.ts';
import { recordsLost } from '../../src/team/lost-records.ts';
import { ended, type Home, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { words } from '../support/words.ts';
import { later } from './killing-stage.ts';
import { team } from './team.ts';

const FILE = 'cards create --file team.csv --yes --concurrency 1';

describe.skipIf(missing())('records that the database has lost', () => {
  let here: Database;
  let place: Home;
  beforeAll(async () => {
    [here, place] = await Promise.all([database(), home()]);
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
    await here.close();
  });

  async function stage() {
    const t = await team(here, { wallet: 500, delayMs: 60_000 });
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    await writeFile(join(ana.folder, 'team.csv'), 'bin_id,amount\nbin_1,2\nbin_1,3\n');
    const op = async () => (await t.at.ana.heads(t.at.account, { unfinished: true }))[0]?.op ?? '';
    /** As a backup has it that was made right behind the claim; its lease is over. */
    const restored = async () => {
      const own = `op = '${await op()}'`;
      for (const sql of [
        `delete from cardwright.segment where ${own} and n > 1`,
        `update cardwright.op set n = 1, unknown = 0, open = 2, shown = null, lease_until = clock_timestamp() - interval '3 minutes',
          size = (select octet_length(s.bytes) from cardwright.segment s where s.${own}) where ${own}`,
      ])
        await t.at.root.call(sql, []);
      return op();
    };
    return { ...t, ana, ben, restored };
  }

  it('are brought by the next command of the machine where the run was killed', async () => {
    await using t = await stage();
    t.proxy.fail('POST', /\/cards$/, 'none', 'late-answer');
    const child = place.start(words(FILE), { env: t.processEnv('ana', t.ana), cwd: t.ana.folder });
    const end = ended(child);
    child.stdin?.end();
    await t.proxy.posted(2);
    child.kill('SIGKILL');
    expect((await end).signal).toBe('SIGKILL');
    await t.proxy.answered();
    const op = await t.restored();
    const posts = t.proxy.posts().length;
    const resumed = await t.ana.run(`ops resume ${op} --yes`, { clock: later() });
    expect([resumed.code, resumed.err]).toEqual([
      0,
      expect.stringContaining(`had lost that 2 rows of ${op} were sent`),
    ]);
    expect([t.proxy.posts().length, (await t.cards()).length]).toEqual([posts, 2]);
    expect((await t.ben.run('journal check', { clock: later() })).code).toBe(0);
  });

  it('are brought by a resume from what the machine keeps of a run that was stopped', async () => {
    await using t = await stage();
    const stop = new AbortController();
    void t.proxy.posted(1).then(() => stop.abort());
    expect((await t.ana.run(FILE, { signal: stop.signal })).code).not.toBe(0);
    const op = await t.restored();
    const resumed = await t.ana.run(`ops resume ${op} --yes`);
    expect([resumed.code, resumed.err]).toEqual([0, expect.stringContaining(`had lost that 1 row of ${op} were sent`)]);
    expect([t.proxy.posts().length, (await t.cards()).length]).toEqual([2, 2]);
    expect((await t.ben.run('journal check')).code).toBe(0);
  });

  it('keep a machine from taking up what is in other hands by then, until a person has looked', async () => {
    await using t = await stage();
    const stop = new AbortController();
    void t.proxy.posted(1).then(() => stop.abort());
    expect((await t.ana.run(FILE, { signal: stop.signal })).code).not.toBe(0);
    const op = await t.restored();
    await t.at.root.call(`update cardwright.op set holder = 'ben', epoch = 2 where op = '${op}'`, []);
    const refused = await t.ana.run(`ops takeover ${op} --reason "ben is away" --yes`);
    expect([refused.code, refused.err]).toEqual([15, expect.stringMatching(/ and ben on \S+ has gone on with it/)]);
    expect(t.proxy.posts()).toHaveLength(1);
    // Row 2 was never sent: nobody is led to say that it happened.
    const commands = [...refused.err.matchAll(/cardwright (ops resolve .* --note "why")/g)].map(([, each]) => each);
    expect(commands).toEqual(['done', 'not-done'].map(as => `ops resolve ${op} 1 --as ${as} --note "why"`));
    expect(refused.err).toContain(`Row 2 was not sent by this machine: a resume of ben goes on with it.`);
    const [, look] = /cardwright (cards list --where \S+)/.exec(refused.err) ?? [];
    expect((await t.ben.run(`${look} -o id`)).out).toBe('card_1\n');
    expect((await t.ben.run(`${commands[0]} --yes`)).code).toBe(0);
    expect((await t.ben.run(`ops resume ${op} --yes`)).code).toBe(0);
    expect([t.proxy.posts().length, (await t.cards()).length]).toEqual([2, 2]);
  });
});

describe('what a copy shows to be lost', () => {
  const line = (by: string, t: string, row?: number) =>
    ({ by, record: { t, ...(row !== undefined && { row, attempt: 1, at: row }) } }) as unknown as StoredRecord;
  const plan = [line('a', 'PLAN'), line('a', 'PLANNED'), line('a', 'RUN')];
  const sent = line('a', 'SENT', 1);

  it.each([
    ['nothing, where it is there', [...plan, sent], [...plan, sent], 4, undefined],
    ['nothing, where nobody has confirmed it', [...plan, sent], plan, 3, undefined],
    ['a SENT that was confirmed', [...plan, sent], plan, 4, { lines: 4, rows: 1 }],
    ['a SENT whose row went on', [...plan, sent, line('a', 'DONE', 1)], plan, 0, { lines: 4, rows: 1 }],
    ['no SENT of a row for another', [...plan, sent, line('a', 'DONE', 2)], plan, 0, undefined],
    ['a SENT of another process', [...plan, sent, line('b', 'RUN')], plan, 0, { lines: 4, rows: 1 }],
  ])('%s', (_, kept, there, confirmed, lost) => {
    expect(recordsLost({ kept, there, confirmed })).toEqual(lost);
  });
});
