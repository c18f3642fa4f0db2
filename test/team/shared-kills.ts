/**
 * A command over a shared journal is killed around every call of the database and every request; then another operator's
 * machine runs it again under the same intent, or takes it over: one card, and never two.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { journalFor, planOf } from '../crash/driver.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { type Program, program } from '../support/child.ts';
import { waitingClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type SharedOrder, storeAt } from './shared-driver.ts';
import { testAccount } from './test-account.ts';

const SOURCE = `
import { driveShared } from './test/team/shared-driver.ts';
await driveShared(JSON.parse(process.argv[2]));
`;
const MOST_AGAIN = 3;

export interface Sweep {
  readonly honoured: boolean;
  readonly rows: number;
  /** Around every one of so many alone; around each when left out. */
  readonly step?: number;
}

/** Of the call to die at. */
const NEVER = 0;

export function sharedKills(sweeps: readonly Sweep[]): void {
  describe.skipIf(missing())('a shared journal', () => {
    let here: Database;
    let child: Program;
    beforeAll(async () => {
      [here, child] = await Promise.all([database(), program(SOURCE)]);
      // One that comes to its end: a driver that dies by itself would look like a kill.
      expect(await strike({ honoured: false, rows: 1 }, NEVER)).toEqual({ killed: false, broken: [] });
    });
    afterAll(async () => {
      await child?.[Symbol.asyncDispose]();
      await here.close();
    });

    test.each(sweeps)('killed around every call and request: %j', { timeout: 240_000 }, async sweep => {
      const broken: string[] = [];
      const { step = 1 } = sweep;
      let [next, kills, over] = [1, 0, false];
      const worker = async () => {
        while (!over) {
          const dieAt = next;
          next += step;
          const struck = await strike(sweep, dieAt);
          broken.push(...struck.broken.map(what => `effect ${dieAt}: ${what}`));
          if (struck.killed) kills += 1;
          else over = true;
        }
      };
      await Promise.all([worker(), worker()]);
      expect(broken).toEqual([]);
      expect(kills * step).toBeGreaterThan(12);
    });

    async function strike(
      { honoured, rows }: Sweep,
      dieAt: number,
    ): Promise<{ killed: boolean; broken: readonly string[] }> {
      await using sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
      await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: !honoured });
      await using folder = await temporaryFolder();
      const at = await testAccount(here);
      const { json: bins } = await ask(sandbox, { path: '/bins' });
      const order: SharedOrder = {
        url: proxy.url,
        key: sandbox.key.expose(),
        folder: `${folder.path}/one`,
        bin: bins.data[0].id,
        rows,
        named: true,
        dieAt,
        honoured,
        account: at.account,
        role: 'ana',
        socket: here.server.socket,
        port: here.server.port,
        database: here.name,
      };
      const [code, signal] = dieAt === NEVER ? await whole(order) : await endOf(child.start(JSON.stringify(order)));
      if (code !== 0 && signal !== 'SIGKILL')
        return { killed: false, broken: [`the driver ended with ${code ?? signal}`] };
      // Three minutes are over.
      await at.endLeases();
      const other = { ...order, role: 'ben', folder: `${folder.path}/other` };
      const told: string[] = [];
      for (let again = 0; again < MOST_AGAIN && told.at(-1) !== 'done'; again += 1)
        told.push(await commandAgain(other));
      const broken = told.at(-1) === 'done' ? [] : [`the same command comes to ${told.join(', then ')}`];
      const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
      if (list.data.length !== rows) broken.push(`${list.data.length} cards`);
      const posts = proxy.posts().length;
      if ((await commandAgain(other)) !== 'done' || proxy.posts().length > posts) broken.push('done, and sent again');
      const status = await at.ana.status(at.account);
      if (status.used !== rows * 150) broken.push(`${status.used} cents are held or spent`);
      const heads = await at.ana.heads(at.account, { unfinished: true });
      broken.push(...heads.map(({ op, state }) => `${op} is ${state}`));
      return { killed: signal === 'SIGKILL', broken };
    }

    /** Keeps what is compiled meanwhile for those that are killed. */
    async function whole(order: SharedOrder): Promise<[number, null]> {
      await child.warm(JSON.stringify(order));
      return [0, null];
    }

    /** What a person does on the other machine: takes over what is not finished, then runs the command as it was. */
    async function commandAgain(order: SharedOrder): Promise<string> {
      const { store, end } = await storeAt(order);
      try {
        const journal = journalFor(order, undefined, waitingClock(Date.now() + 1_000), { store });
        const plan = planOf(order);
        for (const { op, state } of await journal.list()) {
          if (state === 'finished') continue;
          await perform(await journal.resume(op, { resendAbsent: true, reason: 'the machine was switched off' }));
        }
        for await (const { op } of store.heads({ unfinished: true })) {
          // It was killed while its plan was written, or before it could say that it is done.
          const tape = await store.take(op, { reason: 'never planned' });
          await tape.file.close();
          await tape.release(true);
        }
        const uses = await journal.earlierUses(plan);
        if (uses.size === order.rows)
          return [...uses.values()].every(({ settled }) => settled?.outcome === 'done') ? 'done' : 'open';
        return await perform(await journal.begin(plan));
      } finally {
        await end();
      }
    }

    async function perform(opened: Awaited<ReturnType<ReturnType<typeof journalFor>['begin']>>): Promise<string> {
      await using run = opened;
      let worst = 'done';
      for (const { row } of run.rows) {
        const { outcome } = await run.perform(row);
        if (outcome !== 'done') worst = outcome;
      }
      await run.finish();
      return worst;
    }
  });
}

function endOf(running: ChildProcess): Promise<[number | null, string | null]> {
  return once(running, 'close') as Promise<[number | null, string | null]>;
}
