/**
 * SIGKILL at random moments of real processes that create cards, before a service that loses requests, loses answers,
 * hides them behind a gateway, answers too late, and honours, ignores or forgets keys; some resumes are killed as
 * well. Whatever died when: one card a row, the wallet exact, nothing sent after the end (I1, I3, I9, I11).
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type RunningSandbox, startSandbox } from '../../src/sandbox/serving/start.ts';
import { type Program, program } from '../support/child.ts';
import { waitingClock } from '../support/clocks.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { AMOUNT, journalFor, type Order } from './driver.ts';

/** The clock of the tests does not keep a process alive while it waits. */
const SOURCE = `
import { drive, resume } from './test/crash/driver.ts';
const order = JSON.parse(process.argv[2]);
const alive = setInterval(() => undefined, 1_000);
process.stdout.write('go');
await (order.op === undefined ? drive(order) : resume(order));
clearInterval(alive);
`;
const ROWS = 8;
const TIMEOUT_MS = 400;
const KEYS = ['honoured', 'ignored', 'unknown', 'forgotten'] as const;
const FAULTS: readonly Fault[] = ['none', 'none', 'none', 'drop-before', 'drop-after', 'html-502', 'late-answer'];
const HOUR_MS = 3_600_000;
/** Everything that must have come up for the counts to prove anything. */
export const KINDS: readonly string[] = [...FAULTS, ...KEYS.map(keys => `keys ${keys}`)];

export interface Kills {
  readonly kills: number;
  /** Processes that were through before they could be killed. */
  readonly survived: number;
  /** Runs that were left with rows both done and not done. */
  readonly midway: number;
  /** Cards there were in the end, each the only one of its row. */
  readonly cards: number;
  /** Strikes by what the service does with keys, and requests by what happened to them. */
  readonly kinds: Readonly<Record<string, number>>;
  /** What broke, with the seed of its strike. */
  readonly broken: readonly string[];
}

/** What must have come about before the strikes end, beside their number. */
export interface Wanted {
  readonly kills: number;
  /** Runs that are left midway; how many of the kills strike there is a matter of the machine. */
  readonly midway?: number;
  /** Each of `KINDS` too. */
  readonly kinds?: boolean;
}

/** Strikes until there is enough of everything. The same seed strikes with the same faults; moments differ. */
export async function killAtRandom({ kills, midway = 0, kinds: all = false }: Wanted, seed: number): Promise<Kills> {
  await using child = await program(SOURCE);
  await runWhole(child);
  const found = { kills: 0, survived: 0, midway: 0, cards: 0, broken: [] as string[], next: seed };
  const kinds: Record<string, number> = {};
  const isEnough = () =>
    found.kills >= kills && found.midway >= midway && (!all || KINDS.every(kind => (kinds[kind] ?? 0) > 0));
  const worker = async () => {
    while (!isEnough() && found.broken.length < 5) {
      const mine = found.next;
      found.next += 1;
      const struck = await strike(child, mine);
      found.kills += struck.kills;
      found.survived += struck.survived;
      found.midway += struck.midway;
      found.cards += struck.cards;
      for (const [kind, times] of Object.entries(struck.kinds)) kinds[kind] = (kinds[kind] ?? 0) + times;
      found.broken.push(...struck.broken.map(what => `seed ${mine}: ${what}`));
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return { ...found, kinds };
}

async function strike(child: Program, seed: number): Promise<Kills> {
  const chance = chances(seed);
  const keys = chance.of(KEYS);
  await using sandbox = await startSandbox({ wallet: 1000, ids: 'counted', rateLimits: false });
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: keys === 'ignored', delayMs: 2_000 });
  proxy.fail('POST', /\/cards$/, ...Array.from({ length: 3 * ROWS }, () => chance.of(FAULTS)));
  const honoured = keys === 'honoured' || keys === 'forgotten';
  const order: Order = { ...(await orderFor(sandbox)), url: proxy.url, honoured, timeoutMs: TIMEOUT_MS };
  const { folder } = order;
  let [kills, survived] = [0, 0];
  const kill = async (running: ChildProcess) => {
    const signal = await killed(running, chance, proxy);
    if (signal === 'SIGKILL') kills += 1;
    else survived += 1;
    // Time is waited for on paper only, and settling means that nothing is on its way any more.
    await proxy.quiet();
  };
  await kill(child.start(JSON.stringify(order)));
  if (keys === 'forgotten') proxy.forgetKeys();
  // A key that may have been forgotten is an old one.
  const aheadMs = keys === 'forgotten' ? 25 * HOUR_MS : 1_000;
  // Who settles in the end is patient: on a busy machine 0.4 s may pass before an answer that is on its way.
  const { timeoutMs: _hurried, ...patient } = order;
  const journal = journalFor(patient, undefined, waitingClock(Date.now() + aheadMs));
  const [op] = await journal.list();
  const { done = 0 } = op?.counts ?? {};
  const midway = done > 0 && done < ROWS ? 1 : 0;
  for (let resumes = 0; resumes < 3 && chance.fraction() < 0.5; resumes += 1) {
    const [left] = await journal.list();
    if (left === undefined || left.state === 'finished') break;
    await kill(child.start(JSON.stringify({ ...order, op: left.op, aheadMs })));
  }
  proxy.mend();
  const broken: string[] = [];
  const ops = await journal.list();
  if (ops.length > 1) broken.push(`${ops.length} ops`);
  const begun = ops.find(({ state, counts }) => state !== 'finished' || counts.done > 0);
  if (begun !== undefined) broken.push(...(await settled(journal, begun.op)));

  const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
  const { json: wallet } = await ask(sandbox, { path: '/wallet' });
  const markers = (list.data as { metadata: { cardwright: string } }[]).map(({ metadata }) => metadata.cardwright);
  const wantedCards = begun === undefined ? 0 : ROWS;
  if (markers.length !== wantedCards) broken.push(`${keys}: ${markers.length} cards for ${wantedCards} rows`);
  if (new Set(markers).size !== markers.length) broken.push(`${keys}: two cards of one row`);
  if (Math.round((1000 - wallet.balance) * 100) !== markers.length * AMOUNT)
    broken.push(`${keys}: the wallet holds ${wallet.balance} after ${markers.length} cards`);
  const requests = proxy.seen.length;
  if (begun !== undefined) broken.push(...(await settled(journal, begun.op)));
  if (proxy.seen.length !== requests) broken.push('a resume after the end sent something');
  await rm(folder, { recursive: true });
  const kinds = { [`keys ${keys}`]: 1, ...proxy.happened() };
  return { kills, survived, midway, cards: markers.length, kinds, broken };
}

/** One that nobody kills, to its end; the others start with the code that was compiled for it. */
async function runWhole(child: Program): Promise<void> {
  await using sandbox = await startSandbox({ wallet: 1000, ids: 'counted', rateLimits: false });
  const order = await orderFor(sandbox);
  await child.warm(JSON.stringify(order));
  const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
  if (list.data.length !== ROWS) throw new Error(`${list.data.length} cards without a kill`);
  await rm(order.folder, { recursive: true });
}

async function orderFor(sandbox: RunningSandbox): Promise<Order> {
  const { json: bins } = await ask(sandbox, { path: '/bins' });
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-random-'));
  const { url, key } = sandbox;
  return { url, key: key.expose(), folder, bin: bins.data[0].id, rows: ROWS, dieAt: 0, workers: 4 };
}

/** Resumes an op to its end; what is not done then is told. */
async function settled(journal: ReturnType<typeof journalFor>, op: string): Promise<string[]> {
  const broken: string[] = [];
  await using run = await journal.resume(op, { resendAbsent: true });
  for (const { row } of run.rows) {
    const { outcome, error } = await run.perform(row);
    if (outcome !== 'done') broken.push(`row ${row} is ${outcome} after the resume: ${error?.message}`);
  }
  const { objections, ended } = await run.finish();
  return ended ? [...broken, ...objections] : [...broken, ...objections, 'the resumed run has not ended'];
}

/**
 * Kills it a random while after a random number of creates has arrived, so that most moments lie between the first
 * and the last of them, however fast the machine is; resolves to the signal it died of.
 */
async function killed(running: ChildProcess, chance: Chances, proxy: FaultProxy): Promise<string | null> {
  const closed = once(running, 'close') as Promise<[number | null, string | null]>;
  if (running.stdout === null) throw new Error('a child without standard output');
  await once(running.stdout, 'data');
  const until = proxy.posts().length + Math.floor(chance.fraction() * (ROWS + 2));
  const pause = chance.fraction() * 20;
  await Promise.race([closed, proxy.posted(until)]);
  await Promise.race([closed, wait(pause)]);
  running.kill('SIGKILL');
  const [code, signal] = await closed;
  if (code !== null && code !== 0) throw new Error(`the driver ended with ${code}`);
  return signal;
}

/** A small generator of our own: a failing seed must fail again (xorshift32). */
interface Chances {
  fraction(): number;
  of<T>(choices: readonly T[]): T;
}

function chances(seed: number): Chances {
  let state = (seed * 2_654_435_761) | 1;
  const fraction = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 8; round += 1) fraction();
  return {
    fraction,
    of: <T>(choices: readonly T[]): T => choices[Math.floor(fraction() * choices.length)] as T,
  };
}
