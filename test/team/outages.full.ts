/**
 * The database says nothing, or is ended by kill -9, under real commands: before their first call, or while their request is on
 * its way. They end in time, with 14 where nothing was sent and 11 where it is not known; 0 means that it is done and written. No
 * lock stays behind; then somebody goes on, and the change is made once.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as rest } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/platform/host.ts';
import { ended, type Home, home } from '../package/built.ts';
import { missing, type Server } from '../postgres/server.ts';
import { skippingClock } from '../support/clocks.ts';
import { words } from '../support/words.ts';
import { ownServer } from './own-server.ts';
import { team } from './team.ts';

const COMMANDS = ['create', 'fund', 'file', 'resume', 'takeover'] as const;
const MOMENTS = ['before its first call', 'while it asks the service'] as const;
const OUTAGES = ['silent for 20 s', 'silent until it has ended', 'killed'] as const;

interface Story {
  readonly command: (typeof COMMANDS)[number];
  readonly moment: (typeof MOMENTS)[number];
  readonly outage: (typeof OUTAGES)[number];
}

const STORIES = COMMANDS.flatMap(command =>
  MOMENTS.flatMap(moment => OUTAGES.map((outage): Story => ({ command, moment, outage }))),
);
const ROWS = 3;
const [SILENT_MS, MOST_MS, LOCKS_GONE_MS, QUIET_MS, SLOW_MS] = [20_000, 120_000, 60_000, 200_000, 3_000];

describe.skipIf(missing())('the database is away', () => {
  let place: Home;
  beforeAll(async () => {
    place = await home();
  });
  afterAll(() => place[Symbol.asyncDispose]());

  it.concurrent.each(STORIES)('$command, $moment: $outage', { timeout: 500_000 }, async story => {
    await using s = await stage(place, story);
    const { code, err, ms } = await s.struck();
    const says = `${code} ${err}`;
    expect([0, 11, 14], says).toContain(code);
    expect(ms, says).toBeLessThan(MOST_MS);
    expect(err, says).not.toMatch(/internal| {4}at /);
    const made = await s.made();
    if (code === 0) expect(made, says).toBe(s.wanted);
    if (code === 14) expect(made, says).toBe(s.begun);
    if (code !== 0) expect(err, says).toMatch(/^ *(?:try|See): cardwright /m);
    if (story.outage !== 'killed' && story.moment === 'before its first call' && !story.outage.includes('20'))
      expect(code, says).toBe(14);
    process.stdout.write(
      `${story.command}, ${story.moment}, ${story.outage}: ${code} after ${Math.round(ms / 1000)} s\n`,
    );
    await vi.waitFor(async () => expect(await s.locks()).toEqual([]), { timeout: LOCKS_GONE_MS, interval: 500 });
    await s.settled();
    expect(await s.made()).toBe(s.wanted);
    const checked = await s.ben.run('journal check --json', { clock: skippingClock() });
    expect([checked.code, checked.out === '' ? checked.err : JSON.parse(checked.out).flaws]).toEqual([0, []]);
    expect(await s.used()).toEqual({ held: 0, spent: s.spent });
  });
});

function later(): Clock {
  const clock = skippingClock();
  return { ...clock, now: () => clock.now() + QUIET_MS };
}

async function stage(place: Home, { command, moment, outage }: Story) {
  const own = await ownServer();
  const t = await team(own, { wallet: 500, delayMs: SLOW_MS });
  const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
  expect((await ana.run('cards create --bin bin_1 --amount 1')).code).toBe(0);
  expect((await ben.run('cards fund card_1 --amount 1')).code).toBe(0);
  const rows = Array.from({ length: ROWS }, (_, row) => `bin_1,${row + 3}`);
  for (const { folder } of [ana, ben]) await writeFile(join(folder, 'team.csv'), `bin_id,amount\n${rows.join('\n')}\n`);
  const left = command === 'resume' || command === 'takeover' ? await unknownCreate() : '';
  const line = {
    create: 'cards create --bin bin_1 --amount 7',
    fund: 'cards fund card_1 --amount 7',
    file: 'cards create --file team.csv --yes --concurrency 1',
    resume: `ops resume ${left} --yes`,
    takeover: `ops takeover ${left} --reason "ana is away" --yes`,
  }[command];
  const [role, machine] = command === 'takeover' ? (['ben', ben] as const) : (['ana', ana] as const);
  const made = async () => {
    await t.proxy.answered();
    const cards = await t.cards();
    return command === 'fund' ? ((cards.at(-1)?.balance ?? 0) - 2) / 7 : cards.length - 1;
  };
  const wanted = command === 'file' ? ROWS : 1;
  const root = async (text: string) => (await own.as('postgres')).call(text, []);
  const open = async () => {
    const { out } = await ben.run('ops list --json');
    return (JSON.parse(out).data as readonly { op: string; state: string }[]).filter(
      ({ state }) => state !== 'finished',
    );
  };
  const endLeases = () =>
    root(
      `update cardwright.op set lease_until = clock_timestamp() - interval '${QUIET_MS} ms' where state = 'running'`,
    );

  /** A create of ana whose answer was lost: the card is there. */
  async function unknownCreate(): Promise<string> {
    t.proxy.fail('POST', /\/cards$/, 'drop-after');
    t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
    const { code, err } = await ana.run('cards create --bin bin_1 --amount 7 --json', { clock: skippingClock() });
    t.proxy.mend();
    expect(code, err).toBe(11);
    return String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
  }

  return {
    ben,
    wanted,
    made,
    begun: await made(),
    spent: command === 'fund' || command === 'create' ? 900 : command === 'file' ? 200 + 300 + 400 + 500 : 900,
    async struck() {
      t.proxy.fail('POST', /\/(?:cards|fund)$/, ...Array<'late-answer'>(ROWS).fill('late-answer'));
      if (left !== '') t.proxy.fail('GET', /\/cards\?/, ...Array<'late-answer'>(3).fill('late-answer'));
      const before = t.proxy.seen.length;
      const isAsked = () =>
        t.proxy.seen
          .slice(before)
          .some(({ method, path }) => (left === '' ? method === 'POST' : path.includes('/cards?')));
      const strike = outageOf(outage, own);
      if (moment === 'before its first call') await strike.begin();
      const began = performance.now();
      const child = place.start(words(line), { env: t.processEnv(role, machine), cwd: machine.folder });
      const end = ended(child);
      child.stdin?.end();
      const over = end.then(() => true);
      if (moment === 'while it asks the service') {
        while (!isAsked() && !(await Promise.race([over, rest(5, false)])));
        await strike.begin();
      }
      const mended = strike.end(end);
      const { code, err } = await end;
      const ms = performance.now() - began;
      await mended;
      t.proxy.mend();
      return { code, err, ms };
    },
    /** That sessions hold on rows or tables of the journal. */
    locks: () =>
      root(
        `select l.mode, c.relname from pg_locks l join pg_class c on c.oid = l.relation
          where c.relnamespace = 'cardwright'::regnamespace and l.pid <> pg_backend_pid()`,
      ),
    /** What is open is taken over; what was never begun is begun now. */
    async settled() {
      await endLeases();
      for (const { op } of await open()) {
        const { code, err } = await ben.run(`ops takeover ${op} --reason "it was cut off" --resend-absent --yes`, {
          clock: later(),
        });
        expect([0, 11], err).toContain(code);
        if (code === 0) continue;
        const as = (await made()) === wanted ? 'done' : 'not-done';
        const closed = await ben.run(`ops resolve ${op} --as ${as} --note "looked" --yes`, { clock: later() });
        expect(closed.code, closed.err).toBe(0);
      }
      if ((await made()) < wanted) {
        const again = await ana.run(line, { clock: skippingClock() });
        expect(again.code, again.err).toBe(0);
      }
      expect(await open()).toEqual([]);
    },
    async used() {
      const [[held, spent] = []] = await root('select sum(held), sum(spent) from cardwright.spend_day');
      return { held: Number(held), spent: Number(spent) };
    },
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}

interface Outage {
  begin(): Promise<void>;
  /** At its time, with the end of the command. */
  end(command: Promise<unknown>): Promise<void>;
}

function outageOf(outage: Story['outage'], own: Awaited<ReturnType<typeof ownServer>>): Outage {
  if (outage === 'killed') {
    return {
      begin: () => own.stop('SIGKILL'),
      async end(command) {
        await Promise.race([command, rest(1_000)]);
        await own.start();
      },
    };
  }
  let stopped: readonly number[] = [];
  return {
    async begin() {
      stopped = await silenced(own.server);
    },
    async end(command) {
      await Promise.race([command, ...(outage === 'silent for 20 s' ? [rest(SILENT_MS)] : [])]);
      // The server last: until then a child that has ended keeps its number.
      for (const pid of stopped.toReversed()) process.kill(pid, 'SIGCONT');
    },
  };
}

/** Stops all processes of a server; those that come later are children of one that stands still. */
async function silenced({ pid }: Server): Promise<readonly number[]> {
  process.kill(pid, 'SIGSTOP');
  const stopped = [pid];
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : '';
    if (
      Number(
        stat
          .slice(stat.lastIndexOf(')') + 1)
          .trim()
          .split(' ')[1],
      ) !== pid
    )
      continue;
    process.kill(Number(name), 'SIGSTOP');
    stopped.push(Number(name));
  }
  return stopped;
}
