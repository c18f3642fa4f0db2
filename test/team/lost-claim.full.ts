/** The database has claimed an op, and its answer never arrived: the next command of that machine does not wait for the lease. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { holdingProxy } from './holding-proxy.ts';
import { team } from './team.ts';

describe.skipIf(missing())('a claim whose answer was lost', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it.concurrent.each([
    ['cards create --bin bin_1 --amount 10', 1],
    ['cards fund card_1 --amount 5', 0],
    ['cards create --file team.csv --yes', 2],
  ])('%s', async (line, made) => {
    await using t = await team(here, { stripKeys: false });
    await using proxy = await holdingProxy(here.server, 'cardwright.claim(', 'answer');
    const url = `postgres://ana@${encodeURIComponent(proxy.folder)}:${proxy.port}/${here.name}`;
    const [ana, ben] = [await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: url }), await t.machine('ben')];
    expect((await ben.run('cards create --bin bin_1 --amount 20 -q')).code).toBe(0);
    await writeFile(join(ana.folder, 'team.csv'), 'bin_id,amount\nbin_1,2\nbin_1,3\n');
    const posts = t.proxy.posts().length;
    const first = ana.run(line);
    await Promise.race([proxy.held, first]);
    proxy.cut();
    const { code, err } = await first;
    expect({ code, err }).toMatchObject({ code: 14, err: expect.stringContaining('cannot be reached') });
    expect(t.proxy.posts()).toHaveLength(posts);
    proxy.mend();
    const [{ op, state } = { op: '', state: '' }] = JSON.parse((await ana.run('ops list --json')).out).data;
    expect(['open', 'unknown']).toContain(state);
    expect((await ana.run('ops locks --json --jq .page.total')).out).toBe('0\n');
    const again = await ana.run(line);
    expect(again.err).not.toContain('sign of life');
    expect([again.code, again.err]).toEqual([14, expect.stringContaining(`try: cardwright ops resume ${op}`)]);
    expect((await t.cards()).length).toBeLessThanOrEqual(1 + made);
  });
});
