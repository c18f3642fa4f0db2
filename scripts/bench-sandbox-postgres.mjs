/**
 * Measures `cards fund` over HTTP against a sandbox on PostgreSQL beside one on SQLite, in one run: to one server, and to 4
 * servers of the same database, on one wallet and on four. First with 8 connections altogether, then with 32, which is 8 for
 * each of the four, then with 64. Round after round, so that a busy machine slows all of them; a figure is the median.
 * PostgreSQL is that of test/postgres, with fsync on, over its socket. `--connections A,B`, `--rounds N`, `--seconds N` for one
 * load. Goals: one server 0.35 of SQLite with 8 connections, four servers 0.5 of one.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values: options } = parseArgs({
  options: {
    connections: { type: 'string', default: '8,32,64' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
  },
});
const root = dirname(import.meta.dirname);
const PROGRAM = join(root, 'bin', 'cardwright.js');

const folder = await mkdtemp(join(process.getuid?.() === 0 ? '/var/tmp' : tmpdir(), 'cwbench-'));
const children = [];
let stopServer;
let postmaster;
try {
  const { server, close } = await postgres();
  stopServer = close;
  postmaster = server.pid;
  const store = `postgres://postgres@${encodeURIComponent(server.socket)}:${server.port}/postgres?prepare=yes`;
  const many = [await start('one', ['--store', store, '--migrate'])];
  for (const name of ['two', 'three', 'four']) many.push(await start(name, ['--store', store]));
  const wallets = [];
  for (const name of ['a', 'b', 'c', 'd']) wallets.push(await account(name, store));
  const light = await start('light', ['--data', 'empty']);
  const lightKey = (await readFile(light.api_key_file, 'utf8')).trim();
  const lightToken = (await readFile(join(dirname(light.api_key_file), 'admin-token'), 'utf8')).trim();
  const one = many.slice(0, 1);
  const cases = [
    ['SQLite, 1 server, 1 wallet', [light], [{ api_key: lightKey, admin_token: lightToken }]],
    ['PostgreSQL, 1 server, 1 wallet', one, wallets.slice(0, 1)],
    ['PostgreSQL, 4 servers, 1 wallet', many, wallets.slice(0, 1)],
    ['PostgreSQL, 1 server, 4 wallets', one, wallets],
    ['PostgreSQL, 4 servers, 4 wallets', many, wallets],
  ];
  for (const [, servers, accounts] of cases) for (const each of accounts) each.card ??= await funded(servers[0], each);
  for (const connections of options.connections.split(',').map(Number)) await measure(cases, connections);
} finally {
  for (const child of children) child.kill('SIGKILL');
  await stopServer?.();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Loads every case with so many connections, round after round, and prints the medians and their ratios. */
async function measure(cases, connections) {
  const rates = cases.map(() => []);
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const [at, [, servers, accounts]] of cases.entries())
      rates[at].push(await load(servers, accounts, connections));
  }
  const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
  const told = rates.map(list => median(list.map(({ rate }) => rate)));
  process.stdout.write(`\n${connections} connections altogether\n\n`);
  process.stdout.write(
    '| | funds a second | server, ms a fund | database, ms a fund | client, ms a fund |\n|---|---|---|---|---|\n',
  );
  for (const [at, [name]] of cases.entries()) {
    const times = ['server', 'database', 'client'].map(part => median(rates[at].map(each => each[part])).toFixed(2));
    process.stdout.write(`| ${name} | ${Math.round(told[at])} | ${times.join(' | ')} |\n`);
  }
  const ratio = (a, b) => (told[a] / told[b]).toFixed(2);
  process.stdout.write(`\none server over SQLite: ${ratio(1, 0)} (goal 0.35)\n`);
  process.stdout.write(`four servers over one, one wallet: ${ratio(2, 1)}; four wallets: ${ratio(4, 3)} (goal 0.5)\n`);
}

/** The server of the tests, bundled so that this Node reads it. */
async function postgres() {
  const outfile = join(root, 'node_modules', '.cache', 'bench-postgres.mjs');
  await build({
    ...{ entryPoints: [join(root, 'test/postgres/server.ts')], bundle: true, platform: 'node', format: 'esm', outfile },
    define: { 'import.meta.dirname': JSON.stringify(join(root, 'test', 'postgres')) },
  });
  const { startServer, stopServer: stop } = await import(outfile);
  const server = await startServer(folder);
  return { server, close: () => stop(server) };
}

async function start(name, words) {
  const all = ['sandbox', 'start', '--no-rate-limits', '--json', ...words];
  if (words.includes('--store')) all.push('--admin');
  const child = spawn(process.execPath, [PROGRAM, ...all], {
    env: environment(name),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const said = await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', code => reject(new Error(`${name} ended with ${code}`)));
  });
  return JSON.parse(String(said));
}

async function account(name, store) {
  const words = ['sandbox', 'accounts', 'create', name, '--data', 'empty', '--store', store, '--json'];
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    env: environment(name),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  for await (const part of child.stdout) out += part;
  return JSON.parse(out);
}

function environment(name) {
  return { PATH: process.env.PATH, HOME: folder, CARDWRIGHT_CONFIG_DIR: join(folder, `home-${name}`) };
}

/** A card in a wallet with enough for every load. */
async function funded({ url }, { api_key, admin_token }) {
  const post = (address, key, body) =>
    fetch(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(answer => answer.json());
  const admin = `${new URL(url).origin}/_sandbox/v1`;
  const deposit = await post(`${admin}/simulate/deposits`, admin_token, {
    currency: 'usdt',
    amount: 900_000,
    confirmations: 'manual',
  });
  await post(`${admin}/simulate/deposits/${deposit.deposit_id ?? deposit.id}/confirm`, admin_token, {});
  const bins = await fetch(`${url}/bins`, { headers: { authorization: `Bearer ${api_key}` } }).then(got => got.json());
  return (await post(`${url}/cards`, api_key, { bin_id: bins.data[0].id, amount: 1 })).id;
}

/** Funds of 1.00 a second from so many connections, each with a key of its own. */
async function load(servers, accounts, connections) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + Number(options.seconds) * 1000;
  const began = performance.now();
  const before = await processorTimes();
  let done = 0;
  const client = async at => {
    const { url } = servers[at % servers.length];
    const { api_key, card } = accounts[at % accounts.length];
    while (performance.now() < until) {
      const key = `fund-${at}-${done}-${performance.now()}`;
      const status = await fund(agent, { address: `${url}/cards/${card}/fund`, api_key, key });
      if (status !== 200) throw new Error(`a fund was answered ${status}`);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, at) => client(at)));
  agent.destroy();
  const seconds = (performance.now() - began) / 1000;
  const after = await processorTimes();
  const spent = part => (after[part] - before[part]) / done;
  return { rate: done / seconds, server: spent('server'), database: spent('database'), client: spent('client') };
}

/** Processor time so far, ms, of all servers, of all processes of the database and of this client. */
async function processorTimes() {
  const { user, system } = process.cpuUsage();
  const parents = await Promise.all((await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(statOf));
  const ours = children.map(({ pid }) => pid);
  const sum = wanted => parents.filter(wanted).reduce((all, { ms }) => all + ms, 0);
  return {
    server: sum(({ pid }) => ours.includes(pid)),
    database: sum(({ pid, parent }) => pid === postmaster || parent === postmaster),
    client: (user + system) / 1000,
  };
}

/** Its parent and processor time; the kernel counts a hundred ticks a second. */
async function statOf(pid) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, parent, , , , , , , , , , user, system] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { pid: Number(pid), parent: Number(parent), ms: (Number(user) + Number(system)) * 10 || 0 };
}

function fund(agent, { address, api_key, key }) {
  const body = '{"amount":5}';
  const headers = {
    authorization: `Bearer ${api_key}`,
    'content-type': 'application/json',
    'content-length': String(body.length),
    'x-idempotency-key': key,
  };
  return new Promise((resolve, reject) => {
    const sent = request(address, { method: 'POST', agent, headers }, answer => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
