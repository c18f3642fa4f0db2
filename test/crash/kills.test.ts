/**
 * Real processes that are killed: single purchases and files, and each `ops resume` behind them, at any moment. The service lives on
 * and ignores idempotency keys, so that whatever is sent twice stands in its books twice. Twelve kills in `npm test`, two
 * thousand with `CARDWRIGHT_TEST_WHOLE=1`, or as many as `CARDWRIGHT_KILLS` says.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { connectTo } from '../../src/engine/open.ts';
import { type Home, home } from '../package/built.ts';
import { type HostileService, hostileService } from '../support/hostile-service.ts';
import { Chance } from '../support/simulated/world.ts';
import { isWhole } from '../support/whole.ts';

/** Ids of its operations, oldest first; none where there is no journal. */
function opsIn(stateFolder: string): readonly string[] {
  const path = join(stateFolder, 'journal.db');
  if (!existsSync(path)) return [];
  const connection = connectTo(path);
  try {
    const rows = connection.prepare('select id from op order by created, id').all() as { id: string }[];
    return rows.map(({ id }) => id);
  } finally {
    connection.close();
  }
}

const KEY = 'sk_test_0123456789abcdef0123456789abcdef';
/** Of each purchase: its command, and then each resume. */
const KILLS = 6;
const ROWS = 5;

const MANY = Number(process.env['CARDWRIGHT_KILLS'] ?? (isWhole ? 2_000 : 12));
/** Each is used by one purchase after the other; most of a purchase is waiting for readings. */
const CARDS = isWhole ? ['card_1', 'card_2', 'card_3', 'card_4', 'card_5', 'card_6'] : ['card_1', 'card_2'];

test(`${MANY} processes are killed, and nothing is done twice`, async () => {
  await using service = await hostileService({ now: Date.now });
  service.reset({ [KEY]: { walletCents: 1e9, keys: 'ignored', cards: CARDS.map(() => ({ cents: 0 })) } });
  const chance = new Chance(Date.now());
  let [left, purchases] = [MANY, 0];
  const ended = new Map<number | undefined, number>();
  const drive = async (card: string) => {
    await using here = await home();
    const begun = performance.now();
    await here.run(['cards', 'create', '--bin', 'bin_1', '--amount', '5', '--yes'], { baseUrl: service.baseUrl });
    const usual = performance.now() - begun;
    while (left > 0) {
      left -= KILLS;
      purchases += 1;
      const code = await buyAndKill({ here, service, chance, usual }, { name: purchases, card });
      ended.set(code, (ended.get(code) ?? 0) + 1);
    }
  };
  await Promise.all(CARDS.map(drive));
  // Some were begun before they were killed, or this would prove nothing.
  expect(ended.get(undefined) ?? 0).toBeLessThan(purchases);
  process.stdout.write(`purchases by how their last resume ended: ${JSON.stringify([...ended])}\n`);
}, 3_600_000);

interface World {
  readonly here: Home;
  readonly service: HostileService;
  readonly chance: Chance;
  /** ms that a purchase takes that nobody kills. */
  readonly usual: number;
}

/** One purchase, named by its amount or label: killed, and resumed. Resolves to the end of its last resume; undefined: nothing was begun. */
async function buyAndKill(
  world: World,
  { name, card }: { readonly name: number; readonly card: string },
): Promise<number | undefined> {
  const { here, service, chance, usual } = world;
  const baseUrl = { baseUrl: service.baseUrl };
  const state = join(here.folder, 'state');
  const file = join(here.folder, `rows-${name}.csv`);
  const rows = Array.from({ length: ROWS }, (_, row) => `bin_1,5.00,wish-${name}-${row}`);
  await writeFile(file, `bin_id,amount,label\n${rows.join('\n')}\n`);
  const amount = `${name}.01`;
  const [words, wanted] = chance.of([
    [['cards', 'create', '--bin', 'bin_1', '--amount', '5', '--label', `wish-${name}-0`], 1],
    [['cards', 'fund', card, '--amount', amount], 1],
    [['cards', 'create', '--file', file], ROWS],
    [['cards', 'create', '--file', file], ROWS],
  ] as const);
  const before = new Set(opsIn(state));
  const story: string[] = [];
  for (let kill = 0, line: readonly string[] = words; kill < KILLS; kill += 1) {
    const ended = await killed(here.start([...line, '--yes', '--json'], baseUrl), usual * (0.2 + chance.fraction()));
    story.push(`${line.join(' ')}: ${ended}`);
    const op = opsIn(state).find(each => !before.has(each));
    if (op !== undefined) line = ['ops', 'resume', op];
    else if (ended === 0) throw new Error(`an end without an op: ${story.join('\n')}`);
  }
  const op = opsIn(state).find(each => !before.has(each));
  const { effects } = service.books(KEY);
  const isOf = ({ operation, label, cents }: (typeof effects)[number]) =>
    operation === 'fund' ? cents === name * 100 + 1 : label.startsWith(`wish-${name}-`);
  const last = op === undefined ? undefined : await here.run(['ops', 'resume', op, '--yes', '--json'], baseUrl);
  const made = effects.filter(isOf);
  story.push(`ops resume: ${last?.code} ${last?.out}${last?.err}`);
  const twice = made.length - new Set(made.map(({ label, operation }) => `${operation} ${label}`)).size;
  expect({ twice: operationOf(words) === 'fund' ? Math.max(0, made.length - 1) : twice, story }).toEqual({
    twice: 0,
    story,
  });
  if (last === undefined) expect({ made: made.length, story }).toEqual({ made: 0, story });
  else if (last.code === 0) expect({ made: made.length, story }).toEqual({ made: wanted, story });
  // What no look has found is unknown; it is settled, so that the next transfer of the card is not in its way.
  else {
    expect({ code: last.code, story }).toEqual({ code: 11, story });
    await here.run(
      ['ops', 'resolve', op ?? '', '--as', made.length === wanted ? 'done' : 'not-done', '--note', 'books', '--yes'],
      baseUrl,
    );
  }
  return last?.code ?? undefined;
}

const operationOf = (words: readonly string[]) => words[1];

/** Resolves to its exit code, or to when it was killed. */
function killed(child: ReturnType<Home['start']>, afterMs: number): Promise<number | string> {
  child.stdin?.end();
  child.stdout?.resume();
  child.stderr?.resume();
  return new Promise(resolve => {
    const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
    child.on('close', code => {
      clearTimeout(timer);
      resolve(code ?? `killed after ${afterMs} ms`);
    });
  });
}
