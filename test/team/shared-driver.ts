/** A command over a shared journal in a process of its own, which kills itself around the n-th call or request. */

import type { AfterAnswer } from '../../src/journal/runs/dependencies.ts';
import type { OpStore } from '../../src/journal/store/op-store.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { openPostgres } from '../../src/postgres/client.ts';
import { chainHead, type SharedOps } from '../../src/team/shared-ops.ts';
import { sharedStore } from '../../src/team/shared-store.ts';
import { type Statements, statementsOver } from '../../src/team/statements.ts';
import { type Effect, journalFor, type Order, performAll, planOf, sending } from '../crash/driver.ts';
import { random, realClock } from '../support/clocks.ts';
import { KEY_PRINT } from './test-account.ts';

export interface SharedOrder extends Order {
  readonly account: string;
  readonly role: string;
  readonly socket: string;
  readonly port: number;
  readonly database: string;
}

/** Runs the order to its end, or dies. */
export async function driveShared(order: SharedOrder): Promise<void> {
  let effects = 0;
  const effect = () => {
    effects += 1;
    if (effects === order.dieAt) process.kill(process.pid, 'SIGKILL');
    return undefined;
  };
  const { store, end } = await storeAt(order, effect);
  const last: AfterAnswer[] = [];
  const running = { store, afterAnswer: (work: AfterAnswer) => void last.push(work) };
  const wraps = { disk: <T>(real: T) => real, service: sending(effect) };
  const journal = journalFor(order, wraps, realClock, running);
  await performAll(await journal.begin(planOf(order)));
  // The answer is written here.
  effect();
  for (const work of last) await work('written');
  await end();
}

/** The store of one machine, whose folder is that of the order. */
export async function storeAt(
  order: SharedOrder,
  effect: Effect = () => undefined,
): Promise<{ readonly store: OpStore; end(): Promise<void> }> {
  const { socket: host, port, role: user, database } = order;
  const password = () => Promise.reject(new Error('the socket asks for no password'));
  const session = await openPostgres({ host, port, user, database }, { password, connectMs: 30_000, callMs: 60_000 });
  const { pid, platform } = process;
  const disk = createDisk({ platform, random, warn: () => undefined, lock: { pid, clock: realClock, random } });
  const statements = dying(statementsOver(session), effect);
  await disk.prepareFolder(order.folder);
  const shared: SharedOps = {
    statements: () => statements,
    account: order.account,
    host: order.role,
    clock: realClock,
    random,
    disk,
    writeTotalMs: 75_000,
    head: await chainHead(disk, `${order.folder}/head`),
    spoolFolder: async () => order.folder,
  };
  const store = sharedStore({
    shared: async () => shared,
    opened: async () => shared,
    keyPrint: async () => KEY_PRINT,
  });
  return { store, end: () => session.end() };
}

/** Around each call: before it, and when the database has done it and nobody was told. */
function dying(real: Statements, effect: Effect): Statements {
  const around = Object.entries(real).map(([name, call]) => [
    name,
    async (...asked: unknown[]) => {
      await effect();
      const answer = await (call as (...given: unknown[]) => Promise<unknown>)(...asked);
      await effect();
      return answer;
    },
  ]);
  return Object.fromEntries(around) as Statements;
}
