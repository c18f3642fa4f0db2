/**
 * Measures a shared journal beside the files of one machine, with the built program, a sandbox and a PostgreSQL of its own:
 * transactions of the database for each money operation and each reading one; the time of a whole `cards fund` over a socket and
 * over TLS; a bulk run. `--rows N`, `--repeats N`, `--json`. Needs `(cd test/postgres && npm ci)`, or another server by
 * `CARDWRIGHT_TEST_POSTGRES_BIN`.
 */
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '20000' },
    repeats: { type: 'string', default: '15' },
    json: { type: 'boolean', default: false },
  },
});
const [rows, repeats] = [Number(options.rows), Number(options.repeats)];
const SINGLES = 10;
const PASSWORD = 'password of a benchmark';

const folder = await mkdtemp(join(tmpdir(), 'cardwright-bench-team-'));
await chmod(folder, 0o755);
const { asAdmin, selfSigned, settingsAt, startServer, stopServer } = await parts();
const { startSandbox } = await import(pathToFileURL(join(root, 'dist/library-sandbox.cjs')).href);
const postgres = join(folder, 'postgres');
await (await import('node:fs/promises')).mkdir(postgres);
const server = await startServer(postgres, { port: 20_000 + (process.pid % 20_000), tls: selfSigned('a benchmark') });
const sandbox = await startSandbox({
  store: join(folder, 'store.db'),
  listen: 'tcp',
  ids: 'counted',
  rateLimits: false,
  wallet: 10_000_000,
});
const LOCAL = {};
const address = role => `postgres://${role}@${encodeURIComponent(server.socket)}:${server.port}/postgres`;
const SOCKET = { CARDWRIGHT_JOURNAL_URL: address('ana') };
const TLS = {
  CARDWRIGHT_JOURNAL_URL: `postgres://ana@127.0.0.1:${server.port}/postgres?sslmode=verify-full&sslrootcert=${join(postgres, 'data', 'server.crt')}`,
  PGPASSWORD: PASSWORD,
};

try {
  await measure();
} finally {
  await sandbox.stop();
  await stopServer(server);
  await rm(folder, { recursive: true, force: true });
}

/** Parts of the tests and of the program, bundled. */
async function parts() {
  const contents = [
    "export { settingsAt } from './test/postgres/journal-server.ts';",
    "export { startServer, stopServer } from './test/postgres/server.ts';",
    "export { selfSigned } from './test/support/certificate.ts';",
    "export { asAdmin } from './src/journal/postgres.ts';",
  ].join('\n');
  const outfile = join(folder, 'parts.mjs');
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    define: { 'import.meta.dirname': JSON.stringify(join(root, 'test/postgres')) },
    banner: {
      js: "import { createRequire as madeRequire } from 'node:module'; const require = madeRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

async function measure() {
  const ask = await prepared();
  const counter = callCounter(ask);
  const calls = await countCalls(counter);
  const fund = await timeFunds();
  const bulk = await timeBulk(counter);
  const result = { calls, fund, bulk };
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else show(result);
}

/** An account with one operator, and a card of each journal: what another journal moves on a card is waited for. */
async function prepared() {
  const ask = text => asAdmin(settingsAt(address('postgres')), tx => tx.all(text));
  await run(['journal', 'init', address('postgres'), '--key'], LOCAL);
  await ask(`create role ana login password '${PASSWORD}' in role cardwright_operator`);
  for (const amount of ['10', '11']) await run(['cards', 'create', '--bin', 'bin_1', '--amount', amount, '-q'], LOCAL);
  return ask;
}

/** ms of the whole process. */
function run(args, journal) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    // A machine that uses the shared journal keeps none of its own beside it.
    CARDWRIGHT_CONFIG_DIR: join(folder, journal === LOCAL ? 'home' : 'home of a member'),
    CARDWRIGHT_API_KEY: sandbox.key,
    CARDWRIGHT_BASE_URL: sandbox.url,
    ...journal,
  };
  const from = performance.now();
  const child = spawn(process.execPath, [join(root, 'bin/cardwright.js'), ...args], { env, cwd: folder });
  let err = '';
  child.stderr.on('data', text => {
    err += text;
  });
  child.stdout.resume();
  return new Promise((resolve, reject) => {
    child.on('close', code => {
      if (code === 0) resolve(performance.now() - from);
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${err}`));
    });
  });
}

/** The server counts transactions when a session has ended. */
function callCounter(ask) {
  return async () => {
    await ask('select pg_stat_force_next_flush()');
    const [{ count }] = await ask(`select xact_commit as count from pg_stat_database where datname = 'postgres'`);
    return Number(count);
  };
}

async function countCalls(committed) {
  const before = await committed();
  const ours = (await committed()) - before;
  const each = async args => {
    const first = await committed();
    for (let index = 0; index < SINGLES; index += 1) await run(args(index), SOCKET);
    return Math.round((((await committed()) - first - ours) / SINGLES) * 10) / 10;
  };
  return {
    fund: await each(index => ['cards', 'fund', 'card_2', '--amount', `1.${10 + index}`, '-q']),
    create: await each(() => ['cards', 'create', '--bin', 'bin_1', '--amount', '1', '-q']),
    get: await each(() => ['cards', 'get', 'card_1', '-q']),
  };
}

/** Medians, ms; in turns, so that a busy machine is busy for all. */
async function timeFunds() {
  const times = { local: [], socket: [], tls: [] };
  const ways = { local: ['card_1', LOCAL], socket: ['card_2', SOCKET], tls: ['card_2', TLS] };
  for (let index = 0; index < repeats; index += 1) {
    for (const [name, [card, journal]] of Object.entries(ways)) {
      times[name].push(await run(['cards', 'fund', card, '--amount', `1.${10 + (index % 89)}`, '-q'], journal));
    }
  }
  const median = list => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];
  const [local, socket, tls] = Object.values(times).map(median);
  return { local, socket, tls, socketRatio: socket / local, tlsRatio: tls / local };
}

/** Rows a second of one file of creates. */
async function timeBulk(committed) {
  const speed = async (name, journal) => {
    const lines = Array.from({ length: rows }, (_, row) => `bin_1,1,${name} ${row}`);
    const file = join(folder, `${name}.csv`);
    await writeFile(file, `bin_id,amount,label\n${lines.join('\n')}\n`);
    const words = ['cards', 'create', '--file', file, '--yes', '--concurrency', '64', '-q'];
    return rows / ((await run(words, journal)) / 1000);
  };
  const local = await speed('local', LOCAL);
  const before = await committed();
  const shared = await speed('shared', SOCKET);
  return { rows, local, shared, ratio: shared / local, calls: (await committed()) - before };
}

function show({ calls, fund, bulk }) {
  const ms = value => `${Math.round(value)} ms`;
  const lines = [
    `transactions of the database, one of them the login: fund ${calls.fund}, create ${calls.create}, get ${calls.get}`,
    `cards fund, whole process, median of ${repeats}: local ${ms(fund.local)}, socket ${ms(fund.socket)} (${fund.socketRatio.toFixed(2)}), TLS ${ms(fund.tls)} (${fund.tlsRatio.toFixed(2)})`,
    `${bulk.rows} creates, 64 workers: local ${Math.round(bulk.local)} rows/s, shared ${Math.round(bulk.shared)} rows/s (${bulk.ratio.toFixed(2)}), ${bulk.calls} transactions`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
