/**
 * Measures a bulk run of the built program against a server in a process of its own: rows a second, beside a bare
 * undici loop that sends the same requests, and beside one that syncs each of its two records a row alone; the time of
 * the processor for one row of both, all threads, which a busy machine changes least; the memory at row 1,000 and at
 * the last row: as it is, and in a heap with little room, which shows what is held. `--server stub` answers at once and
 * keeps nothing, which is the harder one; `sandbox` is the sandbox on a file, without rate limits; both when left out.
 * `--delay MS` has the stub take that long over each create, and compares with concurrency over latency.
 * Results go to standard output; `--json` prints them as data. `--rows N`, `--concurrency N`, `--repeats N`.
 */
import { fork, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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
    server: { type: 'string' },
    url: { type: 'string' },
    key: { type: 'string' },
    bin: { type: 'string' },
    delay: { type: 'string', default: '0' },
    synced: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const rows = Number(options.rows);
const concurrency = Number(options.concurrency);
const delay = Number(options.delay);
const SMALL_HEAP = ['--max-semi-space-size=4', '--max-old-space-size=80'];
/** Of a processor's time in /proc, on every Linux of today. */
const TICK_US = 10_000;
const STUB_KEY = 'sk_test_bench000000';
const ROLES = { bench, stub, sandbox, bare };
await ROLES[options.role]();

/** As `sandbox start --no-rate-limits` serves a store of its own. */
async function sandbox() {
  const { startSandbox } = await import('../dist/library-sandbox.cjs');
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-bench-'));
  const started = await startSandbox({
    store: join(folder, 'store.db'),
    listen: 'tcp',
    rateLimits: false,
    wallet: 10_000_000,
  });
  process.send({ url: started.url, key: started.key });
  process.on('disconnect', async () => {
    await started.stop();
    await rm(folder, { recursive: true });
    process.exit();
  });
}

/** Answers creates at once, and lists what it has made. */
async function stub() {
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
  server.listen(0, '127.0.0.1', () =>
    process.send({ url: `http://127.0.0.1:${server.address().port}/v1`, key: STUB_KEY }),
  );
  process.on('disconnect', () => process.exit());
}

/** The same requests with nothing around them; with `--synced` each has two records, and each record a sync of its own. */
async function bare() {
  const { Pool } = await import('undici');
  const { origin } = new URL(options.url);
  const pool = new Pool(origin, { connections: concurrency, pipelining: 1 });
  const headers = { authorization: `Bearer ${options.key}`, 'content-type': 'application/json' };
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
        bin_id: options.bin,
        amount: 1.5,
        label: `row ${row}`,
        metadata: { cardwright: `op.${row}` },
      });
      if (file !== undefined) await record(body);
      const answer = await pool.request({ method: 'POST', path: '/v1/cards', headers, body });
      const card = JSON.parse(await answer.body.text());
      if (card.id === undefined) throw new Error(`row ${row} was answered ${answer.statusCode}`);
      if (file !== undefined) await record(JSON.stringify(card));
    }
  };
  const begun = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(cpu);
  process.send({ seconds: (performance.now() - begun) / 1000, cpu: user + system });
  await pool.close();
  if (file === undefined) return;
  await file.close();
  await rm(join(tmpdir(), `cardwright-bench-${process.pid}`));
}

async function bench() {
  const servers = options.server === undefined && delay === 0 ? ['sandbox', 'stub'] : [options.server ?? 'stub'];
  for (const server of servers) report(server, await measured(server));
}

async function measured(kind) {
  const results = [];
  for (let repeat = 0; repeat < Number(options.repeats); repeat += 1) {
    const loop = await withServer(kind, server => measureBare(server, rows));
    const synced = await withServer(kind, server => measureBare(server, Math.min(rows, 2_000), '--synced'));
    const run = await withServer(kind, server => measureRun(server, []));
    const small = await withServer(kind, server => measureRun(server, SMALL_HEAP));
    const limit = (concurrency * 1000) / delay;
    results.push({
      rows_per_second: run.rows_per_second,
      bare_per_second: loop.rows_per_second,
      ratio: run.rows_per_second / loop.rows_per_second,
      cpu_us_a_row: run.cpu_us_a_row,
      bare_cpu_us_a_row: loop.cpu_us_a_row,
      bare_cpu_share: loop.cpu_us_a_row / run.cpu_us_a_row,
      sync_each_per_second: synced.rows_per_second,
      over_sync_each: run.rows_per_second / synced.rows_per_second,
      ...(delay > 0 && {
        of_concurrency_over_latency: run.rows_per_second / limit,
        bare_of_concurrency_over_latency: loop.rows_per_second / limit,
      }),
      seconds_with_audit: run.seconds_with_audit,
      mib_at_row_1000: run.first,
      mib_at_last_row: run.last,
      mib_at_most: run.most,
      small_heap_at_row_1000: small.first,
      small_heap_at_last_row: small.last,
    });
  }
  return results;
}

function report(server, results) {
  const median = name =>
    [...results].sort((one, other) => one[name] - other[name])[Math.floor(results.length / 2)][name];
  const summary = Object.fromEntries(Object.keys(results[0]).map(name => [name, Number(median(name).toFixed(2))]));
  if (options.json)
    process.stdout.write(`${JSON.stringify({ server, rows, concurrency, ...summary, runs: results })}\n`);
  else {
    process.stdout.write(`${rows} creates, ${concurrency} at once, ${server}, median of ${results.length}\n`);
    for (const [name, value] of Object.entries(summary)) process.stdout.write(`${name.padEnd(33)} ${value}\n`);
  }
}

/** @template T @param {string} kind @param {(server: { url: string, key: string, bin: string }) => Promise<T>} work */
async function withServer(kind, work) {
  const child = fork(here, ['--role', kind, '--delay', options.delay]);
  const server = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', code => reject(new Error(`the server ended with ${code}`)));
  });
  const headers = { authorization: `Bearer ${server.key}` };
  const [{ id: bin }] = (await (await fetch(`${server.url}/bins`, { headers })).json()).data;
  const gone = new Promise(resolve => child.once('exit', resolve));
  try {
    return await work({ ...server, bin });
  } finally {
    child.disconnect();
    await gone;
  }
}

async function measureBare({ url, key, bin }, count, ...more) {
  const child = fork(here, [
    ...['--role', 'bare', '--url', url, '--key', key, '--bin', bin],
    ...['--rows', String(count), '--concurrency', String(concurrency), ...more],
  ]);
  const { seconds, cpu } = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', code => reject(new Error(`the bare loop ended with ${code}`)));
  });
  return { rows_per_second: count / seconds, cpu_us_a_row: cpu / count };
}

/** From the first create to the end of the program: journal, results and audit are part of it. */
async function measureRun({ url, key, bin }, flags) {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-bench-'));
  try {
    const lines = Array.from({ length: rows }, (_, row) => `${bin},1.50,row ${row}`);
    await writeFile(join(folder, 'rows.csv'), `bin_id,amount,label\n${lines.join('\n')}\n`);
    const env = {
      ...process.env,
      CARDWRIGHT_CONFIG_DIR: folder,
      CARDWRIGHT_API_KEY: key,
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
    let [began, ended, printed] = [0, 0, -1];
    let [told, last] = ['', ''];
    let before, after, first, latest;
    child.stdout.pipe(createWriteStream(join(folder, 'out.csv')));
    child.stderr.on('data', chunk => {
      told += chunk;
      if (began > 0 || !told.includes('If anything stops')) return;
      began = performance.now();
      before = processorTime(child.pid);
    });
    child.stdout.on('data', chunk => {
      ended = performance.now();
      for (const byte of chunk) if (byte === 10) printed += 1;
      last = chunk.toString().slice(-200);
      if (printed >= 1000) first ??= residentMiB(child.pid);
      if (printed < rows - concurrency) return;
      latest ??= residentMiB(child.pid);
      if (printed >= rows) after ??= processorTime(child.pid);
    });
    const code = await new Promise(resolve => child.on('close', resolve));
    const whole = (performance.now() - began) / 1000;
    if (code !== 0 || !last.includes(`${rows},done`)) throw new Error(`the run ended with ${code}:\n${told}`);
    const cpu = (await after) - (await before);
    const [at, end] = [await first, await latest];
    return {
      rows_per_second: rows / ((ended - began) / 1000),
      cpu_us_a_row: cpu / rows,
      seconds_with_audit: whole,
      first: at?.now ?? Number.NaN,
      last: end?.now ?? Number.NaN,
      most: end?.most ?? Number.NaN,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Resident now and at most so far. */
async function residentMiB(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mib = name => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return { now: mib('VmRSS'), most: mib('VmHWM') };
}

/** Of all threads so far, microseconds; 0 for a process that has ended. */
async function processorTime(pid) {
  let ticks = 0;
  for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => ') 0');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    ticks += Number(user ?? 0) + Number(system ?? 0);
  }
  return ticks * TICK_US;
}
