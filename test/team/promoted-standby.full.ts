/**
 * A file is under way while a real standby is cut off from its primary. Then the process and the primary are killed, and the
 * standby takes their place: it knows nothing of the file, or a part of it. Whichever way somebody goes on, nothing is sent before
 * all have pushed and an admin has accepted; in the end each row is done once, and every cent is accounted for.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { expect, it, vi } from 'vitest';
import type { Clock } from '../../src/platform/host.ts';
import { ended, home } from '../package/built.ts';
import { missingStandby, type Server, startStandby, stopServer } from '../postgres/server.ts';
import { connect } from '../postgres/shared.ts';
import { skippingClock } from '../support/clocks.ts';
import { words } from '../support/words.ts';
import type { World } from '../support/world.ts';
import { type OwnServer, ownServer } from './own-server.ts';
import { cableTo, team } from './team.ts';

const PRIMARY = ['wal_level = replica', 'max_wal_senders = 4'];
const HBA = ['local all all trust', 'local replication all trust'];
const ROWS = 12;
const WALLET = 1000;
const QUIET_MS = 200_000;

type Kind = 'creates' | 'funds';
/** How somebody goes on first; then everything else is tried too. */
type Way = 'the same file' | 'the same file, a colleague' | 'resume' | 'takeover';

interface Story {
  readonly kind: Kind;
  /** Requests of the file that were sent when the standby was cut off. */
  readonly cutAfter: number;
  readonly way: Way;
}

const LINES: Readonly<Record<Kind, string>> = {
  creates: 'cards create --file team.csv --yes --concurrency 3',
  funds: 'cards fund --file team.csv --yes --concurrency 3',
};
const WAYS: readonly Way[] = ['the same file', 'the same file, a colleague', 'resume', 'takeover'];
const STORIES = (['creates', 'funds'] as const).flatMap(kind =>
  [0, 5].flatMap(cutAfter => WAYS.map((way): Story => ({ kind, cutAfter, way }))),
);

it.skipIf(missingStandby() !== undefined).each(STORIES)('%j', { timeout: 240_000 }, async story => {
  await using s = await stage(story);
  const { ana, ben, kind } = s;
  const [op] = await s.killedUnderWay();
  const sent = s.posts();
  await s.promoted();

  // Before anybody has pushed: every way on is refused, and nothing leaves.
  for (const way of WAYS) {
    const { code, err } = await s.goOn(way, op);
    expect([14, 15], `${way}: ${err}`).toContain(code);
  }
  await expect(s.accept()).rejects.toThrow('have not pushed what they know');
  for (const machine of [ben, ana]) {
    const { code, err } = await machine.run('journal push', { clock: skippingClock() });
    expect({ code, err }).toMatchObject({ code: 0 });
  }
  expect(await s.pushedByProcess()).toMatchObject({ code: 0 });
  for (const way of WAYS) expect([14, 15], way).toContain((await s.goOn(way, op)).code);
  expect(s.posts()).toBe(sent);
  await s.accept();

  await s.endLeases();
  const first = await s.goOn(story.way, op);
  expect([0, 11, 14], `${story.way}: ${first.err}`).toContain(first.code);
  await s.settleAll();
  for (const machine of [ana, ben]) {
    const again = await machine.run(LINES[kind], { clock: skippingClock() });
    expect(again.code, again.err).toBe(14);
  }
  expect(await s.perRow()).toEqual(Array.from({ length: ROWS }, () => 1));
  expect(await s.balance()).toBe(WALLET - s.before - s.cost);
  const checked = await ben.run('journal check --json', { clock: skippingClock() });
  expect([checked.code, JSON.parse(checked.out).flaws]).toEqual([0, []]);
  expect((await ben.run('ops locks --json --jq .page.total')).out).toBe('0\n');
});

/** When nothing of the killed process can be on its way any more. */
function later(): Clock {
  const clock = skippingClock();
  return { ...clock, now: () => clock.now() + QUIET_MS };
}

const amountOf = (row: number) => row + 3;

async function stage({ kind, cutAfter }: Story) {
  const own = await ownServer({ conf: PRIMARY, hba: HBA });
  const cable = await cableTo(own.server);
  const place = await home();
  const t = await team(own, { wallet: WALLET, delayMs: 40 });
  const url = (role: string) => `postgres://${role}@${encodeURIComponent(cable.folder)}:${cable.port}/${own.name}`;
  const ana = await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: url('ana') });
  const ben = await t.machine('ben', { CARDWRIGHT_JOURNAL_URL: url('ben') });
  const cards = kind === 'funds' ? ROWS : 1;
  for (let made = 0; made < cards; made += 1)
    expect((await (made % 2 === 0 ? ana : ben).run('cards create --bin bin_1 --amount 1')).code).toBe(0);
  expect((await ben.run('cards fund card_1 --amount 1')).code).toBe(0);
  const before = cards + 1;
  const rows = Array.from({ length: ROWS }, (_, row) =>
    kind === 'funds' ? `card_${row + 1},${amountOf(row)}` : `bin_1,${amountOf(row)}`,
  );
  const header = kind === 'funds' ? 'card_id,amount' : 'bin_id,amount';
  for (const { folder } of [ana, ben]) await writeFile(join(folder, 'team.csv'), `${header}\n${rows.join('\n')}\n`);
  const folder = await mkdtemp(join(dirname(process.env['TEST_POSTGRES_FOLDER'] ?? tmpdir()), 'cwpg-'));
  const standby = await startStandby(own.server, folder);
  const posts = () => t.proxy.posts().length;
  const begun = posts();
  let promoted: ReturnType<typeof connect> | undefined;
  const root = async (text: string, role = 'postgres') => {
    const session = await connect(standby, role, own.name);
    try {
      return await session.call(text, []);
    } finally {
      await session.end();
    }
  };

  return {
    ana,
    ben,
    kind,
    before,
    posts,
    balance: t.balance,
    cost: Array.from({ length: ROWS }, (_, row) => amountOf(row)).reduce((sum, each) => sum + each, 0),
    /** Ids of the ops that the process leaves behind. */
    async killedUnderWay(): Promise<readonly string[]> {
      await streamed(own, standby);
      if (cutAfter === 0) await cutOff(standby);
      for (let row = 0; row < ROWS; row += 1) t.proxy.fail('POST', /\/(?:cards|fund)$/, 'late-answer');
      const child = place.start(words(LINES[kind]), {
        env: { ...t.processEnv('ana', ana), CARDWRIGHT_JOURNAL_URL: url('ana') },
        cwd: ana.folder,
      });
      const end = ended(child);
      if (cutAfter > 0) {
        await Promise.race([t.proxy.posted(begun + cutAfter), end]);
        await cutOff(standby);
      }
      await Promise.race([t.proxy.posted(begun + cutAfter + 3), end]);
      child.kill('SIGKILL');
      const { signal, err } = await end;
      expect(signal, err).toBe('SIGKILL');
      t.proxy.mend();
      const left = await t.at.ana.heads(t.at.account, { unfinished: true });
      return left.map(({ op }) => op);
    },
    /** The process that was killed has another name of its machine than the commands of this one. */
    async pushedByProcess() {
      const env = { ...t.processEnv('ana', ana), CARDWRIGHT_JOURNAL_URL: url('ana') };
      return ended(place.start(words('journal push'), { env, cwd: ana.folder }));
    },
    /** The primary is gone, and the standby is what everybody reaches. */
    async promoted() {
      await own.stop('SIGKILL');
      await root('select pg_promote()');
      cable.leadTo(standby);
    },
    accept: () =>
      root(`select cardwright.accept_failover('${t.at.account}', 'the machine of the primary burned')`, 'ada'),
    endLeases: () =>
      root(
        `update cardwright.op set lease_until = clock_timestamp() - interval '${QUIET_MS} ms' where state = 'running'`,
      ),
    goOn(way: Way, op = '') {
      switch (way) {
        case 'the same file':
          return ana.run(LINES[kind], { clock: later() });
        case 'the same file, a colleague':
          return ben.run(LINES[kind], { clock: later() });
        case 'resume':
          return ana.run(`ops resume ${op} --resend-absent --yes`, { clock: later() });
        case 'takeover':
          return ben.run(`ops takeover ${op} --reason "its machine burned" --resend-absent --yes`, { clock: later() });
      }
    },
    /** Whatever is open is taken up; what cannot be seen a person looks at. */
    async settleAll() {
      for (const { op } of await unfinished(ben)) {
        const takeover = `ops takeover ${op} --reason "its machine burned" --resend-absent --yes`;
        const { code, err } = await ben.run(takeover, { clock: later() });
        expect([0, 11], err).toContain(code);
        if (code === 11) await looked(ben, op, await this.perRow());
      }
      expect(await unfinished(ben)).toEqual([]);
    },
    /** How often each row was carried out. */
    async perRow(): Promise<readonly number[]> {
      await t.proxy.answered();
      const found = await t.cards();
      if (kind === 'creates')
        return Array.from(
          { length: ROWS },
          (_, row) => found.filter(({ balance }) => balance === amountOf(row)).length,
        );
      const byId = new Map(found.map(({ id, balance }) => [id, balance]));
      return Array.from({ length: ROWS }, (_, row) => {
        const more = (byId.get(`card_${row + 1}`) ?? 0) - 1 - (row === 0 ? 1 : 0);
        return more / amountOf(row);
      });
    },
    async [Symbol.asyncDispose]() {
      await (await promoted)?.end();
      for (const each of [t, place, cable]) await each[Symbol.asyncDispose]();
      await stopServer(standby, 'SIGKILL');
      await own[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Everything that the primary has written is there. */
async function streamed(own: OwnServer, standby: Server): Promise<void> {
  const [[at] = []] = await (await own.as('postgres')).call('select pg_current_wal_lsn()', []);
  const session = await connect(standby, 'postgres', own.name);
  const there = async () => (await session.call(`select pg_last_wal_replay_lsn() >= '${at}'::pg_lsn`, []))[0];
  await vi.waitFor(async () => expect(await there()).toEqual(['t']), { timeout: 20_000 });
  await session.end();
}

async function cutOff(standby: Server): Promise<void> {
  const session = await connect(standby, 'postgres', 'postgres');
  await session.call(`alter system set primary_conninfo = ''`, []);
  await session.call('select pg_reload_conf()', []);
  const receivers = () => session.call('select count(*) from pg_stat_wal_receiver', []);
  await vi.waitFor(async () => expect((await receivers())[0]).toEqual(['0']), { timeout: 20_000, interval: 5 });
  await session.end();
}

async function unfinished({ run }: World): Promise<readonly { readonly op: string; readonly unknown: number }[]> {
  const { out } = await run('ops list --json');
  return JSON.parse(out).data.filter(({ state }: { state: string }) => state !== 'finished');
}

/** A person looks at the service, and says what came of each row that is unknown. */
async function looked(machine: World, op: string, times: readonly number[]): Promise<void> {
  const { code: shows, out, err: why } = await machine.run(`ops show ${op} --json`);
  expect(shows, why).toBe(0);
  const shown = JSON.parse(out);
  for (const { row, outcome } of shown.items as readonly { row: number; outcome: string }[]) {
    if (outcome !== 'unknown') continue;
    const as = times[row - 1] === 1 ? 'done' : 'not-done';
    const { code, err } = await machine.run(`ops resolve ${op} ${row} --as ${as} --note "looked" --yes`, {
      clock: later(),
    });
    expect(code, err).toBe(0);
  }
}
