/**
 * The database says nothing, or is ended by kill -9, under real commands: before their first call, or while their request is on
 * its way. They end in time, with 14 where nothing was sent and 11 where it is not known; 0 means that it is done and written. Then
 * the first thing that a person does is to type the same command again, while the database is away and when it is back: its operator,
 * or a colleague at another machine. The service sees the change once, and each refusal names a step that works as it is copied.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Ended, ended, type Home, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { skippingClock } from '../support/clocks.ts';
import { words } from '../support/words.ts';
import type { World } from '../support/world.ts';
import { later, QUIET_MS } from './killing-stage.ts';
import { type Outage, outageOf } from './outage.ts';
import { ownServer } from './own-server.ts';
import { team } from './team.ts';

export const COMMANDS = ['create', 'fund', 'withdraw', 'terminate', 'file', 'resume', 'takeover'] as const;
export const MOMENTS = ['before its first call', 'while it asks the service'] as const;
export const TYPISTS = ['its operator', 'a colleague'] as const;

export interface Story {
  readonly command: (typeof COMMANDS)[number];
  readonly moment: (typeof MOMENTS)[number];
  readonly outage: Outage;
  /** Who types the same command again. */
  readonly again: (typeof TYPISTS)[number];
}

type Command = Story['command'];

const ROWS = 3;
const [CARD, SLOW_MS, MOST_MS, LOCKS_GONE_MS] = [20, 3_000, 120_000, 60_000];
/** Refusals whose next steps are followed one behind the other. */
const MOST_STEPS = 3;

export function outages(stories: readonly Story[]): void {
  describe.skipIf(missing())('the database is away', () => {
    let place: Home;
    beforeAll(async () => {
      place = await home();
    });
    afterAll(() => place[Symbol.asyncDispose]());

    for (const story of stories)
      it.concurrent(Object.values(story).join(', '), { timeout: 500_000 }, () => play(place, story));
  });
}

async function play(place: Home, story: Story): Promise<void> {
  await using s = await stage(place, story);
  const { code, err, ms } = await s.struck();
  const says = `${code} ${err}`;
  expect([0, 11, 14], says).toContain(code);
  expect(ms, says).toBeLessThan(MOST_MS);
  expect(err, says).not.toMatch(/internal| {4}at /);
  if (code !== 0) expect(nextStepIn(err), says).toBeDefined();
  if (s.lasts) {
    expect(code === 0 || s.isUnderWay, says).toBe(s.isUnderWay);
    const away = await s.typedAgain();
    expect(away.code, `away: ${away.err}`).toBe(14);
    // It tells what is away; then there is nothing to do but to wait.
    await s.follow(away, { when: 'away', steps: 1 });
  }
  await s.mended();
  const made = await s.made();
  if (code === 0) expect(made, says).toBe(s.wanted);
  if (code === 14) expect(made, says).toBe(s.begun);
  await vi.waitFor(async () => expect(await s.locks()).toEqual([]), { timeout: LOCKS_GONE_MS, interval: 500 });
  const told = [code];
  if (code !== 0) {
    const back = await s.typedAgain();
    told.push(back.code);
    expect([0, 11, 14], `back: ${back.err}`).toContain(back.code);
    expect(await s.made(), `back: ${back.code} ${back.err}`).toBe(back.code === 0 ? s.wanted : made);
    if (back.code !== 0) await s.follow(back, { when: 'back', steps: MOST_STEPS });
  }
  const seconds = Math.round(ms / 1000);
  process.stdout.write(`${Object.values(story).join(', ')}: ${told.join(', then ')} after ${seconds} s\n`);
  await s.settled();
  expect(await s.made()).toBe(s.wanted);
  const checked = await s.ben.run('journal check --json', { clock: skippingClock() });
  expect([checked.code, checked.out === '' ? checked.err : JSON.parse(checked.out).flaws]).toEqual([0, []]);
  expect(await s.used()).toEqual({ held: 0, spent: s.spent });
}

/** The command behind `try:`, or the page that is named where there is none. */
function nextStepIn(err: string): string | undefined {
  return /^ *(?:try|See): cardwright (.*)$/m.exec(err)?.[1];
}

type Stage = Awaited<ReturnType<typeof prepared>>;

async function stage(place: Home, story: Story) {
  const { command, again } = story;
  const on = await prepared();
  const { ana, ben, own, proxy } = on;
  const left = command === 'resume' || command === 'takeover' ? await unknownCreate(on) : '';
  const line = lineOf(command, left);
  const [role, machine] = command === 'takeover' ? (['ben', ben] as const) : (['ana', ana] as const);
  const [otherRole, other] = role === 'ana' ? (['ben', ben] as const) : (['ana', ana] as const);
  const strike = outageOf(story.outage, own);
  const [who, at] = again === 'its operator' ? [role, machine] : [otherRole, other];
  const typed = (text: string): Promise<Ended> =>
    place.run(words(text), { env: on.processEnv(who, at), cwd: at.folder });
  const made = async () => {
    await proxy.answered();
    return timesOf(command, await on.cards());
  };
  const wanted = command === 'file' ? ROWS : 1;

  return {
    ben,
    wanted,
    made,
    begun: await made(),
    spent: spentBy(command),
    lasts: strike.lasts,
    isUnderWay: story.moment === 'while it asks the service',
    locks: on.locks,
    used: on.used,
    struck: () => strikeUnder({ place, on, strike, story, line, role, machine, isLook: left !== '' }),
    async mended() {
      await strike.mend();
      proxy.mend();
    },
    typedAgain: () => typed(line),
    /** Each refusal leads on by a command that can be copied, and none of them is wrong or a fault of ours. */
    async follow(refused: Ended, { when, steps }: { readonly when: string; readonly steps: number }) {
      let last = refused;
      for (let step = 0; step < steps && last.code !== 0; step += 1) {
        const next = nextStepIn(last.err);
        expect(next, `${when}: ${last.err}`).toBeDefined();
        last = await typed(`${next}`.replace('"why"', '"it was cut off"'));
        expect([1, 2, 13], `${when}: ${next}: ${last.err}`).not.toContain(last.code);
      }
    },
    async settled() {
      await on.settle(made, wanted);
      if ((await made()) < wanted) {
        const last = await machine.run(line, { clock: skippingClock() });
        expect(last.code, last.err).toBe(0);
      }
      expect(await on.open()).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      await strike.mend();
      await on[Symbol.asyncDispose]();
    },
  };
}

function lineOf(command: Command, left: string): string {
  return {
    create: 'cards create --bin bin_1 --amount 7',
    fund: 'cards fund card_1 --amount 7',
    withdraw: 'cards withdraw card_1 --amount 7',
    terminate: 'cards terminate card_1 --yes',
    file: 'cards create --file team.csv --yes --concurrency 1',
    resume: `ops resume ${left} --yes`,
    takeover: `ops takeover ${left} --reason "ana is away" --yes`,
  }[command];
}

/** How often the service has seen the change. */
function timesOf(command: Command, cards: Awaited<ReturnType<Stage['cards']>>): number {
  const first = cards.find(({ id }) => id === 'card_1');
  if (command === 'fund') return ((first?.balance ?? 0) - CARD) / 7;
  if (command === 'withdraw') return (CARD - (first?.balance ?? 0)) / 7;
  if (command === 'terminate') return first?.status === 'terminated' ? 1 : 0;
  return cards.length - 1;
}

/** Cents that the journal counts in the end. */
function spentBy(command: Command): number {
  const more = { withdraw: 0, terminate: 0, file: 300 + 400 + 500, create: 700, fund: 700, resume: 700, takeover: 700 };
  return CARD * 100 + more[command];
}

/** Two operators, a card, and a file on both machines. */
async function prepared() {
  const own = await ownServer();
  const t = await team(own, { wallet: 500, delayMs: SLOW_MS });
  const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
  expect((await ana.run(`cards create --bin bin_1 --amount ${CARD - 1}`)).code).toBe(0);
  expect((await ben.run('cards fund card_1 --amount 1')).code).toBe(0);
  const rows = Array.from({ length: ROWS }, (_, row) => `bin_1,${row + 3}`);
  for (const { folder } of [ana, ben]) await writeFile(join(folder, 'team.csv'), `bin_id,amount\n${rows.join('\n')}\n`);
  const root = async (text: string) => (await own.as('postgres')).call(text, []);
  const open = async () => {
    const { out } = await ben.run('ops list --json');
    const ops = JSON.parse(out).data as readonly { op: string; state: string }[];
    return ops.filter(({ state }) => state !== 'finished');
  };
  return {
    ...t,
    own,
    ana,
    ben,
    open,
    /** That sessions hold on rows or tables of the journal. */
    locks: () =>
      root(
        `select l.mode, c.relname from pg_locks l join pg_class c on c.oid = l.relation
          where c.relnamespace = 'cardwright'::regnamespace and l.pid <> pg_backend_pid()`,
      ),
    async used() {
      const [[held, spent] = []] = await root('select sum(held), sum(spent) from cardwright.spend_day');
      return { held: Number(held), spent: Number(spent) };
    },
    /** What is open is taken over when its leases are over, and settled by hand where a look cannot tell. */
    async settle(made: () => Promise<number>, wanted: number) {
      await root(
        `update cardwright.op set lease_until = clock_timestamp() - interval '${QUIET_MS} ms' where state = 'running'`,
      );
      for (const { op } of await open()) {
        const takeover = `ops takeover ${op} --reason "it was cut off" --resend-absent --yes`;
        const { code, err } = await ben.run(takeover, { clock: later() });
        expect([0, 11], err).toContain(code);
        if (code === 0) continue;
        const as = (await made()) === wanted ? 'done' : 'not-done';
        const closed = await ben.run(`ops resolve ${op} --as ${as} --note "looked" --yes`, { clock: later() });
        expect(closed.code, closed.err).toBe(0);
      }
    },
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}

/** A create of ana whose answer was lost: the card is there. */
async function unknownCreate({ ana, proxy }: Stage): Promise<string> {
  proxy.fail('POST', /\/cards$/, 'drop-after');
  proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(9).fill('drop-before'));
  const { code, err } = await ana.run('cards create --bin bin_1 --amount 7 --json', { clock: skippingClock() });
  proxy.mend();
  expect(code, err).toBe(11);
  return String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
}

interface Striking {
  readonly place: Home;
  readonly on: Stage;
  readonly strike: ReturnType<typeof outageOf>;
  readonly story: Story;
  readonly line: string;
  readonly role: 'ana' | 'ben';
  readonly machine: World;
  /** It looks, and sends nothing. */
  readonly isLook: boolean;
}

/** The command as a process of its own, and the outage under it. */
async function strikeUnder({ place, on, strike, story, line, role, machine, isLook }: Striking) {
  const { proxy } = on;
  proxy.fail('POST', /\/(?:cards|fund|withdraw|terminate)$/, ...Array<'late-answer'>(ROWS).fill('late-answer'));
  if (isLook) proxy.fail('GET', /\/cards\?/, ...Array<'late-answer'>(3).fill('late-answer'));
  const before = proxy.seen.length;
  const isAsked = () =>
    proxy.seen.slice(before).some(({ method, path }) => (isLook ? path.includes('/cards?') : method === 'POST'));
  if (story.moment === 'before its first call') await strike.begin();
  const began = performance.now();
  const child = place.start(words(line), { env: on.processEnv(role, machine), cwd: machine.folder });
  const end = ended(child);
  child.stdin?.end();
  if (story.moment === 'while it asks the service') {
    await vi.waitFor(() => expect(isAsked() || child.exitCode !== null).toBe(true), { timeout: MOST_MS, interval: 5 });
    await strike.begin();
  }
  const over = strike.end(end);
  const { code, err } = await end;
  const ms = performance.now() - began;
  await over;
  return { code, err, ms };
}
