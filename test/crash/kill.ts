/**
 * SIGKILL at every boundary of the journal, then a resume. Never two cards of a row, never a cent gone, and a second
 * resume sends nothing (I1, I3, I5, I9, I11).
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { type Program, program } from '../support/child.ts';
import { waitingClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { AMOUNT, journalFor, type Order } from './driver.ts';

const SOURCE = `
import { drive } from './test/crash/driver.ts';
await drive(JSON.parse(process.argv[2]));
`;
const WALLET = 1000;
/** Of the effect to die at. */
const NEVER = 0;

let child: Program;

/** Builds the program that is killed, for the tests of this file. */
export function withDriver(): void {
  beforeAll(async () => {
    child = await program(SOURCE);
    // One that comes to its end: a driver that dies by itself would look like a kill.
    expect(await strike({ rows: 2, honoured: false }, NEVER)).toEqual({ killed: false, broken: [] });
  });
  afterAll(() => child[Symbol.asyncDispose]());
}

export interface Sweep {
  readonly rows: number;
  readonly honoured: boolean;
  readonly sentTooLate?: boolean;
  /** The first one; 1 when left out. */
  readonly from?: number;
  /** At every one of so many boundaries alone; at each when left out. */
  readonly step?: number;
}

interface Struck {
  /** False when the run came to its end before that effect. */
  readonly killed: boolean;
  /** What broke, in words. */
  readonly broken: readonly string[];
}

/** Kills at every boundary in turn, until a run comes to its end. */
export async function sweepAll(sweep: Sweep): Promise<{ kills: number; broken: readonly string[] }> {
  const broken: string[] = [];
  let kills = 0;
  const { step = 1, from = 1 } = sweep;
  let next = from;
  let over = false;
  const worker = async () => {
    while (!over && !(sweep.sentTooLate && broken.length > 0)) {
      const dieAt = next;
      next += step;
      const struck = await strike(sweep, dieAt);
      broken.push(...struck.broken.map(what => `effect ${dieAt}: ${what}`));
      if (struck.killed) kills += 1;
      else over = true;
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  return { kills, broken };
}

async function strike(sweep: Sweep, dieAt: number): Promise<Struck> {
  await using sandbox = await startSandbox({ wallet: WALLET, ids: 'counted', rateLimits: false });
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: !sweep.honoured });
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-crash-'));
  const { json: bins } = await ask(sandbox, { path: '/bins' });
  const order: Order = { url: proxy.url, key: sandbox.key.expose(), folder, bin: bins.data[0].id, dieAt, ...sweep };
  const [code, signal] = dieAt === NEVER ? await whole(order) : await endOf(child.start(JSON.stringify(order)));
  if (code !== 0 && signal !== 'SIGKILL') return { killed: false, broken: [`the driver ended with ${code ?? signal}`] };

  const look = async () => {
    const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
    const { json: wallet } = await ask(sandbox, { path: '/wallet' });
    const markers = (list.data as { metadata: { cardwright: string } }[]).map(({ metadata }) => metadata.cardwright);
    return { markers, wallet: wallet.balance as number };
  };
  const broken: string[] = [];
  const journal = journalFor(order, undefined, waitingClock(Date.now() + 1000));
  const ops = await journal.list();
  const planned = ops.filter(({ state }) => state !== 'finished' || signal === null);
  for (const { op, state } of ops) if (state === 'damaged') broken.push(`${op} is damaged`);
  for (const { op } of planned) {
    await using run = await journal.resume(op, { resendAbsent: true });
    for (const { row } of run.rows) {
      const { outcome } = await run.perform(row);
      if (outcome !== 'done') broken.push(`row ${row} is ${outcome} after the resume`);
    }
    const { objections, ended } = await run.finish();
    broken.push(...objections);
    if (!ended) broken.push('the resumed run has not ended');
  }
  const after = await look();
  const twice = after.markers.filter((marker, at) => after.markers.indexOf(marker) !== at);
  if (twice.length > 0) broken.push(`2 cards for ${twice.join(', ')}`);
  if (planned.length > 0 && after.markers.length !== sweep.rows)
    broken.push(`${after.markers.length} cards for ${sweep.rows} rows`);
  if (ops.length === 0 && after.markers.length > 0) broken.push('cards without a journal');
  if (Math.round((WALLET - after.wallet) * 100) !== after.markers.length * AMOUNT)
    broken.push(`the wallet holds ${after.wallet}`);
  const requests = proxy.seen.length;
  for (const { op } of planned) {
    await using again = await journal.resume(op);
    for (const { row } of again.rows) await again.perform(row);
    await again.finish();
  }
  if (proxy.seen.length !== requests) broken.push('a resume after the end sent something');
  await rm(folder, { recursive: true });
  return { killed: signal === 'SIGKILL', broken };
}

async function whole(order: Order): Promise<[number, null]> {
  await child.warm(JSON.stringify(order));
  return [0, null];
}

function endOf(running: ChildProcess): Promise<[number | null, string | null]> {
  return once(running, 'close') as Promise<[number | null, string | null]>;
}
