/** A shared journal far away: 200 ms each way, and a network that stands still for 20 s in the middle of a purchase. */
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type JournalServer, journalServer } from '../postgres/journal-server.ts';
import { missing } from '../postgres/server.ts';
import { team } from './team.ts';

const without = missing() !== undefined;
const CREATE = 'cards create --bin auto --amount 5 --yes --json';
const LONG_MS = 300_000;

interface Way extends AsyncDisposable {
  url(role: string): string;
  /** The piece with this number, counted from now on, arrives so much later, and all behind it. */
  stall(piece: number, ms: number): void;
}

/** Passes on what comes, each piece so much later. */
async function slowWay({ server }: JournalServer, delayMs: number): Promise<Way> {
  let [left, stallMs, openAt] = [0, 0, 0];
  const pass = (from: Socket, to: Socket) => {
    let before = Promise.resolve();
    from.on('data', piece => {
      left -= 1;
      if (left === 0) openAt = performance.now() + stallMs;
      const due = performance.now() + delayMs;
      before = before.then(async () => {
        await rest(Math.max(0, due - performance.now(), openAt - performance.now()));
        to.write(piece);
      });
    });
    from.on('close', () => void before.then(() => to.destroy()));
    from.on('error', () => to.destroy());
  };
  const proxy = createServer(client => {
    const database = connect(`${server.socket}/.s.PGSQL.${server.port}`);
    pass(client, database);
    pass(database, client);
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    url: role => `postgres://${role}@127.0.0.1:${port}/postgres`,
    stall(piece, ms) {
      [left, stallMs] = [piece, ms];
    },
    [Symbol.asyncDispose]: () => new Promise(resolve => proxy.close(() => resolve())),
  };
}

async function slowTeam(server: JournalServer, way: Way) {
  const t = await team(server);
  const admin = await t.machine('postgres');
  expect((await admin.run(`journal init ${server.url('postgres')} --key`)).code).toBe(0);
  const machine = (role: 'ana' | 'bo') => t.machine(role, { CARDWRIGHT_JOURNAL_URL: way.url(role) });
  return { t, ana: await machine('ana'), bo: await machine('bo') };
}

test.skipIf(without)(
  '200 ms each way: one purchase of one name, one run of one file',
  { timeout: LONG_MS },
  async () => {
    await using server = await journalServer();
    await using way = await slowWay(server, 200);
    const { t, ana, bo } = await slowTeam(server, way);
    await using _ = t;
    const both = await Promise.all([ana, bo].map(each => each.run(`${CREATE} --intent order-1`)));
    expect(both.map(({ code, err }) => [code, err])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const { id } = JSON.parse(both[0]?.out ?? '');
    for (const each of [ana, bo])
      await writeFile(join(each.folder, 'team.csv'), `bin_id,amount\n${'bin_1,2\n'.repeat(8)}`);
    const files = await Promise.all([ana, bo].map(each => each.run('cards create --file team.csv --yes')));
    expect(files.map(({ code }) => code).sort()).toEqual([0, 14]);
    const funds = await Promise.all([ana, bo].map(each => each.run(`cards fund ${id} --amount 3 --yes`)));
    expect(funds.map(({ code, err }) => [code, err])).toEqual([
      [0, expect.anything()],
      [0, expect.anything()],
    ]);
    const cards = await t.cards();
    expect([cards.length, cards.find(card => card.id === id)?.balance]).toEqual([9, 11]);
    expect((await ana.run('journal check')).code).toBe(0);
  },
);

test.skipIf(without)(
  'a network that stands still for 20 s: nothing twice, and no false yes',
  { timeout: LONG_MS },
  async () => {
    await using server = await journalServer();
    await using way = await slowWay(server, 1);
    const { t, ana, bo } = await slowTeam(server, way);
    await using _ = t;
    const ended: (readonly [number, number])[] = [];
    for (const piece of [1, 6, 12, 18, 24]) {
      const before = (await t.cards()).length;
      way.stall(piece, 20_000);
      const first = await ana.run(`${CREATE} --intent stalled-${piece}`);
      const again = await bo.run(`${CREATE} --intent stalled-${piece}`);
      ended.push([first.code, again.code]);
      expect([first.code, again.code, (await t.cards()).length], first.err + again.err).toEqual([
        expect.toSatisfy((code: number) => [0, 11, 14].includes(code)),
        0,
        before + 1,
      ]);
    }
    expect(ended.filter(([first]) => first === 0).length).toBeGreaterThan(2);
    expect((await ana.run('journal check')).code).toBe(0);
  },
);
