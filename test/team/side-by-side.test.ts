/** Commands of one machine at once: what one has seen since the other asked is no loss of the journal. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { holdingProxy } from './holding-proxy.ts';
import { team, urlOf } from './team.ts';

describe.skipIf(missing())('two commands of one machine', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it.each([
    ['opens', 'status'],
    ['claims', 'claim'],
  ])('one goes on while the answer to the other, which %s the journal, is on its way', async (_, call) => {
    await using t = await team(here);
    await using way = await holdingProxy(here.server, `cardwright.${call}(`, 'answer');
    const url = `postgres://ana@${encodeURIComponent(way.folder)}:${way.port}/${here.name}`;
    const ana = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: url });
    const direct = { env: { CARDWRIGHT_JOURNAL_URL: urlOf(here, 'ana') } };
    const create = (label: string, how = {}) => ana.run(`cards create --bin bin_1 --amount 1 --label ${label}`, how);
    expect((await create('first', direct)).code).toBe(0);
    const slow = create('slow');
    await way.held;
    expect((await create('quick', direct)).code).toBe(0);
    way.release();
    for (const ran of [await slow, await create('last', direct)]) {
      expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('lacks')]);
    }
    expect(await t.cards()).toHaveLength(4);
    // The file tells of the last line that any of them has seen.
    const status = JSON.parse((await ana.run('journal status --json', direct)).out);
    expect(await headIn(join(ana.folder, 'state', 'team'))).toMatchObject({ seq: status.lines });
  });
});

async function headIn(root: string) {
  const names = await readdir(root, { recursive: true });
  const [name = ''] = names.filter(each => each.endsWith('.head'));
  return JSON.parse(await readFile(join(root, name), 'utf8'));
}
