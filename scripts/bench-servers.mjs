/** The servers `bench-sandbox.mjs` compares, each in a process of its own, with the same cards in it. */
import { fork, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { get, once, post, repeat } from './bench-load.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const peers = join(root, 'test', 'bench', 'peers');
/** Below node_modules, so that the engine of the store is found from there. */
const cache = join(root, 'node_modules', '.cache', 'cardwright-bench');

/** Where a file of the bundle is. */
export const bundled = name => join(cache, name);

export const peersAreInstalled = existsSync(join(peers, 'node_modules'));

/** Bundles the sandbox and the document of the service; `alone` gives every request a transaction of its own. */
export async function bundle() {
  const common = { absWorkingDir: root, bundle: true, format: 'esm', platform: 'node', target: 'node20.19' };
  const external = ['@photostructure/sqlite'];
  await mkdir(cache, { recursive: true });
  const entryPoints = ['src/sandbox/serving/start.ts'];
  await build({ ...common, external, entryPoints, outfile: join(cache, 'sandbox.mjs') });
  await build({ ...common, external, entryPoints, outfile: join(cache, 'alone.mjs'), plugins: [alone] });
  await build({ ...common, entryPoints: ['src/platform/v8.ts'], outfile: join(cache, 'room.mjs') });
  await build({ ...common, entryPoints: ['src/contract/openapi/document.ts'], outfile: join(cache, 'openapi.mjs') });
}

const alone = {
  name: 'one-transaction-a-request',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]sandbox[\\/]store[\\/]queue\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text.replace(/const LARGEST_BATCH = \d+;/, 'const LARGEST_BATCH = 1;');
      if (contents === text) throw new Error('the size of a batch is not where it was');
      return { contents, loader: 'ts' };
    });
  },
};

const bin = 'bin_2';
const card = number => ({
  id: `card_${number}`,
  bin_id: bin,
  network: 'visa',
  last4: String(1000 + (number % 9000)),
  status: 'active',
  balance: 1,
  spending_limit: 2000,
  label: `card ${number}`,
  allowed_categories: [],
  auto_freeze_at: null,
  metadata: {},
  created_at: '2026-11-20T14:03:11Z',
  expires_at: '2029-11-30T23:59:59Z',
});
const wish = nth => ({ bin_id: bin, amount: 1, label: `card ${nth}` });

/** A running server: `page` and `create` make its requests, `health` is the first thing it can be asked. */
async function cardwright(name, { store, file = 'sandbox.mjs', cards }) {
  const child = fork(join(root, 'scripts', 'bench-sandbox.mjs'), ['--role', 'serve', '--store', store], {
    env: { ...process.env, BENCH_ENTRY: join(cache, file), BENCH_ROOM: join(cache, 'room.mjs') },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { url, key } = await new Promise(resolve => child.once('message', resolve));
  const server = { port: Number(new URL(url).port), headers: `Authorization: Bearer ${key}\r\n` };
  const { id } = JSON.parse((await once(server, get('/v1/bins'))).body).data[0];
  const create = nth => post('/v1/cards', { ...wish(nth), bin_id: id }, `bench-${nth}`);
  await repeat(server, { connections: 16, request: nth => create(`seed-${nth}`), count: cards });
  return { name, child, server, create, page: () => get('/v1/cards?per_page=25') };
}

/** node:http with the bytes of one of our pages and one of our cards. */
async function bareServer(own) {
  const { body: page } = await once(own.server, own.page());
  const { body: made } = await once(own.server, own.create('bare'));
  const child = fork(join(root, 'scripts', 'bench-sandbox.mjs'), ['--role', 'bare']);
  child.send([page, made]);
  const { port } = await new Promise(resolve => child.once('message', resolve));
  return { name: 'node:http, a constant answer', child, server: { port }, create: own.create, page: own.page };
}

/** A peer on a free port; `args` get the port, `make` its files. */
async function peer(name, { program, args, page, path, cards, keyed = false }) {
  const port = await freePort();
  const child = spawn(process.execPath, [join(peers, 'node_modules', program), ...args(port)], {
    cwd: peers,
    env: { PATH: process.env.PATH, HOME: cache },
    stdio: 'ignore',
  });
  const server = { port, headers: keyed ? 'Authorization: Bearer sk_test_0123456789abcdef\r\n' : '' };
  await answering(server, get(page));
  const create = nth => post(path, wish(nth));
  const { body } = await once(server, get(page));
  const rows = JSON.parse(body);
  const count = (Array.isArray(rows) ? rows : rows.data).length;
  if (count !== 25) throw new Error(`${name} answers with ${count} cards, not with 25 (of ${cards})`);
  return { name, child, server, create, page: () => get(page) };
}

const PRISM = '@stoplight/prism-cli/dist/index.js';
const prismArgs = file => port => ['mock', file, '-p', String(port), '-h', '127.0.0.1', '-v', 'fatal'];

/** The document with a page of 25 cards as the example of the list: Prism answers with it. */
async function prismFile(folder) {
  const { openApiDocument } = await import(join(cache, 'openapi.mjs'));
  const document = structuredClone(openApiDocument());
  const answer = document.paths['/cards'].get.responses['200'].content['application/json'];
  answer.example = {
    data: Array.from({ length: 25 }, (_, at) => card(at)),
    meta: { page: 1, per_page: 25, total: 25, total_pages: 1 },
  };
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}

async function mockoonFile(folder, rows) {
  const { BuildEnvironment, BuildCRUDRoute, BuildDatabucket } = createRequire(join(peers, 'package.json'))(
    '@mockoon/commons',
  );
  const bucket = { ...BuildDatabucket(), name: 'cards', value: JSON.stringify(rows) };
  const route = { ...BuildCRUDRoute(), endpoint: 'cards' };
  route.responses[0].databucketID = bucket.id;
  const environment = { ...BuildEnvironment(), routes: [route], data: [bucket], folders: [] };
  environment.rootChildren = [{ type: 'route', uuid: route.uuid }];
  const file = join(folder, 'mockoon.json');
  await writeFile(file, JSON.stringify(environment));
  return file;
}

/** Starts all of them, one after the other; the sandbox twice more, as it would be without group commit and in memory. */
export async function startAll(folder, { cards, withPeers }) {
  const own = [
    await cardwright('cardwright', { store: join(folder, 'store.db'), cards }),
    await cardwright('cardwright, one transaction a request', {
      store: join(folder, 'alone.db'),
      file: 'alone.mjs',
      cards,
    }),
    await cardwright('cardwright, in memory', { store: 'memory', cards }),
  ];
  own.push(await bareServer(own[0]));
  return withPeers ? [...own, ...(await startPeers(folder, cards))] : own;
}

const isThere = program => existsSync(join(peers, 'node_modules', program));
const JSON_SERVER = 'json-server/lib/cli/bin.js';
const MOCKOON = '@mockoon/cli/bin/run.js';

/** Those that are installed. */
async function startPeers(folder, cards) {
  const rows = Array.from({ length: cards }, (_, at) => card(at));
  const started = [];
  if (isThere(PRISM)) {
    const args = prismArgs(await prismFile(folder));
    const asked = { page: '/cards?per_page=25', path: '/cards', keyed: true };
    started.push(await peer('Prism mock', { program: PRISM, args, ...asked, cards }));
  }
  if (isThere(JSON_SERVER)) {
    const db = join(folder, 'db.json');
    await writeFile(db, JSON.stringify({ cards: rows }));
    const args = port => [db, '--port', String(port), '--host', '127.0.0.1', '--quiet'];
    const asked = { page: '/cards?_page=1&_limit=25', path: '/cards' };
    started.push(await peer('json-server', { program: JSON_SERVER, args, ...asked, cards }));
  }
  if (isThere(MOCKOON)) {
    const environment = await mockoonFile(folder, rows);
    const args = port => [
      'start',
      '-d',
      environment,
      '-p',
      String(port),
      '-l',
      '127.0.0.1',
      '-X',
      '--disable-admin-api',
    ];
    const asked = { page: '/cards?page=1&limit=25', path: '/cards' };
    started.push(await peer('Mockoon', { program: MOCKOON, args, ...asked, cards }));
  }
  return started;
}

/** Milliseconds from the start of a program to its first answer, ours and Prism's in turn. */
export async function firstAnswers(folder, rounds) {
  const document = await prismFile(folder);
  const ours = async nth => {
    const env = { ...process.env, CARDWRIGHT_CONFIG_DIR: join(folder, `home-${nth}`), NODE_EXTRA_CA_CERTS: '' };
    const program = join(root, 'bin', 'cardwright.js');
    return timed(
      port => [program, 'sandbox', 'start', '--port', String(port), '--data', 'empty'],
      env,
      '/_sandbox/v1/health',
    );
  };
  const prism = () => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: '' };
    return timed(port => [join(peers, 'node_modules', PRISM), ...prismArgs(document)(port)], env, '/bins');
  };
  const times = { ours: [], prism: [] };
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push(await ours(round));
    times.prism.push(await prism());
  }
  return times;
}

async function timed(args, env, path) {
  const port = await freePort();
  const began = performance.now();
  const child = spawn(process.execPath, args(port), { env, stdio: 'ignore' });
  await answering({ port }, get(path));
  const took = performance.now() - began;
  const ended = new Promise(resolve => child.once('exit', resolve));
  child.kill();
  await ended;
  return took;
}

async function answering(server, request) {
  const deadline = performance.now() + 60_000;
  for (;;) {
    try {
      return await once(server, request);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise(resolve => setTimeout(resolve, 2));
    }
  }
}

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
