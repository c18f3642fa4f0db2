/**
 * Start-up, one request and a long list of the program as its users have it, packed and installed from the tarball,
 * beside a bare `node -e 0` and beside the peers that are installed (`npm install` in test/bench/peers, `apt install gh`; those that need a newer Node take the one of
 * packaging/). Each round runs every case once, in turn, so that a busy machine slows all of them. Two ratios: of the
 * least times, which is what the programs themselves take, and the median of the ratios within each round.
 * On this Node, and on those of packaging/ (`cd packaging && npm ci --ignore-scripts`) with `--nodes`.
 * `--rounds N` rounds of starts, `--rows N` rows of the list, `--json` for data. `--processor` takes the time of the
 * processor, of all threads, in place of that on the wall: for a machine with other work. It needs bash, whose `times` tells milliseconds.
 */
import { execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const file = fileURLToPath(import.meta.url);
const root = dirname(dirname(file));
const peers = join(root, 'test', 'bench', 'peers', 'node_modules');
const newerNode = join(root, 'packaging', 'node_modules', 'node-24', 'bin', 'node');
const WARM_UP = 2;
const LIST_ROUNDS = 5;
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    rows: { type: 'string', default: '5000' },
    json: { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
    nodes: { type: 'boolean', default: false },
    processor: { type: 'boolean', default: false },
  },
});

/** The first start after the installation: nothing is compiled yet, and it makes the sandbox. */
const FIRST = 'first --sandbox wallet';

/** What the project holds itself to: ours over another case of the same round. */
const GOALS = [
  ['--version', 'node -e 0', 1.5],
  ['--help', 'node -e 0', 1.6],
  ['cards create --help', 'node -e 0', 1.6],
  ['__complete', 'node -e 0', 1.8],
  ...['--version', '--help', 'cards create --help', '__complete'].map(name => [name, 'gh --version', 0.85]),
  ['cards list --json', 'node -e 0', 2.6],
  ['cards list --json', 'gh api', 1.1],
  ['cards list --json', 'stripe get', 0.6],
  ['--sandbox wallet', 'node -e 0', 3.6],
  [FIRST, '--sandbox wallet', 1.6],
];

const TITLES = ['', 'least ms', 'least', 'median', 'peak MB'];

if (options.serve) serve(Number(options.rows));
else await main();

/** A second process, because starting programs one after the other keeps this one from answering. */
function serve(rows) {
  const card = number => ({
    id: `card_7q2w4xk5m6n3p2r7t4v5y6${String(number).padStart(4, '0')}`,
    bin_id: 'bin_2',
    network: 'visa',
    last4: String(1000 + (number % 9000)),
    status: 'active',
    balance: 120,
    spending_limit: 2000,
    label: 'ads: search',
    allowed_categories: [],
    auto_freeze_at: null,
    metadata: {},
    created_at: '2026-11-20T14:03:11Z',
    expires_at: '2029-11-30T23:59:59Z',
  });
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://bench');
    const number = (name, usual) => Number(url.searchParams.get(name) ?? usual);
    const [page, size] = [number('page', 1), number('per_page', 25)];
    const length = Math.max(0, Math.min(size, rows - (page - 1) * size));
    const data = Array.from({ length }, (_, index) => card((page - 1) * size + index));
    url.searchParams.set('page', String(page + 1));
    const more = page * size < rows;
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(more && { link: `<http://${request.headers.host}${url.pathname}${url.search}>; rel="next"` }),
    });
    response.end(JSON.stringify({ data, meta: { page, per_page: size, total: rows }, has_more: more }));
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('disconnect', () => process.exit());
}

async function main() {
  const [rounds, rows] = [Number(options.rounds), Number(options.rows)];
  if (!(rounds >= 1 && rows >= 1)) throw new Error('--rounds and --rows are whole numbers from 1');
  if (!existsSync(join(root, 'dist', 'main.js'))) throw new Error('first: npm run build');
  const server = fork(file, ['--serve', '--rows', String(rows)], { execArgv: [] });
  const home = mkdtempSync(join(tmpdir(), 'cardwright-bench-'));
  try {
    const [port] = await once(server, 'message');
    const { program, facts } = installed(home);
    if (!options.json) process.stdout.write(`${facts}\n\n`);
    for (const node of options.nodes ? allNodes() : [process.execPath]) {
      const { starts, lists } = casesFor({ home, port, program, node });
      const started = measure(starts.filter(runs), rounds);
      const listed = measure(lists.filter(runs), Math.min(rounds, LIST_ROUNDS));
      const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
      const found = { version, started, listed, rows };
      process.stdout.write(options.json ? `${JSON.stringify(found)}\n` : `${report(found)}\n`);
    }
  } finally {
    server.disconnect();
    rmSync(home, { recursive: true });
  }
}

/** The program from its tarball, in a folder of its own, as `npm install` makes it. */
function installed(home) {
  const quiet = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', home];
  const [packed] = JSON.parse(execFileSync('npm', words, { cwd: root, ...quiet }));
  const place = join(home, 'place');
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "private": true }\n');
  const begun = performance.now();
  const install = ['install', '--ignore-scripts', '--prefer-offline', join(home, packed.filename)];
  execFileSync('npm', install, { cwd: place, ...quiet });
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const wasm = packed.files.filter(({ path }) => path.endsWith('.wasm')).reduce((sum, { size }) => sum + size, 0);
  const size = ((packed.unpackedSize - wasm) / 1e6).toFixed(2);
  return {
    program: join(place, 'node_modules', 'cardwright', 'bin', 'cardwright.js'),
    facts: `Unpacked ${size} MB without WebAssembly (goal 3.5); npm install of the tarball took ${seconds} s (goal 5)`,
  };
}

/** The one that runs this, for its release, and the others of packaging/. */
function allNodes() {
  const major = process.versions.node.split('.')[0];
  const others = [20, 22, 24, 26].filter(each => String(each) !== major);
  const paths = others.map(each => join(root, 'packaging', 'node_modules', `node-${each}`, 'bin', 'node'));
  const missing = paths.filter(path => !existsSync(path));
  if (missing.length > 0) throw new Error('first: cd packaging && npm ci --ignore-scripts');
  return [process.execPath, ...paths];
}

function casesFor({ home, port, program, node: ourNode }) {
  // Node 20 reads NODE_EXTRA_CA_CERTS before anything else, 35 ms that are not ours.
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const outside = Object.entries(inherited).filter(
    ([name]) => !/^(?:CARDWRIGHT_|[A-Z]*_PROXY$|[a-z]*_proxy$)/.test(name),
  );
  const embedded = { ...Object.fromEntries(outside), CARDWRIGHT_CONFIG_DIR: home };
  const served = {
    ...embedded,
    CARDWRIGHT_BASE_URL: `http://127.0.0.1:${port}/v1`,
    CARDWRIGHT_API_KEY: 'sk_test_0123456789abcdef0123456789abcdef',
  };
  // Peers find an empty home, no way out but to the server beside them, and a key that opens nothing.
  const stranger = {
    ...Object.fromEntries(outside),
    HOME: home,
    XDG_CONFIG_HOME: home,
    HTTPS_PROXY: 'http://127.0.0.1:9',
    GH_TOKEN: 'none',
    GH_NO_UPDATE_NOTIFIER: '1',
    STRIPE_CLI_TELEMETRY_OPTOUT: '1',
    RESEND_API_KEY: 're_none',
    RESEND_BASE_URL: `http://127.0.0.1:${port}`,
    WRANGLER_SEND_METRICS: 'false',
  };
  const url = `http://127.0.0.1:${port}/v1/cards`;
  const stripeHow = ['--api-base', `http://127.0.0.1:${port}`, '--api-key', 'sk_test_0123456789abcdef0123456789'];
  const node = Number(process.versions.node.split('.')[0]) >= 22 ? process.execPath : newerNode;
  const ours = (words, env = embedded, name = words) => ({
    name,
    file: ourNode,
    args: [program, ...words.split(' ')],
    env,
  });
  const fresh = () => ({ ...embedded, CARDWRIGHT_CONFIG_DIR: mkdtempSync(join(home, 'first-')) });
  const peer = (name, path, args) => ({ name, file: path, args, env: stranger });
  const gh = onPath('gh');
  const stripe = join(peers, '@stripe', 'cli-linux-x64', 'bin', 'stripe');
  const resend = join(peers, 'resend-cli', 'dist', 'cli.cjs');
  const wrangler = join(peers, 'wrangler', 'bin', 'wrangler.js');
  const byHand = `for page in $(seq 1 ${Math.ceil(Number(options.rows) / 100)}); do
    curl --silent --fail "${url}?page=$page&per_page=100" | jq --compact-output '.data[]' || exit 1; done`;
  return {
    starts: [
      { name: 'node -e 0', file: ourNode, args: ['-e', '0'], env: embedded },
      ours('--version'),
      ours('--help'),
      ours('cards create --help'),
      {
        ...ours('__complete bash', embedded, '__complete'),
        args: [program, '__complete', 'bash', 'cardwright cards '],
      },
      ours('cards list --json', served),
      ours('cards list', served),
      ours('--sandbox wallet'),
      { ...ours('--sandbox wallet', undefined, FIRST), fresh },
      ours('--sandbox cards create --bin auto --amount 1'),
      peer('gh --version', gh, ['--version']),
      peer('gh api', gh, ['api', url]),
      peer('stripe --version', stripe, ['--version']),
      peer('stripe get', stripe, ['get', '/v1/cards', ...stripeHow]),
      peer('resend --version', node, [resend, '--version']),
      peer('resend domains list', node, [resend, 'domains', 'list', '--json']),
      peer('wrangler --version', node, [wrangler, '--version']),
    ],
    lists: [
      ours('cards list --all -o ndjson', served),
      ours('cards list --all --json', served),
      peer('gh api --paginate', gh, ['api', '--paginate', '--jq', '.data[]', `${url}?per_page=100`]),
      peer('curl and jq, a process a page', onPath('curl') && onPath('jq') && onPath('sh'), ['-c', byHand]),
    ],
  };
}

function onPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map(folder => join(folder, name)).find(path => existsSync(path)) ?? '';
}

/** Whether everything a case starts is installed. */
function runs({ file: path, args: [script = ''] }) {
  return existsSync(path) && (!script.endsWith('js') || existsSync(script));
}

/** Milliseconds of each case in each round; the first rounds fill the caches of the system and are left out. */
function measure(cases, rounds) {
  const samples = cases.map(one => ({ name: one.name, times: [], peak_kb: peakOf(one) }));
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (let step = 0; step < cases.length; step += 1) {
      const index = (step + round + WARM_UP) % cases.length;
      const time = timed(cases[index]);
      if (round >= 0) samples[index].times.push(time);
    }
  }
  return samples;
}

function timed(one) {
  const { name, file: path, args, env: usual, fresh } = one;
  const env = fresh?.() ?? usual;
  if (options.processor) return processorTime({ name, path, args, env });
  const start = performance.now();
  const { status, stderr } = spawnSync(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1e9 });
  const time = performance.now() - start;
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  return time;
}

/** Milliseconds of the processor, as the shell tells them of its children: `0m0.061s 0m0.012s` in the second line. */
function processorTime({ name, path, args, env }) {
  const script = '"$@" >/dev/null || exit 1; times';
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', path, ...args], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
  const times =
    stdout
      .trim()
      .split('\n')[1]
      .match(/[\d.]+(?=s)/g) ?? [];
  return times.reduce((sum, seconds) => sum + 1000 * Number(seconds), 0);
}

/** Most memory the process had, kB; undefined where GNU time is not installed. */
function peakOf({ file: path, args, env }) {
  const gnuTime = '/usr/bin/time';
  if (!existsSync(gnuTime)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'cardwright-peak-'));
  try {
    const told = join(folder, 'peak');
    spawnSync(gnuTime, ['-f', '%M', '-o', told, path, ...args], { env, stdio: 'ignore' });
    return Number(readFileSync(told, 'utf8').trim().split('\n').at(-1));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function report({ version, started, listed, rows }) {
  const rounds = started[0].times.length;
  return [
    `Node ${version}, ${process.platform}-${process.arch}, ${rounds} rounds; ratios to node -e 0`,
    table(TITLES, started.map(ratioRow(started[0]))),
    '',
    'Goals: ours over the other',
    table(['', 'over', 'least', 'median', 'goal'], GOALS.flatMap(goalRow(started))),
    '',
    `All ${rows} cards, 100 a page, ${listed[0].times.length} rounds; ratios to the first`,
    table(TITLES, listed.map(ratioRow(listed[0]))),
    '',
  ].join('\n');
}

function ratioRow(base) {
  return ({ name, times, peak_kb }) => {
    const numbers = [Math.min(...times).toFixed(1), ...ratiosOf(times, base.times)];
    return [name, ...numbers, peak_kb === undefined ? '-' : (peak_kb / 1024).toFixed(0)];
  };
}

function goalRow(samples) {
  const find = name => samples.find(sample => sample.name === name);
  return ([ours, other, goal]) => {
    const [left, right] = [find(ours), find(other)];
    return right === undefined ? [] : [[ours, other, ...ratiosOf(left.times, right.times), two(goal)]];
  };
}

/** Of the least times, and the median of those within each round. */
function ratiosOf(times, base) {
  return [two(Math.min(...times) / Math.min(...base)), two(median(times.map((time, round) => time / base[round])))];
}

function two(value) {
  return value.toFixed(2);
}

function median(values) {
  const ordered = [...values].sort((a, b) => a - b);
  return (ordered[Math.floor((ordered.length - 1) / 2)] + ordered[Math.ceil((ordered.length - 1) / 2)]) / 2;
}

/** Markdown, as it stands in test/bench/README.md. */
function table(titles, rows) {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map(row => row[column].length)));
  const line = cells => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(titles), line(widths.map(width => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
