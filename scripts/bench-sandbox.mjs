/**
 * Measures the sandbox as programs use it: over loopback, from a second process, with 1 and 16 connections, beside
 * other fake services in the same run (`npm install` in test/bench/peers). All are started first and loaded in turn, round
 * after round, so that a busy machine slows all of them; a ratio is the median over the rounds. `--rounds N`,
 * `--seconds N` for one run, `--cards N` in each store, `--own-only`, `--json`.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import v8 from 'node:v8';
import { repeat } from './bench-load.mjs';

const { values: options } = parseArgs({
  options: {
    role: { type: 'string', default: 'bench' },
    store: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    cards: { type: 'string', default: '1000' },
    json: { type: 'boolean', default: false },
    'own-only': { type: 'boolean', default: false },
  },
});
const CASES = ['page', 'create'].flatMap(what => [1, 16].map(connections => ({ what, connections })));

await { bench, serve, bare }[options.role]();

/** The server's process; told where it is by a message, ends when its parent does. */
async function serve() {
  const { startSandbox } = await import(pathToFileURL(process.env.BENCH_ENTRY).href);
  const { keepGrown } = await import(pathToFileURL(process.env.BENCH_ROOM).href);
  // As `sandbox start` does, whose rate limits would end the load after a second.
  const every = (ms, look) => setInterval(look, ms).unref();
  keepGrown(v8, { eventLoopUtilization: performance.eventLoopUtilization, every });
  const sandbox = await startSandbox({ store: options.store, rateLimits: false, wallet: 10_000_000 });
  process.send({ url: sandbox.url, key: sandbox.key.expose(), token: sandbox.adminToken.expose() });
  process.on('disconnect', () => void sandbox.stop());
}

/** What no server on node:http can be faster than: a constant answer, the bytes of ours, to whatever is asked. */
async function bare() {
  const [page, card] = await new Promise(resolve => process.once('message', resolve));
  const answer = (response, status, body) =>
    response
      .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) })
      .end(body);
  const server = createServer((request, response) => {
    if (request.method === 'GET') answer(response, 200, page);
    else request.resume().on('end', () => answer(response, 201, card));
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  process.on('disconnect', () => process.exit());
}

async function bench() {
  const { bundle, firstAnswers, peersAreInstalled, startAll } = await import('./bench-servers.mjs');
  const withPeers = peersAreInstalled && !options['own-only'];
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-bench-'));
  let servers = [];
  try {
    await bundle();
    const starts = withPeers ? await firstAnswers(folder, Number(options.rounds) + 2) : undefined;
    servers = await startAll(folder, { cards: Number(options.cards), withPeers });
    const rows = await measured(servers);
    const report = { rows, ratios: ratios(rows), starts };
    process.stdout.write(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : text(report));
  } finally {
    for (const { child } of servers) child.kill();
    await Promise.all(servers.map(({ child }) => child.exitCode ?? new Promise(done => child.once('exit', done))));
    await rm(folder, { recursive: true, force: true });
  }
}

/** For each server and case the rates, time of the processor (µs a request), p50 and p99 of every round. */
async function measured(servers) {
  const rows = servers.flatMap(({ name }) =>
    CASES.map(each => ({ name, ...each, rate: [], cpu: [], p50: [], p99: [] })),
  );
  const rounds = Number(options.rounds);
  for (let round = -1; round < rounds; round += 1) {
    for (const each of CASES) {
      for (let step = 0; step < servers.length; step += 1) {
        // In turn, so that nobody is always the one after the slowest.
        const server = servers[(step + round + 1) % servers.length];
        const row = rows.find(
          ({ name, what, connections }) =>
            name === server.name && what === each.what && connections === each.connections,
        );
        const found = await run(server, each, round);
        // The first round warms up.
        if (round >= 0) for (const key of ['rate', 'cpu', 'p50', 'p99']) row[key].push(found[key]);
      }
    }
  }
  for (const { name, child } of servers) {
    const peak = await peakMemory(child.pid);
    for (const row of rows) if (row.name === name) row.peak_mb = peak;
  }
  return rows;
}

async function run(of, { what, connections }, round) {
  const seconds = round < 0 ? 1 : Number(options.seconds);
  const request = nth => of[what](`${round}-${connections}-${nth}`);
  const before = await processorTime(of.child.pid);
  const began = performance.now();
  const times = await repeat(of.server, { connections, request, until: began + seconds * 1000 });
  const took = (performance.now() - began) / 1000;
  const cpu = ((await processorTime(of.child.pid)) - before) / times.length;
  times.sort((a, b) => a - b);
  const at = part => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  return { rate: times.length / took, cpu, p50: at(0.5), p99: at(0.99) };
}

/** Time of the processor a process took so far, its own and the system's for it, µs; NaN where that is not told. */
async function processorTime(pid) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // In ticks of a hundredth of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Peak resident memory of a process so far, MB; undefined where the system does not tell. */
async function peakMemory(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /VmHWM:\s+(\d+)/.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
}

/** How many times as fast as each of the others, round by round. */
function ratios(rows) {
  return CASES.flatMap(({ what, connections }) => {
    const here = rows.filter(row => row.what === what && row.connections === connections);
    const [own, ...others] = here;
    return others.map(({ name, rate, cpu }) => ({
      what,
      connections,
      beside: name,
      times: rate.map((value, round) => own.rate[round] / value),
      cheaper: cpu.map((value, round) => value / own.cpu[round]),
    }));
  });
}

function text({ rows, ratios: all, starts }) {
  const lines = [
    `Node ${process.version}, ${process.platform}-${process.arch}; median of ${options.rounds} rounds of ${options.seconds} s`,
    '',
    '| server | request | connections | a second | processor, µs a request | p50 ms | p99 ms | peak MB |',
    '|---|---|---|---|---|---|---|---|',
    ...rows.map(({ name, what, connections, rate, cpu, p50, p99, peak_mb }) => {
      const numbers = [
        Math.round(median(rate)),
        Math.round(median(cpu)),
        median(p50).toFixed(2),
        median(p99).toFixed(2),
        peak_mb ?? '-',
      ];
      return `| ${[name, what === 'page' ? 'page of 25' : 'create', connections, ...numbers].join(' | ')} |`;
    }),
    '',
    '| cardwright beside | request | connections | times as fast: median | min | max | times the processor |',
    '|---|---|---|---|---|---|---|',
    ...all.map(({ beside, what, connections, times, cheaper }) => {
      const numbers = [median(times), Math.min(...times), Math.max(...times), median(cheaper)].map(value =>
        value.toFixed(2),
      );
      return `| ${[beside, what === 'page' ? 'page of 25' : 'create', connections, ...numbers].join(' | ')} |`;
    }),
    '',
  ];
  if (starts !== undefined) {
    const [ours, prism] = [median(starts.ours), median(starts.prism)];
    const share = median(starts.ours.map((value, round) => value / starts.prism[round]));
    lines.push(
      `First answer after start: ${ours.toFixed(0)} ms (sandbox start), ${prism.toFixed(0)} ms (Prism): ${share.toFixed(2)} of it.`,
      '',
    );
  }
  return lines.join('\n');
}

function median(values) {
  const ordered = [...values].sort((a, b) => a - b);
  return (ordered[Math.floor((ordered.length - 1) / 2)] + ordered[Math.ceil((ordered.length - 1) / 2)]) / 2;
}
