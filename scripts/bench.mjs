/**
 * Start-up of the built program beside a bare `node -e 0`, in one run. Each round starts every case once, in turn, so
 * that a busy machine slows all of them; a ratio is taken within its round. `npm run bench -- 60` makes 60 rounds.
 */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(import.meta.url);
const program = join(dirname(dirname(file)), 'bin', 'cardwright.js');
const WARM_UP = 3;

if (process.argv[2] === 'serve') serve();
else await main(Number(process.argv[2] ?? 30));

/** A second process, because starting programs one after the other keeps this one from answering. */
function serve() {
  const card = number => ({
    id: `card_7q2w4xk5m6n3p2r7t4v5y6${String(number).padStart(2, '0')}`,
    bin_id: 'bin_2',
    network: 'visa',
    last4: String(1000 + number),
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
  const data = Array.from({ length: 25 }, (_, index) => card(index));
  const body = JSON.stringify({ data, meta: { page: 1, per_page: 25, total: 25 } });
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('disconnect', () => process.exit());
}

async function main(rounds) {
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('the number of rounds is a whole number from 1');
  if (!existsSync(join(dirname(program), '..', 'dist', 'main.js'))) throw new Error('first: npm run build');
  const server = fork(file, ['serve'], { execArgv: [] });
  const home = mkdtempSync(join(tmpdir(), 'cardwright-bench-'));
  try {
    const [port] = await once(server, 'message');
    const samples = measure(casesFor(home, port), rounds);
    process.stdout.write(report(samples, rounds));
  } finally {
    server.disconnect();
    rmSync(home, { recursive: true });
  }
}

function casesFor(home, port) {
  // Node 20 reads NODE_EXTRA_CA_CERTS before anything else, 35 ms that are not ours.
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const outside = Object.entries(inherited).filter(([name]) => !name.startsWith('CARDWRIGHT_'));
  const embedded = { ...Object.fromEntries(outside), CARDWRIGHT_CONFIG_DIR: home };
  const served = {
    ...embedded,
    CARDWRIGHT_BASE_URL: `http://127.0.0.1:${port}/v1`,
    CARDWRIGHT_API_KEY: 'sk_test_0123456789abcdef0123456789abcdef',
  };
  const ours = (words, env = embedded) => ({ name: words, args: [program, ...words.split(' ')], env });
  return [
    { name: 'node -e 0', args: ['-e', '0'], env: embedded },
    ours('--version'),
    ours('--help'),
    ours('cards create --help'),
    ours('cards list --json', served),
    ours('--sandbox wallet'),
    ours('--sandbox cards create --bin auto --amount 1'),
  ];
}

/** Milliseconds of each case in each round; the first rounds fill the caches of the system and are left out. */
function measure(cases, rounds) {
  const samples = cases.map(({ name }) => ({ name, times: [] }));
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (let step = 0; step < cases.length; step += 1) {
      const index = (step + round + WARM_UP) % cases.length;
      const time = timed(cases[index]);
      if (round >= 0) samples[index].times.push(time);
    }
  }
  return samples;
}

function timed({ name, args, env }) {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const time = performance.now() - start;
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  return time;
}

function report(samples, rounds) {
  const bare = samples[0].times;
  const rows = samples.map(({ name, times }) => {
    const ratios = sorted(times.map((time, round) => time / bare[round]));
    const numbers = [median(sorted(times)), ratios[0], median(ratios), ratios.at(-1)];
    return `${name.padEnd(46)}${numbers.map((value, at) => value.toFixed(at === 0 ? 1 : 2).padStart(9)).join('')}\n`;
  });
  const titles = ['ms', 'min', 'median', 'max'].map(title => title.padStart(9)).join('');
  return `Node ${process.version}, ${process.platform}-${process.arch}, ${rounds} rounds; ratios to node -e 0
${''.padEnd(46)}${titles}\n${rows.join('')}`;
}

function sorted(values) {
  return [...values].sort((a, b) => a - b);
}

function median(ordered) {
  return (ordered[Math.floor((ordered.length - 1) / 2)] + ordered[Math.ceil((ordered.length - 1) / 2)]) / 2;
}
