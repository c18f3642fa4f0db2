/**
 * Measures a bulk run of the built program against a small server in a process of its own: rows a second, beside a
 * bare undici loop that sends the same requests, and beside one that syncs each of its two records a row alone; the
 * memory at row 1,000 and at the last row: as it is, and in a heap with little room, which shows what is held.
 * `--delay MS` has the server take that long over each create, and compares with concurrency over latency.
 * Results go to standard output; `--json` prints them as data. `--rows N`, `--concurrency N`, `--repeats N`.
 */
import { fork, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = fileURLToPath(import.meta.url);
const root = dirname(dirname(here));
const { values: options } = parseArgs({
  options: {
    role: { type: 'string', default: 'bench' },
    rows: { type: 'string', default: '20000' },
    concurrency: { type: 'string', default: '64' },
    repeats: { type: 'string', default: '3' },
    url: { type: 'string' },
    delay: { type: 'string', default: '0' },
    synced: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const rows = Number(options.rows);
const concurrency = Number(options.concurrency);
const delay = Number(options.delay);
const SMALL_HEAP = ['--max-semi-space-size=4', '--max-old-space-size=80'];
const ROLES = { bench, serve, bare };
await ROLES[options.role]();

/** Answers creates at once, and lists what it has made. Tells its parent how far it is. */
async function serve() {
  const cards = [];
  const reply = (response, status, value) => {
    const text = JSON.stringify(value);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://bench');
    if (request.method === 'POST') {
      let body = '';
      request.on('data', chunk => {
        body += chunk;
      });
      request.on('end', () => {
        const { bin_id, amount, label, metadata } = JSON.parse(body);
        const id = `card_${cards.length + 1}`;
        const card = { id, bin_id, network: 'visa', last4: '4242', status: 'active', balance: amount, label, metadata };
        cards.push(card);
        if (cards.length === 1000 || cards.length === rows - concurrency) process.send({ made: cards.length });
        if (delay === 0) reply(response, 201, card);
        else setTimeout(reply, delay, response, 201, card);
      });
    } else if (url.pathname.endsWith('/bins')) reply(response, 200, { data: [{ id: 'bin_1', network: 'visa' }] });
    else if (url.pathname.endsWith('/wallet')) reply(response, 200, { balance: 10_000_000, currency: 'USD' });
    else {
      const page = Number(url.searchParams.get('page') ?? 1);
      const size = Number(url.searchParams.get('per_page') ?? 25);
      reply(response, 200, { data: cards.slice((page - 1) * size, page * size), page, per_page: size });
    }
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/v1` }));
  process.on('disconnect', () => process.exit());
}

/** The same requests with nothing around them; with `--synced` each has two records, and each record a sync of its own. */
async function bare() {
  const { Pool } = await import('undici');
  const { origin } = new URL(options.url);
  const pool = new Pool(origin, { connections: concurrency, pipelining: 1 });
  const headers = { authorization: 'Bearer sk_test_bench000000', 'content-type': 'application/json' };
  const file = options.synced ? await open(join(tmpdir(), `cardwright-bench-${process.pid}`), 'wx') : undefined;
  let turn = Promise.resolve();
  const record = text => {
    turn = turn.then(async () => {
      await file?.appendFile(`${text}\n`);
      await file?.datasync();
    });
    return turn;
  };
  let next = 0;
  const worker = async () => {
    for (let row = next++; row < rows; row = next++) {
      const body = JSON.stringify({
        bin_id: 'bin_1',
        amount: 1.5,
        label: `row ${row}`,
        metadata: { cardwright: `op.${row}` },
      });
      if (file !== undefined) await record(body);
      const answer = await pool.request({ method: 'POST', path: '/v1/cards', headers, body });
      const card = JSON.parse(await answer.body.text());
      if (file !== undefined) await record(JSON.stringify(card));
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  process.send({ seconds: (performance.now() - begun) / 1000 });
  await pool.close();
  if (file === undefined) return;
  await file.close();
  await rm(join(tmpdir(), `cardwright-bench-${process.pid}`));
}

async function bench() {
  const results = [];
  for (let repeat = 0; repeat < Number(options.repeats); repeat += 1) {
    const loop = await withServer(measureBare);
    const synced = await withServer(server =>
      measureBare(server, ['--synced', '--rows', String(Math.min(rows, 2_000))]),
    );
    const run = await withServer(server => measureRun(server, []));
    const small = await withServer(server => measureRun(server, SMALL_HEAP));
    results.push({
      rows_per_second: run.rows_per_second,
      bare_per_second: loop,
      ratio: run.rows_per_second / loop,
      sync_each_per_second: synced,
      over_sync_each: run.rows_per_second / synced,
      ...(delay > 0 && { of_concurrency_over_latency: run.rows_per_second / ((concurrency * 1000) / delay) }),
      seconds_with_audit: run.seconds_with_audit,
      mib_at_row_1000: run.first,
      mib_at_last_row: run.last,
      small_heap_at_row_1000: small.first,
      small_heap_at_last_row: small.last,
    });
  }
  const median = name =>
    [...results].sort((one, other) => one[name] - other[name])[Math.floor(results.length / 2)][name];
  const summary = Object.fromEntries(Object.keys(results[0]).map(name => [name, Number(median(name).toFixed(2))]));
  if (options.json) process.stdout.write(`${JSON.stringify({ rows, concurrency, ...summary, runs: results })}\n`);
  else {
    process.stdout.write(`${rows} creates, ${concurrency} at once, median of ${results.length}\n`);
    for (const [name, value] of Object.entries(summary)) process.stdout.write(`${name.padEnd(26)} ${value}\n`);
  }
}

/** @template T @param {(server: { url: string, onMade: (listener: (made: number) => void) => void }) => Promise<T>} work */
async function withServer(work) {
  const child = fork(here, [
    '--role',
    'serve',
    '--rows',
    String(rows),
    '--concurrency',
    String(concurrency),
    '--delay',
    options.delay,
  ]);
  const { url } = await new Promise(resolve => child.once('message', resolve));
  try {
    return await work({ url, onMade: listener => child.on('message', ({ made }) => listener(made)) });
  } finally {
    child.disconnect();
  }
}

async function measureBare({ url }, more = ['--rows', String(rows)]) {
  const child = fork(here, ['--role', 'bare', '--url', url, '--concurrency', String(concurrency), ...more]);
  const { seconds } = await new Promise(resolve => child.once('message', resolve));
  return Number(more.at(-1)) / seconds;
}

/** From the first create to the end of the program: journal, results and audit are part of it. */
async function measureRun({ url, onMade }, flags) {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-bench-'));
  try {
    const lines = Array.from({ length: rows }, (_, row) => `bin_1,1.50,row ${row}`);
    await writeFile(join(folder, 'rows.csv'), `bin_id,amount,label\n${lines.join('\n')}\n`);
    const env = {
      ...process.env,
      CARDWRIGHT_CONFIG_DIR: folder,
      CARDWRIGHT_API_KEY: 'sk_test_bench000000',
      CARDWRIGHT_BASE_URL: url,
    };
    const words = [
      'cards',
      'create',
      '--file',
      join(folder, 'rows.csv'),
      '--concurrency',
      String(concurrency),
      '--yes',
    ];
    const child = spawn(process.execPath, [...flags, join(root, 'bin', 'cardwright.js'), ...words, '-o', 'csv'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const memory = [];
    let began = 0;
    let told = '';
    onMade(made => void residentMiB(child.pid).then(mib => memory.push({ made, mib })));
    child.stdout.pipe(createWriteStream(join(folder, 'out.csv')));
    child.stderr.on('data', chunk => {
      told += chunk;
      if (began === 0 && told.includes('If anything stops')) began = performance.now();
    });
    let ended = 0;
    let last = '';
    child.stdout.on('data', chunk => {
      ended = performance.now();
      last = chunk.toString().slice(-200);
    });
    const code = await new Promise(resolve => child.on('close', resolve));
    const whole = (performance.now() - began) / 1000;
    if (code !== 0 || !last.includes(`${rows},done`)) throw new Error(`the run ended with ${code}:\n${told}`);
    return {
      rows_per_second: rows / ((ended - began) / 1000),
      seconds_with_audit: whole,
      first: memory.find(({ made }) => made === 1000)?.mib ?? Number.NaN,
      last: memory.find(({ made }) => made !== 1000)?.mib ?? Number.NaN,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function residentMiB(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
