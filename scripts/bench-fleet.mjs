/**
 * `fleet plan` of 10,000 cards beside `cards list --all` of the same account: wall time, processor time and peak memory, the
 * medians of some rounds. The file is written with `count`, and with every card written out. `node scripts/bench-fleet.mjs [cards] [rounds]`; the
 * number of cards is a multiple of 1,000. Needs GNU time (apt-get install time).
 */
import { fork, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(import.meta.url);
const program = join(dirname(dirname(file)), 'bin', 'cardwright.js');
const PER_PAGE = 100;
const A_GROUP = 1_000;

if (process.argv[2] === 'serve') serve(Number(process.argv[3]));
else await main(Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 3));

function serve(cards) {
  const card = number => ({
    id: cardId(number),
    bin_id: 'bin_1',
    network: 'visa',
    last4: String(number % 10_000).padStart(4, '0'),
    status: 'active',
    balance: 25,
    spending_limit: 500,
    label: `seat ${number}`,
    allowed_categories: ['advertising'],
    auto_freeze_at: 5,
    metadata: { team: 'ads', cardwright: `fleet/team/g${Math.floor(number / A_GROUP)}-${(number % A_GROUP) + 1}#1` },
    created_at: '2026-11-20T14:03:11Z',
    expires_at: '2029-11-20T14:03:11Z',
  });
  const pages = Array.from({ length: cards / PER_PAGE }, (_, page) => {
    const data = Array.from({ length: PER_PAGE }, (_each, index) => card(page * PER_PAGE + index));
    return JSON.stringify({
      data,
      meta: { page: page + 1, per_page: PER_PAGE, total: cards, total_pages: cards / PER_PAGE },
    });
  });
  const bin = { id: 'bin_1', network: 'visa', type: 'credit', '3ds': true, max_transaction: 500, max_monthly: 5_000 };
  const wallet = {
    balance: 100,
    currency: 'USD',
    pending_deposits: 0,
    total_deposited: 100,
    total_spent: 0,
    cards_active: 0,
    cards_total_balance: 0,
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const page = Number(searchParams.get('page') ?? 1);
    const bodies = {
      '/v1/bins': JSON.stringify({ data: [bin] }),
      '/v1/wallet': JSON.stringify(wallet),
      '/v1/cards': pages[page - 1],
    };
    response.setHeader('content-type', 'application/json');
    response.end(bodies[pathname] ?? '{"data":[]}');
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('disconnect', () => process.exit());
}

/** 24 digits of base 32, as the service gives them: an id of decimal digits is looked into for a card number. */
function cardId(number) {
  const digits = [...createHash('sha256').update(String(number)).digest().subarray(0, 24)];
  return `card_${digits.map(byte => 'abcdefghijklmnopqrstuvwxyz234567'[byte & 31]).join('')}`;
}

async function main(cards, rounds) {
  const server = fork(file, ['serve', String(cards)]);
  const [port] = await once(server, 'message');
  const folder = mkdtempSync(join(tmpdir(), 'cardwright-bench-'));
  const env = {
    ...process.env,
    CARDWRIGHT_CONFIG_DIR: folder,
    CARDWRIGHT_API_KEY: 'sk_test_0123456789abcdef',
    CARDWRIGHT_BASE_URL: `http://127.0.0.1:${port}/v1`,
  };
  try {
    const head =
      'version: 1\nfleet: team\ncaps: {per_apply: 0, cards: 100000}\ndefaults: {amount: 25.00, limit: 500.00, auto_freeze_at: 5.00, categories: [advertising], team: ads}\ncards:\n';
    const groups = Array.from({ length: cards / A_GROUP }, (_, group) => `  g${group}: {count: ${A_GROUP}}\n`);
    const single = Array.from(
      { length: cards },
      (_, number) =>
        `  g${Math.floor(number / A_GROUP)}-${(number % A_GROUP) + 1}: {label: "seat ${number}", limit: 500.00}\n`,
    );
    writeFileSync(join(folder, 'count.yaml'), head + groups.join(''));
    writeFileSync(join(folder, 'whole.yaml'), head + single.join(''));
    const table = [
      ['cards list --all -o ndjson', ['cards', 'list', '--all', '-o', 'ndjson']],
      ['fleet plan, written with count', ['fleet', 'plan', join(folder, 'count.yaml')]],
      ['fleet plan, every card written out', ['fleet', 'plan', join(folder, 'whole.yaml')]],
    ].map(([what, words]) => [what, measured(words, { env, rounds })]);
    const [, [base]] = table[0];
    process.stdout.write('| command | wall | beside the list | processor | peak memory |\n|---|---|---|---|---|\n');
    for (const [what, [wall, cpu, memory]] of table) {
      process.stdout.write(
        `| ${what} | ${wall.toFixed(2)} s | ${(wall / base).toFixed(1)} | ${cpu.toFixed(2)} s | ${Math.round(memory / 1024)} MB |\n`,
      );
    }
  } finally {
    server.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Medians of wall and processor time in seconds, and of peak memory in kilobytes. */
function measured(words, { env, rounds }) {
  const runs = Array.from({ length: rounds }, () => {
    const ran = spawnSync('/usr/bin/time', ['-f', '%e %U %S %M', process.execPath, program, ...words], {
      env,
      encoding: 'utf8',
      maxBuffer: 100_000_000,
    });
    const line = ran.stderr?.trim().split('\n').at(-1) ?? '';
    if (ran.status !== 0) throw new Error(`${words.join(' ')}: ${ran.error ?? ran.stderr}`);
    const [wall, user, system, memory] = line.split(' ').map(Number);
    return [wall, user + system, memory];
  });
  return [0, 1, 2].map(index => runs.map(run => run[index]).sort((a, b) => a - b)[Math.floor(rounds / 2)]);
}
