/** A database that has lost its journal: who has used it is not led to make a new one. */
import { describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { ownServer } from './own-server.ts';
import { team } from './team.ts';

describe.skipIf(missing())('a database without a journal', () => {
  it('names the journal that this machine has used there, and how it goes on', async () => {
    await using own = await ownServer();
    await using t = await team(own);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    expect((await ana.run('cards create --bin bin_1 --amount 5')).code).toBe(0);
    const journal = JSON.parse((await ana.run('journal status --json')).out).journal_id;
    await (await own.as('postgres')).call('drop schema cardwright cascade', []);
    const leave = `cardwright journal move --to shared --leave ${t.at.account}@${journal}`;
    for (const line of ['cards create --bin bin_1 --amount 6', 'ops list', 'journal push', 'journal status']) {
      const { code, err } = await ana.run(line);
      expect([line, code, err]).toEqual([line, 14, expect.stringContaining(`of the journal ${journal} here\n`)]);
      expect(err).toContain('restores it from a backup');
      expect(err).toContain(leave);
      expect(err).toContain('try: cardwright ops list --local\n');
    }
    const fresh = await ben.run('cards create --bin bin_1 --amount 6');
    expect([fresh.code, fresh.err]).toEqual([
      14,
      expect.stringContaining('try: cardwright journal init --print-sql\n'),
    ]);
    expect(t.proxy.posts()).toHaveLength(1);
  });
});
