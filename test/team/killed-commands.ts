/**
 * Commands as processes of their own over a shared journal, killed around each message to the database and the service. While
 * the lease of the dead process runs the same change is refused for everybody; then its operator resumes it or a colleague takes
 * it over, and the service has seen it once.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ended, type Home, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { skippingClock } from '../support/clocks.ts';
import { words } from '../support/words.ts';
import type { World } from '../support/world.ts';
import { CARD, type KillingStage, killingStage, later, type Seen } from './killing-stage.ts';

interface Command {
  readonly line: string;
  /** Run on each machine before it. */
  readonly first?: string;
  /** How often the change was made. */
  readonly times: (seen: Seen) => number;
  /** Once it is done, the same command changes nothing more. */
  readonly isOnce?: true;
  /** Run again it goes on with what was begun, or does no harm: it need not be refused. */
  readonly isFree?: true;
  /** What it may end with in the end; 0 when left out. */
  readonly codes?: readonly number[];
  /** It leaves no mark: after the kill a person looks, and says what came of it. */
  readonly looked?: true;
}

const made = (amount: number) => (seen: Seen) =>
  seen.cards.filter(card => card.id !== 'card_1' && card.balance === amount).length;

export const COMMANDS = {
  withdraw: {
    line: 'cards withdraw card_1 --amount 1',
    times: ({ cards }) => CARD - (cards.at(-1)?.balance ?? 0),
    looked: true,
  },
  api: { line: 'api POST /cards -f bin_id=bin_1 -F amount:=3 --marker --yes', times: made(3) },
  terminate: {
    line: 'cards terminate card_1 --yes',
    times: ({ cards }) => cards.filter(({ status }) => status === 'terminated').length,
    isOnce: true,
    isFree: true,
  },
  lease: {
    line: `cards lease --bin bin_1 --amount 5 --reveal --yes -- node -e ''`,
    times: ({ cards }) => cards.length - 1,
  },
  fleet: {
    line: 'fleet apply --plan plan.json --yes',
    first: 'fleet plan cards.fleet.yaml --out plan.json',
    times: made(4),
    isOnce: true,
    isFree: true,
    codes: [0, 14],
  },
} as const satisfies Readonly<Record<string, Command>>;

const FLEET = `version: 1
fleet: ads
caps: {per_apply: 50.00, cards: 5}
defaults: {bin: bin_1, amount: 4.00}
cards:
  one: {label: "one"}
`;
export interface Sweep {
  readonly command: keyof typeof COMMANDS;
  /** Messages around which it is killed; each of them in turn when left out. */
  readonly at?: readonly number[];
}

export function killedCommands(sweeps: readonly Sweep[]): void {
  describe.skipIf(missing())('a command that was killed', () => {
    let here: Database;
    let place: Home;
    beforeAll(async () => {
      [here, place] = await Promise.all([database(), home()]);
    });
    afterAll(async () => {
      await place?.[Symbol.asyncDispose]();
      await here.close();
    });

    test.each(sweeps)('$command', { timeout: 600_000 }, async ({ command, at }) => {
      for (const message of at ?? []) expect(await strike(command, message), `message ${message}`).toBe(true);
      let kills = 0;
      if (at === undefined) while (await strike(command, kills + 1)) kills += 1;
      if (at === undefined) expect(kills).toBeGreaterThan(12);
    });

    test('the machine on which it died takes it up at once; another one waits for its lease', async () => {
      await using t = await fleetStage(here);
      const { ana, ben, way, at } = t;
      const line = 'cards create --bin bin_1 --amount 3';
      const child = place.start(words(line), { env: t.env('ana', ana), cwd: ana.folder });
      way.arm(12, () => child.kill('SIGKILL'));
      expect((await ended(child)).signal).toBe('SIGKILL');
      way.disarm();
      const [left] = await at.ana.heads(at.account, { unfinished: true });
      expect(left).toMatchObject({ unknown: 1, lease_ms: expect.any(Number) });
      const resume = `ops resume ${left?.op}`;
      expect((await ben.run('ops locks --json --jq .page.total')).out).toBe('1\n');
      const elsewhere = await (await t.machine('ana')).run(resume, { clock: later() });
      expect(elsewhere).toMatchObject({ code: 14, err: expect.stringContaining('it can be taken up in 1') });
      const again = await ana.run(line, { clock: skippingClock() });
      expect(again).toMatchObject({ code: 14, err: expect.stringContaining('has an unknown outcome') });
      expect(again.err).not.toContain('can be taken up in');
      expect((await ben.run('ops locks --json --jq .page.total')).out).toBe('0\n');
      expect((await ana.run(`${resume} --resend-absent --yes`, { clock: later() })).code).toBe(0);
      expect(made(3)(await t.seen())).toBe(1);
      expect(await t.flaws(ben)).toEqual([]);
    });

    /** False where it had ended before. */
    async function strike(name: keyof typeof COMMANDS, message: number): Promise<boolean> {
      const command: Command = COMMANDS[name];
      const { line, first, times } = command;
      const says = `${name}, message ${message}`;
      await using t = await fleetStage(here);
      const { ana, ben, way, at } = t;
      if (first !== undefined)
        for (const { run } of [ana, ben]) expect((await run(first, { clock: skippingClock() })).code).toBe(0);
      const child = place.start(words(line), { env: t.env('ana', ana), cwd: ana.folder });
      way.arm(message, () => child.kill('SIGKILL'));
      child.stdout?.on('data', () => void (way.isLast() && child.kill('SIGKILL')));
      const { signal, code, err } = await ended(child);
      way.disarm();
      expect(signal === 'SIGKILL' || code === 0, `${says}: ${code} ${err}`).toBe(true);
      const left = await at.ana.heads(at.account, { unfinished: true });
      if (left.length > 0) {
        const before = times(await t.seen());
        await refused(t, { command, says, before });
        await settled(t, { command, says, before }, message % 2 === 0);
      }
      expect(await t.flaws(ben), says).toEqual([]);
      return signal === 'SIGKILL';
    }
  });
}

async function fleetStage(here: Database): Promise<KillingStage> {
  const t = await killingStage(here);
  for (const { folder } of [t.ana, t.ben]) await writeFile(join(folder, 'cards.fleet.yaml'), FLEET);
  return t;
}

interface Struck {
  readonly command: Command;
  readonly says: string;
  /** How often the change was made when it was killed. */
  readonly before: number;
}

/** The same command, while the lease runs and behind it, of its operator and of a colleague. */
async function refused(t: KillingStage, { command, says, before }: Struck): Promise<void> {
  const { line, times, isFree } = command;
  const again = async ({ run }: World) => {
    const { code, err } = await run(line, { clock: skippingClock() });
    const now = times(await t.seen());
    // Going on with an own op that may have been sent says so, and sends nothing.
    const isUnknown = code === 11 && now === before;
    if (isFree)
      expect(isUnknown || ([before, 1].includes(now) && [0, 14].includes(code)), `${says}: ${code} ${now} ${err}`).toBe(
        true,
      );
    else expect({ code, now }, `${says}: ${err}`).toEqual({ code: 14, now: before });
  };
  await again(t.ana);
  await again(t.ben);
  await t.endLeases();
  await again(t.ben);
}

/** A resume or a takeover ends it; then the same command is a new one, where it can be. */
async function settled(t: KillingStage, { command, says, before }: Struck, byOwner: boolean): Promise<void> {
  const { line, times, isOnce, looked, codes = [0] } = command;
  const { ana, ben, at } = t;
  const { run } = byOwner ? ana : ben;
  for (const { op, holder } of await at.ana.heads(at.account, { unfinished: true })) {
    const isOwn = holder === (byOwner ? 'ana' : 'ben');
    const takeUp = isOwn ? `ops resume ${op}` : `ops takeover ${op} --reason "it was killed"`;
    const { code, err } = await run(`${takeUp} --resend-absent --yes`, { clock: later() });
    expect(looked ? [0, 11] : [0], `${says}: ${err}`).toContain(code);
    if (code === 0) continue;
    const as = times(await t.seen()) > 0 ? 'done' : 'not-done';
    const closed = await run(`ops resolve ${op} --as ${as} --note "looked at the card" --yes`, { clock: later() });
    expect(closed.code, `${says}: ${closed.err}`).toBe(0);
  }
  const now = times(await t.seen());
  expect(looked ? [before, 1] : [1], says).toContain(now);
  const last = await ben.run(line, { clock: skippingClock() });
  expect(codes, `${says}: ${last.err}`).toContain(last.code);
  expect(times(await t.seen()), says).toBe(isOnce ? 1 : now + 1);
}
