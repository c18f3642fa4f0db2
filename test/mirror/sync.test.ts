/** One history: a service that moves while it is copied, by syncs some of which are killed; then it stands still. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { newestWallet } from '../../src/mirror/account-rows.ts';
import { isWhole } from '../support/whole.ts';
import { chances, type Manners, MovingService } from './moving-service.ts';
import { Killed, syncing } from './syncing.ts';

const HOUR = 3_600_000;

/** Ways of a service; each history takes the next. */
const MANNERS: readonly Manners[] = [
  {},
  { deletes: true },
  { backdates: true },
  { totals: false },
  { endsExcluded: true, deletes: true },
  { filters: false },
  { filters: false, deletes: true },
  { filters: false, order: 'any' },
  { order: 'any', deletes: true },
  { steps: 3 },
];

interface Told {
  readonly manners: Manners;
  readonly held: readonly string[];
  readonly truth: readonly string[];
  readonly kills: number;
  readonly syncs: number;
}

/** Plays the history of a seed, `syncs` syncs long. */
async function history(seed: number, syncs: number): Promise<Told> {
  const manners = MANNERS[seed % MANNERS.length] ?? {};
  const service = new MovingService(seed, manners);
  const chance = chances(seed + 1_000_000);
  service.live(60 + Math.floor(chance() * 200), 2 * HOUR);
  await using world = await syncing(service);
  let kills = 0;
  for (let number = 0; number < syncs; number += 1) {
    const fate = chance();
    if (fate < 0.5) world.killAtCommit = 1 + Math.floor(chance() * 14);
    else if (fate < 0.75) service.failAt = service.requests + 1 + Math.floor(chance() * 20);
    try {
      await world.mirror.sync();
    } catch (error) {
      if (!(error instanceof Killed || error instanceof CliError)) throw error;
      kills += 1;
    }
    world.killAtCommit = Number.POSITIVE_INFINITY;
    service.failAt = Number.POSITIVE_INFINITY;
    service.live(Math.floor(chance() * 12), chance() < 0.3 ? 30 * HOUR : HOUR / 6);
  }
  // It stands still, and a day has gone by, so that days are audited.
  service.moves = false;
  service.now += 25 * HOUR;
  await world.mirror.sync();
  return { manners, held: await world.held(), truth: service.truth(), kills, syncs };
}

/** A service that has lived for a while and now stands still. */
function still(seed: number): MovingService {
  const service = new MovingService(seed);
  service.live(300, 2 * HOUR);
  service.moves = false;
  return service;
}

// The last one settles an expired purchase that lies behind the page where a walk would end.
it.each([...MANNERS.keys()].map(seed => [seed + 1_000, 4]).concat([[175, 6]]))(
  'holds what a moving service holds, whatever was killed: history %i of %i syncs',
  async (seed, syncs) => {
    const { held, truth } = await history(seed, syncs);
    expect(held).toEqual(truth);
  },
);

it.runIf(isWhole)(
  'holds what a moving service holds after 200 histories of six syncs, each killed at some commit or request',
  async () => {
    let kills = 0;
    for (let seed = 0; seed < 200; seed += 1) {
      const { held, truth, kills: more } = await history(seed, 6);
      kills += more;
      expect({ seed, manners: MANNERS[seed % MANNERS.length], held }).toMatchObject({ held: truth });
    }
    expect(kills).toBeGreaterThan(500);
  },
  600_000,
);

it('writes down what changed and what is gone, and takes back what came again', async () => {
  const service = still(2);
  await using world = await syncing(service);
  await world.mirror.sync();
  const pending = service.records.find(({ type, status }) => type === 'authorization' && status === 'pending');
  if (pending === undefined) throw new Error('no open authorization');
  pending.cents += 500;
  const [gone] = service.records.splice(10, 1);
  if (gone === undefined) throw new Error('no record');
  service.now += 2 * HOUR;
  expect(await world.mirror.sync()).toMatchObject({ transactions: { new: 0, gone: 1 } });
  service.records.push(gone);
  service.now += HOUR;
  await world.mirror.sync();
  using copy = await world.mirror.read();
  const changes = copy.db.all<{ tx_id: string; field: string; old: string; new: string }>(
    'select tx_id, field, old, new from tx_changes',
  );
  expect(changes).toContainEqual({
    tx_id: pending.id,
    field: 'cents',
    old: String(pending.cents - 500),
    new: String(pending.cents),
  });
  expect(changes.filter(({ tx_id }) => tx_id === gone.id).map(({ field }) => field)).toEqual(['gone_at', 'gone_at']);
  expect(await world.held()).toEqual(service.truth());
});

it('takes another key of the same account, and refuses one of another account', async () => {
  const service = still(3);
  let [key, reader] = ['one', service.reader];
  const account = async () => ({
    profile: 'team',
    mode: 'test',
    origin: 'https://api.example.com/v1',
    keyPrint: async (salt: string) => `${salt} ${key}`,
  });
  await using world = await syncing(service, { account, reader: async () => reader });
  await world.mirror.sync();
  key = 'two';
  await world.mirror.sync();
  key = 'three';
  const other = new MovingService(4);
  reader = other.reader;
  await expect(world.mirror.sync()).rejects.toMatchObject({
    kind: 'guarded',
    message: expect.stringMatching(/another account\?/),
    // The transactions known here were looked for.
    facts: expect.not.objectContaining({ outcome: 'not_sent' }),
  });
  reader = service.reader;
  expect(await world.held()).toEqual(service.truth());
});

it('refuses an account, each time, in which no card that was known is there: a sandbox that was reset', async () => {
  const service = still(3);
  await using world = await syncing(service);
  await world.mirror.sync();
  const before = service.cards.splice(0, service.cards.length);
  for (const [n, card] of before.entries()) service.cards.push({ ...card, id: `card_new_${n}` });
  for (const _ of ['first', 'again']) {
    await expect(world.mirror.sync({ full: true })).rejects.toMatchObject({
      kind: 'guarded',
      facts: { hint: 'cardwright books reset' },
    });
  }
});

it('refuses a damaged file, and reads everything again once it was moved aside', async () => {
  const service = still(5);
  await using world = await syncing(service);
  await world.mirror.sync();
  writeFileSync(world.mirror.path, Buffer.alloc(8192, 'not a database'));
  const refused = { kind: 'check_failed', facts: { hint: 'cardwright books reset' } };
  await expect(world.mirror.read()).rejects.toMatchObject(refused);
  await expect(world.mirror.sync()).rejects.toMatchObject(refused);
  await world.mirror.reset({ hard: false });
  expect((await world.mirror.sync()).transactions.new).toBe(service.records.length);
  expect(await world.held()).toEqual(service.truth());
});

it('reads on where a stopped sync has left, and no page shifts while more comes', async () => {
  const service = new MovingService(6, { steps: 3 });
  service.live(2_600, HOUR / 60);
  const known = service.records.length;
  await using world = await syncing(service);
  service.failAt = 55;
  await expect(world.mirror.sync()).rejects.toMatchObject({ kind: 'unreachable' });
  expect(await world.mirror.status()).toMatchObject({ open_windows: 1 });
  service.failAt = Number.POSITIVE_INFINITY;
  const before = service.requests;
  const { windows, transactions } = await world.mirror.sync();
  expect(windows.open).toBe(0);
  expect(transactions.new).toBeLessThan(known);
  expect(service.requests - before).toBeLessThan(known / 15);
  service.moves = false;
  await world.mirror.sync();
  expect(await world.held()).toEqual(service.truth());
});

it('keeps the file to its user, and nothing in it that could be spent', async () => {
  const service = still(7);
  const [pan, key] = ['4111111111111111', 'sk_live_abcdefghijkl'];
  const reader = {
    ...service.reader,
    async read(operation: string, input: object) {
      const answer = (await service.reader.read(operation as 'cards.list', input)) as unknown as {
        data?: object[];
      };
      const planted = { merchant: `ACME ${pan}`, label: `ads ${pan}`, metadata: { note: `card ${pan}, ${key}` } };
      const hidden = { acct: pan, cvc: '918', [`pan_${pan}`]: 1, raw: { number: pan, secret: key } };
      return { ...answer, ...(answer.data && { data: answer.data.map(row => ({ ...row, ...planted, ...hidden })) }) };
    },
  };
  await using world = await syncing(service, { reader: async () => reader as never });
  await world.mirror.sync();
  const folder = dirname(world.mirror.path);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const bytes = readdirSync(folder).map(name => {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    return readFileSync(join(folder, name), 'latin1');
  });
  for (const canary of [pan, key]) expect(bytes.some(text => text.includes(canary))).toBe(false);
});

it('shows the wallet and the cards as they were read last, also after the clock of the service went back', async () => {
  const service = still(5);
  await using world = await syncing(service);
  service.now += 120_000;
  await world.mirror.sync();
  service.now -= 120_000;
  const card = service.cards.find(({ status }) => status === 'active');
  if (card === undefined) throw new Error('no card');
  card.cents += 100_00;
  await world.mirror.sync();
  using copy = await world.mirror.read();
  const shown = copy.db.get('select balance_cents from cards where card_id = ?', card.id);
  expect(shown).toEqual({ balance_cents: card.cents });
  const open = service.cards.filter(({ status }) => status !== 'terminated');
  const total = open.reduce((sum, { cents }) => sum + cents, 0);
  expect(newestWallet(copy.db)).toMatchObject({ cards_total_balance_cents: total });
});
