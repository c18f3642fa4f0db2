/**
 * A command with an intent is killed at every boundary of the journal and run again as it was, until it says that it is done:
 * one card, whatever the service makes of keys, and never two.
 */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningSandbox, startSandbox } from '../../src/sandbox/serving/start.ts';
import { type Program, program } from '../support/child.ts';
import { waitingClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { journalFor, type Order, planOf } from './driver.ts';

const SOURCE = `
import { drive } from './test/crash/driver.ts';
await drive(JSON.parse(process.argv[2]));
`;
const MOST_AGAIN = 3;

let child: Program;

export interface IntentSweep {
  readonly honoured: boolean;
  /** From one boundary to the next that is tried. */
  readonly step: number;
}

export function intentSweeps(sweeps: readonly IntentSweep[]): void {
  beforeAll(async () => {
    child = await program(SOURCE);
    await runWhole();
  });
  afterAll(() => child[Symbol.asyncDispose]());

  test.each(sweeps)('killed at every boundary and run again: %j', { timeout: 240_000 }, async sweep => {
    const broken: string[] = [];
    let [next, kills, over] = [1, 0, false];
    const worker = async () => {
      while (!over) {
        const dieAt = next;
        next += sweep.step;
        const struck = await strike(sweep.honoured, dieAt);
        broken.push(...struck.broken.map(what => `effect ${dieAt}: ${what}`));
        if (struck.killed) kills += 1;
        else over = true;
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    expect(broken).toEqual([]);
    // Those of the names stand before those of the plan.
    expect(kills * sweep.step).toBeGreaterThan(40);
  });
}

/** One that nobody kills, to its end; the others start with the code that was compiled for it. */
async function runWhole(): Promise<void> {
  await using sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
  await using folder = await temporaryFolder();
  await child.warm(JSON.stringify(await orderFor(sandbox, { url: sandbox.url, folder: folder.path, dieAt: 0 })));
}

async function orderFor(
  sandbox: RunningSandbox,
  rest: Pick<Order, 'url' | 'folder' | 'dieAt' | 'honoured'>,
): Promise<Order> {
  const { json: bins } = await ask(sandbox, { path: '/bins' });
  return { key: sandbox.key.expose(), bin: bins.data[0].id, rows: 1, named: true, ...rest };
}

async function strike(honoured: boolean, dieAt: number): Promise<{ killed: boolean; broken: readonly string[] }> {
  await using sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
  await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: !honoured });
  await using folder = await temporaryFolder();
  const order = await orderFor(sandbox, { url: proxy.url, folder: folder.path, dieAt, honoured });
  const [code, signal] = (await once(child.start(JSON.stringify(order)), 'close')) as [number | null, string | null];
  if (code !== 0 && signal !== 'SIGKILL') return { killed: false, broken: [`the driver ended with ${code ?? signal}`] };
  const told: string[] = [];
  for (let again = 0; again < MOST_AGAIN && told.at(-1) !== 'done'; again += 1) told.push(await commandAgain(order));
  const broken = told.at(-1) === 'done' ? [] : [`the same command comes to ${told.join(', then ')}`];
  const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
  if (list.data.length !== 1) broken.push(`${list.data.length} cards`);
  const posts = proxy.posts().length;
  if ((await commandAgain(order)) !== 'done' || proxy.posts().length > posts) broken.push('done, and sent again');
  return { killed: signal === 'SIGKILL', broken };
}

/** The same command in a process that is not killed. What it may not decide by itself a person does: send it again. */
async function commandAgain(order: Order): Promise<string> {
  const journal = journalFor(order, undefined, waitingClock(Date.now() + 1_000));
  const plan = planOf(order);
  const earlier = (await journal.earlierUses(plan)).get(1);
  if (earlier?.settled !== undefined) return earlier.settled.outcome;
  const decided = { resendAbsent: true };
  await using run = await (earlier === undefined ? journal.begin(plan) : journal.resume(earlier.op, decided));
  const { outcome } = await run.perform(1);
  await run.finish();
  return outcome;
}
