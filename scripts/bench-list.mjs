/**
 * `tx list --all` beside `curl | jq -c` (one connection, all pages) on the same server in one run: wall time, processor
 * time and peak memory, for NDJSON and CSV, and how soon `| head -1` ends. `curl alone` is what the server takes at least.
 * `node scripts/bench-list.mjs [rows] [rounds]`, 1,000,000 rows and 1 round when left out. Needs curl, jq and GNU time
 * (apt-get install curl jq time). On a busy machine compare processor times: two programs in a pipe get twice the share
 * of one.
 */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(import.meta.url);
const program = join(dirname(dirname(file)), 'bin', 'cardwright.js');
const PER_PAGE = 100;

if (process.argv[2] === 'serve') serve();
else await main(Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 1));

/**
 * A process of its own; `/v1/<rows>/transactions` holds so many. The bytes of its pages are there before it is asked:
 * only the ids, which differ in every row, are put into a copy, so that it is no part of what is measured.
 */
function serve() {
  const row = number => ({
    id: `txn_${'0'.repeat(24)}`,
    card_id: `card_${String(number % 977).padStart(24, '0')}`,
    type: 'authorization',
    status: 'pending',
    amount: ((number * 37) % 100_000) / 100,
    currency: 'USD',
    merchant: `Merchant ${number % 5003}`,
    mcc: '5814',
    merchant_country: 'US',
    authorization_id: null,
    decline_reason: null,
    created_at: '2026-11-20T14:03:11Z',
  });
  const made = Array.from({ length: 128 }, (_, page) => {
    const rows = Array.from({ length: PER_PAGE }, (_, index) => JSON.stringify(row(page * PER_PAGE + index)));
    const bytes = Buffer.from(`{"data":[${rows.join(',')}]`);
    const idEnds = [];
    for (let at = bytes.indexOf('"txn_'); at >= 0; at = bytes.indexOf('"txn_', at + 1)) idEnds.push(at + 28);
    return { bytes, idEnds };
  });
  const answer = line => {
    const total = Number(/\/v1\/(\d+)\//.exec(line)?.[1]);
    const page = Number(/[?&]page=(\d+)/.exec(line)?.[1] ?? 1);
    const { bytes, idEnds } = made[page % made.length];
    const from = (page - 1) * PER_PAGE;
    if (from >= total || total % PER_PAGE !== 0) throw new Error(`${line}: the rows fill whole pages`);
    const meta = { page, per_page: PER_PAGE, total, total_pages: total / PER_PAGE };
    const tail = `,"meta":${JSON.stringify(meta)}}`;
    const length = bytes.length + tail.length;
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    const whole = Buffer.concat([Buffer.from(head), bytes, Buffer.from(tail)]);
    for (let index = 0; index < PER_PAGE; index += 1) {
      let at = head.length + idEnds[index];
      for (let left = from + index; left > 0; left = Math.floor(left / 10)) {
        whole[at] = 48 + (left % 10);
        at -= 1;
      }
    }
    return whole;
  };
  const server = createServer({ noDelay: true }, socket => {
    let asked = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', bytes => {
      asked += bytes.toString('latin1');
      for (let end = asked.indexOf('\r\n\r\n'); end >= 0; end = asked.indexOf('\r\n\r\n')) {
        socket.write(answer(asked.slice(0, asked.indexOf('\r\n'))));
        asked = asked.slice(end + 4);
      }
    });
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('disconnect', () => process.exit());
}

async function main(rows, rounds) {
  if (!(rows > 0) || rows % PER_PAGE !== 0) throw new Error(`the number of rows is a multiple of ${PER_PAGE}`);
  const missing = [
    ['curl', '--version'],
    ['jq', '--version'],
    ['/usr/bin/time', '--version'],
  ].filter(([name, ...words]) => spawnSync(name, words).error);
  if (missing.length > 0) {
    process.stderr.write(`missing: ${missing.map(([name]) => name).join(', ')} (apt-get install curl jq time)\n`);
    process.exitCode = 2;
    return;
  }
  const server = fork(file, ['serve'], { execArgv: [] });
  const home = mkdtempSync(join(tmpdir(), 'cardwright-bench-'));
  try {
    const [port] = await once(server, 'message');
    const env = environment(home, port, rows);
    const url = `http://127.0.0.1:${port}/v1/${rows}/transactions?page=[1-${Math.ceil(rows / PER_PAGE)}]`;
    const columns = '.id,.card_id,.type,.status,.amount,.merchant,.mcc,.authorization_id,.decline_reason,.created_at';
    const ours = format => `'${process.execPath}' '${program}' tx list --all -q -o ${format} > /dev/null`;
    for (let round = 1; round <= rounds; round += 1) {
      const cases = {
        'ndjson, ours': measured(ours('ndjson'), env),
        'ndjson, curl | jq -c': measured(`curl -s '${url}' | jq -c '.data[]' > /dev/null`, env),
        'csv, ours': measured(ours('csv'), env),
        'curl alone': measured(`curl -s '${url}' > /dev/null`, env),
        'csv, curl | jq @csv': measured(`curl -s '${url}' | jq -r '.data[]|[${columns}]|@csv' > /dev/null`, env),
        'ndjson, ours, 10,000 rows': measured(ours('ndjson'), environment(home, port, 10_000)),
        'ndjson, ours | head -1': measured(`${ours('ndjson').replace(' > /dev/null', '')} | head -1 > /dev/null`, env),
      };
      report(round, rows, cases);
    }
  } finally {
    server.disconnect();
    rmSync(home, { recursive: true });
  }
}

function environment(home, port, rows) {
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const outside = Object.entries(inherited).filter(([name]) => !name.startsWith('CARDWRIGHT_'));
  return {
    ...Object.fromEntries(outside),
    CARDWRIGHT_CONFIG_DIR: home,
    CARDWRIGHT_BASE_URL: `http://127.0.0.1:${port}/v1/${rows}`,
    CARDWRIGHT_API_KEY: 'sk_test_0123456789abcdef0123456789abcdef',
  };
}

/** Of everything the shell started: seconds, processor seconds, and the largest process in MB. */
function measured(command, env) {
  const { status, stderr } = spawnSync('/usr/bin/time', ['-f', '\n%e %U %S %M', 'bash', '-c', command], {
    env,
    encoding: 'utf8',
  });
  const [wall, user, system, kilobytes] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  if (status !== 0 && !command.includes('head')) throw new Error(`${command}: ${stderr}`);
  return { wall, cpu: user + system, memory: kilobytes / 1024 };
}

function report(round, rows, cases) {
  const line = ([name, { wall, cpu, memory }]) =>
    `${name.padEnd(28)}${wall.toFixed(2).padStart(9)} s${cpu.toFixed(2).padStart(9)} s cpu${memory.toFixed(0).padStart(6)} MB`;
  const ratio = (ours, theirs, what) => (cases[theirs][what] / cases[ours][what]).toFixed(2);
  const ratios = ['ndjson', 'csv'].map(format => {
    const theirs = format === 'ndjson' ? 'ndjson, curl | jq -c' : 'csv, curl | jq @csv';
    const [wall, cpu] = ['wall', 'cpu'].map(what => ratio(`${format}, ours`, theirs, what));
    return `${format}: ${wall} times faster, ${cpu} times less processor`;
  });
  const growth = cases['ndjson, ours'].memory / cases['ndjson, ours, 10,000 rows'].memory;
  process.stdout.write(`round ${round}, ${rows} rows, Node ${process.version}
${Object.entries(cases).map(line).join('\n')}
${ratios.join('\n')}
peak memory: ${growth.toFixed(2)} times that of 10,000 rows\n\n`);
}
