/**
 * The books of a large account beside `sqlite3` in one run: filling the mirror beside `.import`, reconciling offline, an
 * export beside writing the same rows as CSV; wall time, processor time and peak memory. The sums of the export are
 * checked. `node scripts/bench-books.mjs [records] [cards]`, 1,000,000 and 10,000 when left out. Needs sqlite3 and GNU time
 * (apt-get install sqlite3 time). On a busy machine compare processor times.
 */
import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import { build } from 'esbuild';

const file = fileURLToPath(import.meta.url);
const root = dirname(dirname(file));
const program = join(root, 'bin', 'cardwright.js');
const DAY = 86_400_000;
const START = Date.UTC(2025, 0, 1);
const END = Date.UTC(2026, 0, 1);
/** The account is read after the year is over. */
const NOW = END + 40 * DAY;
const FUNDED = 10_000_00;

async function main(records, cards) {
  const folder = mkdtempSync(join(tmpdir(), 'cardwright-bench-books-'));
  try {
    const home = join(folder, 'home');
    const bundle = join(folder, 'mirror.mjs');
    const mirror = join(home, 'data', 'mirror', 'sandbox.sqlite');
    await bundled(bundle);
    await writeRows(folder, { records, cards });
    const load = [process.execPath, file, 'load', bundle, mirror, join(folder, 'pages.ndjson'), String(cards)];
    const cases = {
      'mirror, filled': measured(load, home),
      'sqlite3 .import': sqlite(join(folder, 'import.db'), imported(join(folder, 'rows.csv')), home),
      'reconcile, first': measured(
        [process.execPath, program, '--sandbox', 'books', 'reconcile', '--offline', '-q'],
        home,
      ),
      'reconcile, offline': measured(
        [process.execPath, program, '--sandbox', 'books', 'reconcile', '--offline', '-q'],
        home,
      ),
    };
    for (const format of ['hledger', 'ledger', 'beancount', 'csv', 'ofx', 'qif']) {
      cases[`books export ${format}`] = exported(format, { period: '2025', home, out: join(folder, 'out') });
    }
    cases['export hledger, a month'] = exported('hledger', { period: '2025-10', home, out: join(folder, 'out') });
    cases['sqlite3 writing CSV'] = sqlite(mirror, csvOf(join(folder, 'plain.csv')), home);
    cases['overview'] = measured([process.execPath, program, '--sandbox', 'overview', '--offline', '--json'], home);
    report({ records, cards, cases, size: statSync(mirror).size });
    check(join(folder, 'out', 'sandbox-2025.csv'), { mirror, home });
  } finally {
    // A process that keeps compiled code for the next start may still write there.
    const clean = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    process.once('exit', () => {
      try {
        clean();
      } catch (error) {
        process.stderr.write(`${folder} is left: ${error.code}
`);
      }
    });
  }
}

/** What of the program fills and reads a mirror, without the service. */
async function bundled(outfile) {
  const contents = `
    export { openForSync } from './mirror/file.ts';
    export { keepGrown } from './platform/v8.ts';
    export { storeCard, storeRecord } from './mirror/store.ts';`;
  await build({
    stdin: { contents, resolveDir: join(root, 'src'), loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outfile,
  });
  mkdirSync(join(dirname(outfile), 'node_modules'), { recursive: true });
  spawnSync('ln', ['-s', join(root, 'node_modules', '@photostructure'), join(dirname(outfile), 'node_modules')]);
}

const cardId = nth => `card_${String(nth).padStart(24, '0')}`;
const iso = ms => new Date(ms).toISOString().replace('.000Z', 'Z');

/** Records in the order of their time: purchases that are authorized and settled an hour later, spread over the year. */
function* recordsOf(records, cards) {
  const purchases = records / 2;
  const step = (END - START - DAY) / purchases;
  for (let nth = 0; nth < purchases; nth += 1) {
    const at = Math.floor((START + nth * step) / 1000) * 1000;
    const id = `txn_${String(2 * nth).padStart(24, '0')}`;
    const shared = {
      card_id: cardId((nth * 7919) % cards),
      amount: (((nth * 37) % 9_900) + 100) / 100,
      currency: 'USD',
      merchant: `Merchant ${nth % 5003}`,
      mcc: nth % 3 === 0 ? '5812' : '5734',
      merchant_country: 'US',
      decline_reason: null,
    };
    yield { ...shared, id, type: 'authorization', status: 'settled', authorization_id: null, created_at: iso(at) };
    const settled = { type: 'settlement', status: 'settled', authorization_id: id, created_at: iso(at + 3_600_000) };
    yield { ...shared, ...settled, id: `txn_${String(2 * nth + 1).padStart(24, '0')}` };
  }
}

/** As a sync does: pages of the service are parsed, and 40 of them are a window that is committed at once. */
async function load(bundle, path, pages, cards) {
  const { openForSync, storeRecord, storeCard, keepGrown } = await import(pathToFileURL(bundle).href);
  // As the program does where a sync goes on for long.
  keepGrown(v8, { eventLoopUtilization: performance.eventLoopUtilization, every: () => undefined });
  v8.setFlagsFromString('--heap-growing-percent=20');
  const db = openForSync({ path, platform: process.platform });
  db.run('pragma cache_size = -16000');
  const counts = { new: 0, changed: 0, gone: 0 };
  const writing = { db, sync: 1, now: NOW, counts: { transactions: counts, cards: { ...counts } } };
  const spent = new Map();
  let total = 0;
  for await (const line of createInterface({ input: createReadStream(pages) })) {
    const window = JSON.parse(line);
    for (const { type, card_id, amount } of window) {
      if (type !== 'settlement') continue;
      const cents = Math.round(amount * 100);
      spent.set(card_id, (spent.get(card_id) ?? 0) + cents);
      total += cents;
    }
    db.commit(() => {
      for (const record of window) storeRecord(writing, record);
    });
  }
  db.commit(() => storeAccount(writing, { spent, total, cards: Number(cards), storeCard }));
  db.close();
}

function storeAccount(writing, { spent, total, cards, storeCard }) {
  const { db } = writing;
  const made = iso(START);
  for (let nth = 0; nth < cards; nth += 1) {
    const id = cardId(nth);
    const balance = (FUNDED - (spent.get(id) ?? 0)) / 100;
    const last4 = String(nth % 10_000).padStart(4, '0');
    const card = { id, bin_id: 'bin_1', last4, label: `saas-${nth % 20}`, status: 'active', balance, created_at: made };
    storeCard(writing, card);
    db.run(
      "insert into move (op, row, operation, card_id, cents, outcome, at_ms, first_ms, first_sync) values ('op_1', ?, 'cards.create', ?, ?, 'done', ?, ?, 1)",
      ...[nth + 1, id, FUNDED, START, START],
    );
  }
  const onCards = cards * FUNDED - total;
  const deposited = cards * FUNDED + 1_000_00;
  db.run('insert into wallet_state values (?, ?, 0, ?, ?, ?, ?)', NOW, 1_000_00, deposited, total, cards, onCards);
  const facts = {
    origin: 'embedded',
    mode: 'sandbox',
    as_of: NOW,
    synced_at: NOW,
    sync: 1,
    finished_sync: 1,
    totals: 'told',
    moved: '',
  };
  for (const [name, value] of Object.entries(facts)) db.setFact(name, value);
}

/** Rows in two forms: as `.import` reads them, and as the service tells them, a window a line. */
async function writeRows(folder, { records, cards }) {
  const files = ['rows.csv', 'pages.ndjson'].map(name =>
    Writable.toWeb(createWriteStream(join(folder, name))).getWriter(),
  );
  const [csv, pages] = files;
  let window = [];
  for (const each of recordsOf(records, cards)) {
    const cents = Math.round(each.amount * 100);
    const cells = [each.id, each.card_id, each.type, each.status, cents, 'USD', each.merchant, each.mcc, 'US'];
    await csv.write(
      `${[...cells, each.authorization_id ?? '', '', Date.parse(each.created_at), each.created_at].join(',')}\n`,
    );
    window.push(each);
    if (window.length < 1_000) continue;
    await pages.write(`${JSON.stringify(window)}\n`);
    window = [];
  }
  if (window.length > 0) await pages.write(`${JSON.stringify(window)}\n`);
  for (const each of files) await each.close();
}

/** The columns and indexes of the mirror, rows as they come. */
const imported = path => `
create table record (tx_id text not null unique, card_id text, type text, status text, cents integer, currency text,
  merchant text, mcc text, merchant_country text, authorization_id text, decline_reason text, at_ms integer, created_at text);
create index a on record (at_ms);
create index b on record (card_id, type, at_ms, cents);
create index c on record (merchant);
create index d on record (authorization_id);
.import --csv ${path} record
`;

const csvOf = path => `.mode csv
.headers on
.once ${path}
select date(at_ms / 1000, 'unixepoch'), card_id, type, cents / 100.0, merchant, mcc, merchant_country, authorization_id, tx_id
  from tx where type <> 'authorization' order by at_ms, tx_id;
`;

function sqlite(database, script, home) {
  return measured(['sqlite3', database], home, script);
}

function exported(format, { period, home, out }) {
  const wish = ['--period', period, '--format', format, '--out', out, '--offline', '-q'];
  return measured([process.execPath, program, '--sandbox', 'books', 'export', ...wish], home);
}

/** Seconds, processor seconds and the peak in MB, of one process. */
function measured(command, home, input = '') {
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const { status, signal, stderr } = spawnSync('/usr/bin/time', ['-f', '\n%e %U %S %M', ...command], {
    env: { ...inherited, CARDWRIGHT_CONFIG_DIR: home },
    input,
    encoding: 'utf8',
    // What is printed is not looked at, and an overview of thousands of cards is more than would be kept of it.
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const [wall, user, system, kilobytes] = (stderr.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  if (status !== 0) throw new Error(`${command.join(' ')}: ended with ${status ?? signal}: ${stderr}`);
  return { wall, cpu: user + system, memory: kilobytes / 1024 };
}

function report({ records, cards, cases, size }) {
  const line = ([name, { wall, cpu, memory }]) =>
    `${name.padEnd(28)}${wall.toFixed(2).padStart(9)} s${cpu.toFixed(2).padStart(9)} s cpu${memory.toFixed(0).padStart(6)} MB`;
  const over = (ours, theirs) => (cases[ours].cpu / cases[theirs].cpu).toFixed(2);
  const ours = Object.entries(cases).filter(([name]) => !name.startsWith('sqlite3'));
  const peak = Math.max(...ours.map(([, { memory }]) => memory));
  process.stdout.write(`${records} records, ${cards} cards, Node ${process.version}, mirror ${(size / 2 ** 20).toFixed(0)} MB
${Object.entries(cases).map(line).join('\n')}
filling the mirror: ${over('mirror, filled', 'sqlite3 .import')} times .import (goal 3)
reconcile offline: ${cases['reconcile, offline'].cpu.toFixed(2)} s of processor (goal 3)
export for hledger: ${over('books export hledger', 'sqlite3 writing CSV')} times sqlite3 writing CSV (goal 4)
peak: ${peak.toFixed(0)} MB (goal 128)\n`);
}

/** Sums of each card in the export are those of the records. */
function check(path, { mirror, home }) {
  const sums = new Map();
  const [, ...lines] = readFileSync(path, 'utf8').split('\n');
  for (const line of lines) {
    const cells = line.split(',');
    if (cells[6] === 'settlement') sums.set(cells[3], (sums.get(cells[3]) ?? 0) + Math.round(Number(cells[7]) * 100));
  }
  const asked = "select card_id, -sum(cents) from tx where type = 'settlement' group by card_id";
  const { stdout } = spawnSync('sqlite3', ['-csv', mirror, asked], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { PATH: process.env.PATH, HOME: home },
  });
  const theirs = stdout.trim().split(/\r?\n/);
  const wrong = theirs.filter(line => sums.get(line.split(',')[0]) !== Number(line.split(',')[1]));
  if (wrong.length > 0 || theirs.length !== sums.size) throw new Error(`${wrong.length} cards differ from sqlite3`);
  process.stdout.write(`sums of ${sums.size} cards: equal to sqlite3\n`);
}

const [word, ...words] = process.argv.slice(2);
if (word === 'load') await load(...words);
else await main(Number(word ?? 1_000_000), Number(words[0] ?? 10_000));
