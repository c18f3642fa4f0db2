/**
 * Measures the sandbox as programs use it: over loopback, from a second process, with 1 and 16 connections. Peers are
 * measured the same way when they are installed (`npm ci` in test/bench/peers). Results go to standard output as a
 * table; `--json` prints them as data, `--seconds N` sets the length of one run, `--cards N` the cards in the store.
 */
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const here = fileURLToPath(import.meta.url);
const root = dirname(dirname(here));
/** Below node_modules, so that the engine of the store is found from there. */
const entry = join(root, 'node_modules', '.cache', 'cardwright-bench', 'sandbox.mjs');
const peersFolder = join(root, 'test', 'bench', 'peers');

const ROLES = { bench, serve };
const { values: options } = parseArgs({
  strict: false,
  options: {
    role: { type: 'string', default: 'bench' },
    seconds: { type: 'string', default: '4' },
    cards: { type: 'string', default: '1000' },
    store: { type: 'string' },
    json: { type: 'boolean', default: false },
    'own-only': { type: 'boolean', default: false },
  },
});
await ROLES[options.role]();

/** The server's process: a sandbox with cards in it; told where it is by a message, ends when its parent does. */
async function serve() {
  const { startSandbox } = await import(pathToFileURL(entry).href);
  const sandbox = await startSandbox({ store: options.store, rateLimits: false, wallet: 10_000_000 });
  process.send({ url: sandbox.url, key: sandbox.key.expose(), pid: process.pid });
  process.on('disconnect', () => void sandbox.stop());
}

/** The sandbox in one file, as the package has it. */
async function bundle() {
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: ['src/sandbox/start.ts'],
    outfile: entry,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['@photostructure/sqlite'],
  });
}

async function bench() {
  await bundle();
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-bench-'));
  const rows = [];
  try {
    rows.push(...(await measureSandbox(folder)));
    if (!options['own-only'] && existsSync(join(peersFolder, 'node_modules')))
      rows.push(...(await measurePeers(folder)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  print(rows);
}

async function measureSandbox(folder) {
  const rows = [];
  for (const [name, store] of [
    ['cardwright, on disk', join(folder, 'store.db')],
    ['cardwright, in memory', 'memory'],
  ]) {
    const child = fork(here, ['--role', 'serve', '--store', store], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const { url, key } = await new Promise(resolve => child.once('message', resolve));
    const server = { port: Number(new URL(url).port), headers: `Authorization: Bearer ${key}\r\n`, pid: child.pid };
    const bin = JSON.parse((await once(server, get('/v1/bins'))).body).data[0].id;
    const create = nth => post('/v1/cards', { bin_id: bin, amount: 1, label: `card ${nth}` }, `bench-${nth}`);
    await repeat(server, { connections: 16, request: nth => create(`seed-${nth}`), count: Number(options.cards) });
    const page = () => get('/v1/cards?per_page=25');
    for (const connections of [1, 16]) {
      rows.push({ name, what: 'page of 25', ...(await run(server, connections, page)) });
      rows.push({ name, what: 'create', ...(await run(server, connections, nth => create(`${connections}-${nth}`))) });
    }
    child.disconnect();
    await new Promise(resolve => child.once('exit', resolve));
  }
  return rows;
}

/** Warm-up of half a second, then the measured run. */
async function run(server, connections, request) {
  const seconds = Number(options.seconds);
  await repeat(server, { connections, request: nth => request(`warm-${nth}`), until: performance.now() + 500 });
  const began = performance.now();
  const times = await repeat(server, { connections, request, until: began + seconds * 1000 });
  const took = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const at = part => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  const rate = Math.round(times.length / took);
  return { connections, rate, p50: at(0.5), p99: at(0.99), peak_mb: await peakMemory(server.pid) };
}

/** Peak resident memory of the server so far, MB; undefined where the system does not tell. */
async function peakMemory(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /VmHWM:\s+(\d+)/.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
}

function get(path) {
  return { method: 'GET', path };
}

function post(path, body, key) {
  return { method: 'POST', path, body: JSON.stringify(body), key };
}

/** Sends requests one after another on each connection; resolves to the time each took, ms. */
async function repeat(
  server,
  { connections, request, until = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY },
) {
  const times = [];
  let sent = 0;
  const one = async () => {
    const line = await connection(server);
    while (performance.now() < until && sent < count) {
      const began = performance.now();
      const { status, body } = await line.ask(request(sent++));
      if (status >= 400) throw new Error(`answered ${status}: ${body}`);
      times.push(performance.now() - began);
    }
    line.close();
  };
  await Promise.all(Array.from({ length: connections }, one));
  return times;
}

async function once(server, request) {
  const line = await connection(server);
  const answer = await line.ask(request);
  line.close();
  return answer;
}

/** A kept connection of the plainest kind, so that what is measured is the server and not a client library. */
function connection({ port, headers }) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let buffered = Buffer.alloc(0);
  let waiting;
  socket.on('data', part => {
    buffered = buffered.length === 0 ? part : Buffer.concat([buffered, part]);
    const answer = wholeAnswer(buffered);
    if (answer === undefined) return;
    buffered = buffered.subarray(answer.length);
    waiting.resolve(answer);
  });
  socket.on('error', error => waiting?.reject(error));
  socket.on('close', () => waiting?.reject(new Error('the server closed the connection')));
  const ask = ({ method, path, body, key }) => {
    const kept = key === undefined ? '' : `X-Idempotency-Key: ${key}\r\n`;
    const sized =
      body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(
        `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}${kept}${sized}\r\n${body ?? ''}`,
      );
    });
  };
  const close = () => {
    waiting = undefined;
    socket.destroy();
  };
  return new Promise((resolve, reject) => {
    waiting = { resolve, reject };
    socket.on('connect', () => resolve({ ask, close }));
  });
}

/** Status, body and length of an answer once all of it is there: sized or in chunks. */
function wholeAnswer(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const status = Number(head.slice(9, 12));
  const size = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (size !== undefined) {
    const length = end + 4 + Number(size);
    return bytes.length < length ? undefined : { status, length, body: bytes.toString('utf8', end + 4, length) };
  }
  const last = bytes.indexOf('\r\n0\r\n\r\n', end + 2, 'latin1');
  return last < 0 ? undefined : { status, length: last + 7, body: bytes.toString('utf8', end + 4, last) };
}

function print(rows) {
  if (options.json) return process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
  process.stdout.write(
    '| server | request | connections | a second | p50 ms | p99 ms | peak MB |\n|---|---|---|---|---|---|---|\n',
  );
  for (const { name, what, connections, rate, p50, p99, peak_mb } of rows) {
    process.stdout.write(
      `| ${name} | ${what} | ${connections} | ${rate} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${peak_mb ?? '-'} |\n`,
    );
  }
  return true;
}
