/**
 * Measures how long it takes to look into a large sandbox, and what looking costs those who write: every row that leaves
 * no trace, asked of a server in a second process, and creates with and without somebody who looks all the time.
 * `--cards N`, `--transactions N`, `--rounds N`, `--seconds N` for one run of creates, `--page-only`, `--json`.
 */
import { execFileSync, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { get, once, post, repeat } from './bench-load.mjs';
import { bundle, bundled } from './bench-servers.mjs';

const { values: options } = parseArgs({
  options: {
    cards: { type: 'string', default: '100000' },
    transactions: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    'page-only': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const ADMIN = '/_sandbox/v1';
/** ms, of docs/design/inspector.md, section 4; of the others nothing is promised. */
const GOAL = 100;
/** Of the page, each in a browser that knows nothing yet. */
const COLD_LOADS = 7;
/** Of the list of cards; another page of it every so many. */
const FRAMES = 240;
const FRAMES_OF_A_PAGE = 40;
/** Of the frames, of which the middle one counts: what other programs take of the machine comes and goes. */
const FRAME_ROUNDS = 5;

const folder = await mkdtemp(join(tmpdir(), 'cardwright-bench-'));
try {
  const size = { cards: Number(options.cards), transactions: Number(options.transactions) };
  const server = options['page-only'] ? {} : await looksAndWrites(folder, size);
  const page = { bytes: sizeOfPage(), ...(await paintsAndFramesOfPage(folder, size)) };
  const report = { ...size, ...server, page };
  process.stdout.write(options.json ? `${JSON.stringify(report, undefined, 2)}\n` : text(report));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Of a server in a process of its own: what every look takes, and creates beside somebody who looks. */
async function looksAndWrites(place, size) {
  await bundle();
  const args = ['--role', 'serve', '--store', join(place, 'store.db')];
  const child = fork(join(import.meta.dirname, 'bench-sandbox.mjs'), args, {
    env: { ...process.env, BENCH_ENTRY: bundled('sandbox.mjs'), BENCH_ROOM: bundled('room.mjs') },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    const { url, key, token } = await new Promise(resolve => child.once('message', resolve));
    const port = Number(new URL(url).port);
    const admin = { port, headers: `Authorization: Bearer ${token}\r\n` };
    const service = { port, headers: `Authorization: Bearer ${key}\r\n` };
    await answer(admin, post(`${ADMIN}/reset`, { data: 'load', seed: 7, ...size }));
    return { rows: await looksOf(admin, service), writes: await writesOf(admin, service) };
  } finally {
    child.kill();
  }
}

async function answer(server, request) {
  const { status, body } = await once(server, request);
  if (status >= 400) throw new Error(`${request.path} answered ${status}: ${body}`);
  return body === '' ? undefined : JSON.parse(body);
}

/** Median and longest time of every look, ms. */
async function looksOf(admin, service) {
  const [card] = (await answer(service, get('/v1/cards?per_page=1'))).data;
  // More than any card holds.
  const purchase = post(`${ADMIN}/simulate/authorizations`, { card_id: card.id, amount: 90_000 });
  const { transaction_id: declined } = await answer(admin, purchase);
  await answer(service, post(`/v1/cards/${card.id}/freeze`));
  const { data: requests } = await answer(admin, get(`${ADMIN}/requests?per_page=1`));
  for (const name of ['before', 'after']) await answer(admin, post(`${ADMIN}/snapshots`, { name }));
  const paths = {
    marks: '/marks',
    overview: '/overview',
    cards: '/cards',
    'search cards': `/cards?q=${card.last4}`,
    card: `/cards/${card.id}`,
    transactions: '/transactions',
    'search transactions': '/transactions?q=coffee',
    transaction: `/transactions/${declined}`,
    challenges: '/challenges',
    deposits: '/deposits',
    spending: '/overview/spending',
    webhooks: '/webhooks',
    why: `/transactions/${declined}/why`,
    timeline: `/cards/${card.id}/timeline`,
    events: '/events?order=desc',
    requests: '/requests',
    request: `/requests/${requests[0].request_id}`,
    timers: '/timers',
    deliveries: '/deliveries',
    faults: '/faults',
    clock: '/clock',
  };
  const rows = [];
  for (const [name, path] of Object.entries(paths)) {
    const request = () => get(ADMIN + path);
    const times = await repeat(admin, { connections: 1, request, count: Number(options.rounds) });
    rows.push({ name, median: median(times), longest: Math.max(...times) });
  }
  return rows;
}

/** Creates a second alone, and beside somebody who asks every 500 ms; by turns, so that a busy machine slows both. */
async function writesOf(admin, service) {
  const { id } = (await answer(service, get('/v1/bins'))).data[0];
  let nth = 0;
  const request = () => post('/v1/cards', { bin_id: id, amount: 1, label: `bench ${nth}` }, `bench-${nth++}`);
  const rate = async () => {
    const until = performance.now() + Number(options.seconds) * 1_000;
    return (await repeat(service, { connections: 16, request, until })).length / Number(options.seconds);
  };
  const rateBeside = async () => {
    const looks = new AbortController();
    const [beside] = await Promise.all([rate().finally(() => looks.abort()), lookUntil(admin, looks.signal)]);
    return beside;
  };
  await rate();
  const rates = { alone: [await rate()], beside: [] };
  for (let round = 0; round < Number(options.rounds); round += 1) {
    rates.beside.push(await rateBeside());
    rates.alone.push(await rate());
  }
  // One second between two alone, because a store that grows and a machine that is used slow the later one.
  const ratios = rates.beside.map((beside, nth) => (2 * beside) / (rates.alone[nth] + rates.alone[nth + 1]));
  return { ratio: median(ratios), alone: median(rates.alone) };
}

/** Asks what the page asks all the time, waits half a second, and asks again, until the signal. */
async function lookUntil(admin, signal) {
  while (!signal.aborted) {
    await answer(admin, get(`${ADMIN}/marks`));
    await sleep(500, undefined, { signal }).catch(() => undefined);
  }
}

/** All files of the page, compressed: what would go over a wire. */
function sizeOfPage() {
  const files = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'dist', 'inspector.json'), 'utf8'));
  return Object.values(files).reduce((sum, { text: each }) => sum + gzipSync(each, { level: 9 }).length, 0);
}

/** The built page over all cards: when it is painted and has data, and how its list is scrolled; nothing without a browser. */
async function paintsAndFramesOfPage(place, { cards, transactions }) {
  const browser = await launched();
  if (browser === undefined) return {};
  const run = programIn(join(place, 'page'));
  run('start', '--detach', '--data', 'load', '--cards', String(cards), '--transactions', String(transactions), '-q');
  try {
    return { ...(await paintsOf(browser, run)), frames: await framesOf(browser, run) };
  } finally {
    run('stop', '-q');
    await browser.close();
  }
}

/**
 * First paint and first data, each of a tab that knows nothing yet. It is asked by the protocol alone: what Playwright puts into
 * a page to wait for an element takes the time of a fifth of the page.
 */
async function paintsOf(browser, run) {
  const times = { paint: [], data: [], blank: [] };
  const firstPaint = "performance.getEntriesByName('first-paint')[0]?.startTime";
  for (let nth = 0; nth < COLD_LOADS; nth += 1) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.addInitScript(() => {
      const noted = new MutationObserver(() => {
        if (document.querySelector('.amounts') !== null) globalThis.hasDataAt ??= performance.now();
      });
      noted.observe(document, { childList: true, subtree: true });
    });
    const session = await context.newCDPSession(page);
    const known = async expression => {
      for (;;) {
        const { result } = await session.send('Runtime.evaluate', { expression });
        if (result.value !== undefined) return result.value;
        await sleep(50);
      }
    };
    const address = run('open', '--print', '-o', 'tsv');
    // The browser loads pages of its own beside each new tab.
    await sleep(500);
    await page.goto(address);
    times.data.push(await known('globalThis.hasDataAt'));
    times.paint.push(await known(firstPaint));
    // What the browser itself takes, at the same load.
    await page.goto('data:text/html,<p>blank');
    times.blank.push(await known(firstPaint));
    await context.close();
  }
  return { paint: median(times.paint), data: median(times.data), blank: median(times.blank) };
}

/** Frames of the list of all cards while it is scrolled and gone through, as the browser draws them. */
async function framesOf(browser, run) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(run('open', 'cards', '--print', '-o', 'tsv'));
  await page.getByText('in all').waitFor({ timeout: 60_000 });
  const rounds = [];
  // The tasks alone: a trace of all that happens in them would take from the frames.
  await browser.startTracing(page, { categories: ['-*', 'toplevel'] });
  for (let nth = 0; nth < FRAME_ROUNDS; nth += 1) {
    // What this machine gives to a page that only scrolls.
    const { p99: floor } = await page.evaluate(scrolled, { frames: FRAMES, turns: FRAMES + 1 });
    rounds.push({ ...(await page.evaluate(scrolled, { frames: FRAMES, turns: FRAMES_OF_A_PAGE })), floor });
  }
  const trace = await browser.stopTracing();
  const middle = rounds.toSorted((a, b) => a.p99 - b.p99)[Math.floor(FRAME_ROUNDS / 2)];
  return { ...middle, longestTask: longestTask(trace) };
}

/** Of the page's own thread, ms of processor time: what other programs take of the machine is not in it. */
function longestTask(trace) {
  const { traceEvents } = JSON.parse(trace.toString());
  const threadOf = ({ pid, tid }) => `${pid} ${tid}`;
  const isMain = ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain';
  const threads = new Set(traceEvents.filter(isMain).map(threadOf));
  const tasks = traceEvents.filter(event => event.name.endsWith('RunTask') && threads.has(threadOf(event)));
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

/** In the page: a step a frame, another page of the list at each turn. */
async function scrolled({ frames, turns }) {
  let longTasks = 0;
  new PerformanceObserver(seen => {
    longTasks += seen.getEntries().length;
  }).observe({ type: 'longtask' });
  const next = () => new Promise(requestAnimationFrame);
  const times = [];
  let last = await next();
  for (let nth = 0; nth < frames; nth += 1) {
    if (nth % turns === turns - 1)
      [...document.querySelectorAll('.pages button')].find(each => each.textContent === 'Older').click();
    else scrollTo(0, (nth % 40) * 50);
    const now = await next();
    times.push(now - last);
    last = now;
  }
  times.sort((a, b) => a - b);
  const elements = document.querySelectorAll('*').length;
  return { p99: times[Math.floor(frames * 0.99)], longest: times.at(-1), longTasks, elements };
}

/** The built program with folders of its own; what it writes to standard output. */
function programIn(folder) {
  const program = join(import.meta.dirname, '..', 'bin', 'cardwright.js');
  const how = { env: { ...process.env, CARDWRIGHT_CONFIG_DIR: folder }, encoding: 'utf8' };
  return (...words) => execFileSync(process.execPath, [program, 'sandbox', ...words], how).trim();
}

async function launched() {
  const { chromium } = await import('playwright-core');
  const executablePath = process.env.CARDWRIGHT_BROWSER ?? '/usr/bin/chromium';
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args }).catch(() => undefined);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function text({ cards, transactions, rows, writes, page }) {
  const line = ({ name, median: middle, longest }) =>
    `| ${name.padEnd(19)} | ${middle.toFixed(1).padStart(9)} | ${longest.toFixed(1).padStart(10)} | ${middle <= GOAL ? 'within' : 'above '} |`;
  const ofServer = writes && [
    '| look                | median ms | longest ms | 100 ms |',
    '| ------------------- | --------- | ---------- | ------ |',
    ...rows.map(line),
    '',
    `Creates beside somebody who looks every 500 ms: ${writes.ratio.toFixed(2)} of those alone (${writes.alone.toFixed(0)} a second); goal 0.95`,
  ];
  const { frames } = page;
  const ofBrowser = frames && [
    `First paint ${page.paint.toFixed(0)} ms, a blank page ${page.blank.toFixed(0)}: ${(page.paint - page.blank).toFixed(0)} behind it, goal 20; with data ${page.data.toFixed(0)} ms, ${(page.data - page.blank).toFixed(0)} behind it, goal 200`,
    `${FRAMES} frames of scrolling through pages of all cards, the middle one of ${FRAME_ROUNDS} rounds: 99 of 100 within ${frames.p99.toFixed(1)} ms, goal 32 (${frames.floor.toFixed(1)} where it only scrolls), longest ${frames.longest.toFixed(1)}; ${frames.longTasks} long tasks, goal 0; the longest task took ${frames.longestTask.toFixed(1)} ms of processor time; ${frames.elements} elements`,
  ];
  return [
    `${cards} cards, ${transactions} transactions`,
    '',
    ...(ofServer ?? []),
    `Page: ${(page.bytes / 1000).toFixed(1)} kB compressed; limit 70`,
    ...(ofBrowser ?? ['No browser: not measured when it is painted first.']),
    '',
  ].join('\n');
}
