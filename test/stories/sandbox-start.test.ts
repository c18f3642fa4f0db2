/** `sandbox start`: one server a store, found by others only after it has proved itself. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { connectTo } from '../../src/engine/open.ts';
import { type ServedSandbox, served } from '../support/served-sandbox.ts';
import { type World, world } from '../support/world.ts';

const open: (World | ServedSandbox)[] = [];

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

async function here(options: Parameters<typeof world>[0] = {}): Promise<World> {
  const made = await world(options);
  open.push(made);
  return made;
}

async function start(place: World, flags = '--data empty --seed 7'): Promise<ServedSandbox> {
  const made = await served(place, `sandbox start --json ${flags}`);
  open.push(made);
  return made;
}

/** The engine keeps its two companions while a process that used the store is there. */
const filesIn = async (place: World) =>
  (await readdir(folderOf(place))).filter(name => !/-(?:wal|shm)$/.test(name)).sort();
const folderOf = ({ folder }: World) => join(folder, 'data', 'sandbox');

describe('sandbox start', () => {
  it('serves the store of the data folder, in files of this user alone, and leaves only store, key and an empty lock behind', async () => {
    const place = await here();
    const server = await start(place, '--data empty --seed 7 --ready-file ready');
    expect(server.row).toMatchObject({ pid: process.pid, store: join(folderOf(place), 'store.db') });
    expect(await readFile(join(place.folder, 'ready'), 'utf8')).toBe(`${server.row.url}\n`);
    const names = await readdir(folderOf(place));
    expect(names.filter(name => !name.startsWith('store.db')).sort()).toEqual([
      'admin-token',
      'api-key',
      'server.json',
      'server.lock',
    ]);
    for (const name of names) expect((await stat(join(folderOf(place), name))).mode & 0o777, name).toBe(0o600);
    const facts = JSON.parse(await readFile(join(folderOf(place), 'server.json'), 'utf8')) as object;
    expect(Object.keys(facts)).toEqual(['url', 'pid', 'started_at', 'instance']);

    const { code, err } = await server.stop();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(await filesIn(place)).toEqual(['api-key', 'server.lock', 'store.db']);
    expect(await readdir(place.folder)).not.toContain('ready');
  });

  it.runIf(userInfo().uid === 0)('another user of the machine can read neither key nor store', async () => {
    const place = await here();
    await start(place);
    const folder = folderOf(place);
    // Its own modes must do, whatever stands above it.
    for (let above = place.folder; above !== tmpdir(); above = dirname(above)) await chmod(above, 0o755);
    await chmod(join(place.folder, 'data'), 0o755);
    for (const name of ['api-key', 'admin-token', 'store.db']) {
      const other = { uid: 65_534, gid: 65_534, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync('cat', [join(folder, name)], other);
      expect([name, status, stdout, stderr]).toEqual([name, 1, '', expect.stringContaining('Permission denied')]);
      await chmod(folder, 0o711);
      expect([name, spawnSync('cat', [join(folder, name)], other).stdout]).toEqual([name, '']);
      await chmod(folder, 0o700);
    }
  });

  it('is reached by every command with the two variables that status prints, and shares the store with --sandbox', async () => {
    const place = await here();
    const server = await start(place);
    const { out } = await place.run('sandbox status -o env');
    expect(out).toBe(`CARDWRIGHT_BASE_URL='${server.row.url}'\nCARDWRIGHT_API_KEY_FILE='${server.row.api_key_file}'\n`);
    const env = {
      CARDWRIGHT_PROFILE: '',
      CARDWRIGHT_BASE_URL: server.row.url,
      CARDWRIGHT_API_KEY_FILE: server.row.api_key_file,
    };
    const told = (await place.run('sandbox status')).out;
    expect(told).toContain(`server.url\t${server.row.url}\n`);
    expect(JSON.parse((await place.run('wallet --json', { env })).out)).toMatchObject({ balance: 0 });
    expect((await place.run('whoami --json', { env })).out).toContain('"mode": "test"');
    await place.run('sandbox simulate deposit --currency usdt --amount 100 -q', { env: server.env });
    expect((await place.run('sandbox status --json', { env: server.env })).out).toContain('"cards": 0');
    expect(JSON.parse((await place.run('sandbox requests --json', { env: server.env })).out)).toMatchObject({
      page: { total: 1 },
    });
  });

  it('keeps its key from start to start, and never its admin token', async () => {
    const place = await here();
    const secrets = () =>
      Promise.all(['api-key', 'admin-token'].map(name => readFile(join(folderOf(place), name), 'utf8')));
    const first = await start(place);
    const [key, token] = await secrets();
    await first.stop();
    await start(place);
    const [again, other] = await secrets();
    expect(again).toBe(key);
    expect(other).not.toBe(token);
    expect(key).toMatch(/^sk_test_[\w-]{43}\n$/);
  });

  it('is refused while another serves the store, naming its process and address', async () => {
    const place = await here();
    const { row } = await start(place);
    const { code, out, err } = await place.run('sandbox start');
    expect({ code, out }).toEqual({ code: 14, out: '' });
    expect(err).toContain(`a sandbox is started on this store already, by process ${process.pid}`);
    expect(err).toContain(`It serves ${row.url}.`);
    expect((await place.run('sandbox reset --hard --yes')).code).toBe(14);
  });

  it('does not serve books that do not add up, nor a damaged file (exit 15)', async () => {
    const place = await here();
    await (await start(place)).stop();
    const path = join(folderOf(place), 'store.db');
    const whole = await readFile(path);
    const connection = connectTo(path);
    connection.exec('update wallets set balance = 100');
    connection.close();
    const books = await place.run('sandbox start');
    expect(books.code).toBe(15);
    expect(books.err).toContain('does not add up: I2 each cached balance is the sum of its postings');
    await writeFile(path, whole);
    const other = connectTo(path);
    other.exec(`insert into events (seq, id, type, created_at, body)
      values (1000, 'evt_none', 'card.frozen', 0, '{}')`);
    other.close();
    const events = await place.run('sandbox start');
    expect([events.code, events.err]).toEqual([15, expect.stringMatching(/does not add up: I1[3-6] /)]);
    // The second half of the pages in disorder.
    const torn = Buffer.from(whole);
    torn.fill(0xa5, Math.floor(torn.length / 2));
    await writeFile(path, torn);
    const damaged = await place.run('sandbox start');
    expect(damaged.code).toBe(15);
    expect(damaged.err).toMatch(/the sandbox store \S+ is damaged/);
    expect(damaged.err).toContain('try: cardwright sandbox reset --hard');
    expect(torn.equals(await readFile(path))).toBe(true);
  });
});

describe('a sandbox named by the environment', () => {
  it('is steered, ended too, and never mixed up with that of this user when half of the name is missing', async () => {
    const place = await here();
    const server = await start(place);
    const elsewhere = await here();
    const asked = async (line: string, env = server.env) => elsewhere.run(line, { env });
    expect((await asked('sandbox status --json --fields store')).out).toContain(server.row.store);
    expect((await asked('sandbox reset --hard --yes')).code).toBe(2);
    for (const name of ['CARDWRIGHT_SANDBOX_URL', 'CARDWRIGHT_SANDBOX_TOKEN']) {
      const { code, err } = await asked('sandbox reset --yes', { [name]: server.env[name] });
      expect({ code, err }).toMatchObject({ code: 4, err: expect.stringContaining('is set without') });
    }
    expect(JSON.parse((await asked('sandbox stop --json')).out)).toEqual({ url: server.row.url, pid: process.pid });
    expect((await server.ended).code).toBe(0);
  });
});

describe('sandbox stop', () => {
  it('shows no token to a program that took the port of a server that died', async () => {
    const place = await here();
    const seen: string[] = [];
    const impostor = createServer((request, response) => {
      seen.push(`${request.method} ${request.url?.split('?')[0]} ${JSON.stringify(request.headers)}`);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ status: 'ok', version: '1', instance: 'abc', proof: '0'.repeat(64) }));
    });
    impostor.listen(0, '127.0.0.1');
    await once(impostor, 'listening');
    const { port } = impostor.address() as AddressInfo;
    await mkdir(folderOf(place), { recursive: true, mode: 0o700 });
    const facts = { url: `http://127.0.0.1:${port}/v1`, pid: 1, started_at: '2026-11-20T14:03:11Z', instance: 'abc' };
    await writeFile(join(folderOf(place), 'server.json'), JSON.stringify(facts), { mode: 0o600 });
    await writeFile(join(folderOf(place), 'admin-token'), `sandbox_${'x'.repeat(43)}\n`, { mode: 0o600 });
    expect((await place.run('sandbox stop')).code).toBe(12);
    expect(JSON.parse((await place.run('sandbox status --json')).out)).toMatchObject({ server: null });
    impostor.close();
    impostor.closeAllConnections();
    expect(seen).toHaveLength(2);
    for (const request of seen) {
      expect(request).toMatch(/^GET \/_sandbox\/v1\/health /);
      expect(request).not.toMatch(/authorization|xxx/i);
    }
  });
});
