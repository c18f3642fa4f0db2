/**
 * A command that is killed, and every way a person goes on from there. The kill is one of this process: the n-th effect
 * never comes back, and nothing after it happens; the lock it leaves names a process that cannot be there.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../../src/core/errors.ts';
import type { AfterAnswer } from '../../src/journal/runs/dependencies.ts';
import type { PlannedRow } from '../../src/journal/types.ts';
import { inputDigest } from '../../src/journal/wal/op-id.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { realClock, waitingClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { dyingHere, type Effect, journalFor, type Order, performAll, planOf } from './driver.ts';

/** Above the highest pid Linux gives. */
const GONE = 4_194_305;

type RunPlan = ReturnType<typeof planOf>;

/** What a person has in hand after the kill. */
interface Hand {
  /** The same command; resolves to the op it was told to resume, if any. */
  command(more?: Partial<RunPlan>): Promise<string | undefined>;
  /** Every op that `ops list` does not call finished. */
  resume(): Promise<void>;
}

/** Follows the hint of a command that was refused. */
async function obey(hand: Hand, told: string | undefined): Promise<void> {
  if (told !== undefined) await hand.resume();
}

const WAYS: Record<string, (hand: Hand, plan: RunPlan) => Promise<unknown>> = {
  'the same command': async hand => obey(hand, await hand.command()),
  'the same command three times': async hand => {
    for (let time = 0; time < 3; time += 1) await hand.command();
  },
  'the same command twice at once': async hand => {
    const told = await Promise.all([hand.command(), hand.command()]);
    await obey(hand, told[0] ?? told[1]);
  },
  'ops resume': hand => hand.resume(),
  'ops resume, then the same command': async hand => {
    await hand.resume();
    await obey(hand, await hand.command());
  },
  'ops resume twice at once': hand => Promise.all([hand.resume(), hand.resume()]),
  'ops resume and the same command at once': async hand => {
    const [, told] = await Promise.all([hand.resume(), hand.command()]);
    await obey(hand, told);
  },
  '--again by mistake': async hand => obey(hand, await hand.command({ again: true })),
  '--again by mistake, twice at once': async hand => {
    const told = await Promise.all([hand.command({ again: true }), hand.command({ again: true })]);
    await obey(hand, told[0] ?? told[1]);
  },
  'the rows in another order': async (hand, plan) =>
    obey(
      hand,
      await hand.command({ rows: [...plan.rows].reverse().map((row, index) => ({ ...row, row: index + 1 })) }),
    ),
};

/** The file is edited before it is run again: as a whole it is another input then. */
const EDITED: typeof WAYS = {
  'a row added': async (hand, plan) => obey(hand, await hand.command(edited([...plan.rows, another(plan)]))),
  'a row added, with --again by mistake': async (hand, plan) =>
    obey(hand, await hand.command({ ...edited([...plan.rows, another(plan)]), again: true })),
  'the first row deleted, one added': async (hand, plan) =>
    obey(hand, await hand.command(edited([...[...plan.rows].slice(1), another(plan)]))),
  'the last row corrected': async (hand, plan) =>
    obey(hand, await hand.command(edited([...[...plan.rows].slice(0, -1), another(plan)]))),
};

function another({ rows }: RunPlan): PlannedRow {
  const [first] = rows;
  if (first === undefined) throw new RangeError('a plan without rows');
  return { ...first, input: { ...first.input, label: 'added by hand' } };
}

function edited(given: readonly PlannedRow[]): Partial<RunPlan> {
  const rows = given.map((row, index) => ({ ...row, row: index + 1 }));
  return { rows, digest: inputDigest(rows), bulk: true };
}

Object.assign(WAYS, EDITED);

export const WAY_NAMES = Object.keys(WAYS);

export interface Setting {
  readonly rows: number;
  readonly honoured: boolean;
  /** Effect the command is killed at, from 1. */
  readonly dieAt: number;
  readonly way: string;
}

export interface WentOn {
  /** False when the command came to its end before that effect. */
  readonly killed: boolean;
  /** What broke, in words. */
  readonly broken: readonly string[];
}

/**
 * A clock that goes on by a millisecond whenever it is read. In one that stands still an op that ends while another
 * command waits for its claim has ended at the moment that command began.
 */
function movingClock(start: number): ReturnType<typeof waitingClock> {
  const clock = waitingClock(start);
  return {
    ...clock,
    now() {
      clock.advance(1);
      return clock.now();
    },
  };
}

/** One kill and one way on. Never two cards of a row; and who does what the errors say has them all. */
export async function goOn({ rows, honoured, dieAt, way }: Setting): Promise<WentOn> {
  await using sandbox = await startSandbox({ wallet: 1000, ids: 'counted', rateLimits: false });
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: !honoured });
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-going-on-'));
  try {
    const { json: bins } = await ask(sandbox, { path: '/bins' });
    const bin: string = bins.data[0].id;
    const order: Order = { url: proxy.url, key: sandbox.key.expose(), folder, bin, rows, dieAt, honoured };
    const { answered, killed } = await killedAt(order);
    const clock = movingClock(Date.now() + 1000);
    const journal = journalFor(order, undefined, clock);
    const before = await journal.list();
    const plan = planOf(order);
    const broken: string[] = [];
    let [begun, told, resuming] = [0, 0, 0];
    const hand: Hand = {
      async command(more = {}) {
        try {
          const run = await journal.begin({ ...plan, ...more });
          begun += 1;
          if (resuming > 0) broken.push('begun beside a resume of the same');
          await performAll(run);
          return undefined;
        } catch (thrown) {
          return refusedOp(thrown);
        }
      },
      async resume() {
        for (const { op, state } of await journal.list()) {
          if (state === 'finished' && !(await isMarked(order, op))) continue;
          try {
            const run = await journal.resume(op, { resendAbsent: true });
            resuming += 1;
            await performAll(run, 2, () => {
              resuming -= 1;
            });
            told += 1;
          } catch (thrown) {
            refusedOp(thrown);
          }
        }
      },
    };
    await WAYS[way]?.(hand, plan);

    const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
    const { json: wallet } = await ask(sandbox, { path: '/wallet' });
    const labels = (list.data as { label: string }[]).map(({ label }) => label);
    // One card may be wanted again by whoever has seen the first; the same file, only with --again.
    // And an edited file is an input of its own once the first is finished.
    const isEdited = way in EDITED;
    const again = (rows === 1 && !isEdited) || (answered && (isEdited || way.startsWith('--again')));
    const meant = again ? Math.max(1, begun + (answered ? 1 : told)) : 1;
    for (const label of new Set(labels)) {
      const cards = labels.filter(each => each === label).length;
      if (cards > meant) broken.push(`${cards} cards for ${label}`);
    }
    const obeys = way !== 'the same command three times';
    const asked = new Set(labels).size;
    if (obeys && !isEdited && (before.length > 0 || begun > 0) && asked !== rows)
      broken.push(`${asked} of ${rows} rows have a card`);
    // A single row that was corrected has nothing in common with the first; whoever sees both may want both.
    const lonely = rows === 1 && isEdited;
    const cents = Math.round((1000 - wallet.balance) * 100);
    if (cents !== labels.length * 150) broken.push(`the wallet holds ${wallet.balance} after ${labels.length} cards`);
    for (const { op, state } of await journal.list())
      if (obeys && !lonely && state !== 'finished') broken.push(`${op} is ${state} in the end`);
    return { killed, broken };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the command until its n-th effect; `answered` when its answer had been written and the op let go. */
async function killedAt(order: Order): Promise<{ killed: boolean; answered: boolean }> {
  let effects = 0;
  let die = (): void => undefined;
  const dead = new Promise<'dead'>(resolve => {
    die = () => resolve('dead');
  });
  const effect: Effect = () => {
    effects += 1;
    if (effects < order.dieAt) return undefined;
    die();
    return new Promise<never>(() => undefined);
  };
  const last: AfterAnswer[] = [];
  const { wraps, letGo } = dyingHere(effect);
  const journal = journalFor(order, wraps, realClock, { pid: GONE, afterAnswer: work => void last.push(work) });
  const whole = (async () => {
    await performAll(await journal.begin(planOf(order)), 1);
    await effect();
    for (const work of last) await work('written');
    return 'ended' as const;
  })();
  const how = await Promise.race([dead, whole]);
  await letGo();
  const ops = await journalFor(order).list();
  const answered = ops.length > 0 && ops[0]?.state === 'finished' && !(await isMarked(order, ops[0].op));
  return { killed: how === 'dead', answered };
}

async function isMarked({ folder }: Order, op: string): Promise<boolean> {
  const { access } = await import('node:fs/promises');
  return access(join(folder, 'ops', 'unfinished', op)).then(
    () => true,
    () => false,
  );
}

/** The op a refusal names; any other error is one of the proof. */
function refusedOp(thrown: unknown): string | undefined {
  if (thrown instanceof CliError && (thrown.kind === 'guarded' || thrown.kind === 'usage')) return thrown.facts.op;
  throw thrown;
}

export interface Swept {
  readonly boundaries: number;
  readonly ways: number;
  readonly strikes: number;
  readonly broken: readonly string[];
}

/** Every boundary, or one of `every` so many, each with every way, or with every `step`-th of them in turn. */
export async function sweep(setting: Pick<Setting, 'rows' | 'honoured'>, step = 1, every = 1): Promise<Swept> {
  const broken: string[] = [];
  let [boundaries, strikes, next, over] = [0, 0, 1, false];
  const worker = async () => {
    while (!over) {
      const dieAt = next;
      next += every;
      const ways = WAY_NAMES.filter((_, index) => (index + Math.floor(dieAt / every)) % step === 0);
      let wasKilled = false;
      for (const way of ways) {
        const { killed, broken: found } = await goOn({ ...setting, dieAt, way });
        broken.push(...found.map(what => `effect ${dieAt}, ${way}: ${what}`));
        if (killed) strikes += 1;
        wasKilled = killed;
      }
      if (wasKilled) boundaries += 1;
      else over = true;
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  return { boundaries, ways: WAY_NAMES.length, strikes, broken };
}
