/** One machine, the shared journal and its own files: what it has begun there is never begun here as well. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placesIn } from '../../src/journal/store/paths.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { random, realClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { team } from './team.ts';

describe.skipIf(missing())('--journal local', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  const ALONE = { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' };

  it('makes nothing of a service that this machine reaches over a shared journal', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    await writeFile(join(ana.folder, 'cards.csv'), 'bin_id,amount\nbin_1,2\nbin_1,3\n');
    const lines = [
      'cards create --bin bin_1 --amount 3 --intent jl-1 -q',
      'cards create --file cards.csv --yes',
      'cards fund card_1 --amount 1 -q',
    ];
    for (const line of lines) expect([line, (await ana.run(line)).code]).toEqual([line, 0]);
    const made = t.proxy.posts().length;
    for (const line of lines) {
      const again = await ana.run(`${line} --journal local`);
      expect([line, again.code, again.out]).toEqual([line, 14, '']);
      expect(again.err).toContain(`are begun in the account ${t.at.account} of the shared journal`);
      expect(again.err).toContain('journal move --to local');
    }
    // The same without a word: a shell that has lost its variables, and another spelling of the address.
    expect((await ana.run(lines[0] ?? '', { env: ALONE })).code).toBe(14);
    const other = { ...ALONE, CARDWRIGHT_BASE_URL: t.proxy.url.replace('127.0.0.1', 'localhost') };
    const elsewhere = await ana.run(lines[0] ?? '', { env: other });
    expect([elsewhere.code, elsewhere.err]).toEqual([14, expect.stringContaining('export CARDWRIGHT_BASE_URL=')]);
    expect(t.proxy.posts()).toHaveLength(made);
    // Stopping a card waits for nobody; looking neither.
    expect((await ana.run('cards freeze card_1 --journal local -q')).code).toBe(0);
    expect((await ana.run('ops list --journal local -q')).code).toBe(0);
  });

  it('makes them again once they were brought back', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    const line = 'cards create --bin bin_1 --amount 3 --intent jl-1 --json --jq .id';
    expect((await ana.run(line)).out).toBe('card_1\n');
    await t.at.admin(`freeze_account('one machine goes on')`);
    expect((await ana.run('journal move --to local -q')).code).toBe(0);
    expect((await ana.run(`${line} --journal local`)).out).toBe('card_1\n');
    expect((await ana.run('cards fund card_1 --amount 1 --journal local -q')).code).toBe(0);
    expect(await t.cards()).toHaveLength(1);
  });

  it('is settled first where it was used at another address with the same API key', async () => {
    await using t = await team(here);
    await using way = await startFaultProxy({ target: t.proxy.url });
    const ana = await t.machine('ana');
    const env = { ...ALONE, CARDWRIGHT_BASE_URL: way.url };
    const create = 'cards create --bin bin_1 --amount 3 --label first';
    expect((await ana.run(`${create} --intent po-1 -q`, { env })).out).toBe('card_1\n');
    way.fail('POST', /\/cards$/, 'drop-after');
    way.fail('GET', /./, ...Array<'drop-before'>(30).fill('drop-before'));
    const lost = await ana.run(create, { env });
    expect(lost.code).toBe(11);
    const op = /op_\w+/.exec(lost.err)?.[0] ?? '';
    for (const line of [create, 'cards fund card_1 --amount 1']) {
      const refused = await ana.run(line);
      expect([line, refused.code, refused.err]).toEqual([line, 14, expect.stringContaining(`${op} in the folder`)]);
    }
    const resumed = await ana.run(`ops resume ${op} --yes --journal local -q`);
    expect(resumed.code).toBe(0);
    const named = await ana.run(`${create} --intent po-1`);
    expect([named.code, named.err]).toEqual([14, expect.stringContaining('has the intent "po-1"')]);
    expect((await ana.run('cards fund card_1 --amount 1 -q')).code).toBe(0);
    expect(await t.cards()).toHaveLength(2);
  });

  it('is not noted where the shared journal was not used: nothing was claimed, or a command works in the own files', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    const away = { CARDWRIGHT_JOURNAL_URL: 'postgres://ana@127.0.0.1:1/journal' };
    const create = 'cards create --bin bin_1 --amount 3 --label first -q';
    expect((await ana.run(create, { env: away, onPause: () => undefined })).code).toBe(14);
    expect((await ana.run('ops list -q')).code).toBe(0);
    const places = placesIn(join(ana.folder, 'state'));
    const lock = { pid: process.pid, clock: realClock, random };
    const disk = createDisk({ platform: 'linux', random, warn: () => undefined, lock });
    await disk.prepareFolder(places.root);
    const release = await disk.hold(places.claim('a'.repeat(32)));
    const refused = await ana.run(create);
    expect([refused.code, refused.err]).toEqual([14, expect.stringContaining('is at work in its own folder')]);
    await release();
    expect(t.proxy.posts()).toEqual([]);
    expect((await ana.run(`${create} --journal local`)).out).toBe('card_1\n');
    const twice = await ana.run(create);
    expect([twice.code, twice.err]).toEqual([14, expect.stringContaining('journal move --to shared')]);
    expect((await ana.run('cards fund card_1 --amount 1 --journal local -q')).code).toBe(0);
  });
});
