/** A run in a process of its own that kills itself at the n-th effect: at every call of the disk, around every send. */
import { createService } from '../../src/client/api.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import type { Service } from '../../src/contract/service.ts';
import { cents } from '../../src/core/money.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Capability } from '../../src/journal/idempotency-support.ts';
import type { ApprovalGate } from '../../src/journal/runs/approval-gate.ts';
import type { AfterAnswer } from '../../src/journal/runs/dependencies.ts';
import { createJournal } from '../../src/journal/runs/journal.ts';
import { localStore } from '../../src/journal/store/local-store.ts';
import type { OpStore } from '../../src/journal/store/op-store.ts';
import type { Journal, PlannedRow, Run, RunPlan } from '../../src/journal/types.ts';
import { inputDigest } from '../../src/journal/wal/op-id.ts';
import { createDisk, type JournalDisk, type JournalFile } from '../../src/journal/wal/storage.ts';
import { random, realClock, waitingClock } from '../support/clocks.ts';
import { type WatchedDisk, watchedDisk } from '../support/watched-disk.ts';

export interface Order {
  readonly url: string;
  readonly key: string;
  readonly folder: string;
  readonly bin: string;
  readonly rows: number;
  /** Number of the effect it dies at, from 1. */
  readonly dieAt: number;
  /** The checker's own check: SENT is written together with the outcome, after sending. */
  readonly sentTooLate?: boolean;
  readonly honoured?: boolean;
  /** Each row has a name of the caller's. */
  readonly named?: boolean;
  /** Rows at once; two when left out. */
  readonly workers?: number;
  /** Total of one request, ms. */
  readonly timeoutMs?: number;
}

export const AMOUNT = cents(150);

/** Runs the order to its end, or dies. */
export async function drive(order: Order): Promise<void> {
  let effects = 0;
  const effect = () => {
    effects += 1;
    if (effects === order.dieAt) process.kill(process.pid, 'SIGKILL');
    return undefined;
  };
  const wraps = { disk: dying(effect, order.sentTooLate === true), service: sending(effect) };
  const last: AfterAnswer[] = [];
  const journal = journalFor(order, wraps, realClock, { afterAnswer: work => void last.push(work) });
  await performAll(await journal.begin(planOf(order)), order.workers);
  // The answer is written here.
  effect();
  for (const work of last) await work('written');
}

export function planOf(order: Pick<Order, 'rows' | 'bin' | 'named'>): RunPlan {
  const rows = rowsOf(order);
  return { command: 'cards create', rows, digest: inputDigest(rows), bulk: rows.length > 1, marker: true };
}

/** Takes an op up again, in a process that may be killed as well. Time is only waited for on paper. */
export async function resume(order: Order & { readonly op: string; readonly aheadMs: number }): Promise<void> {
  const journal = journalFor(order, undefined, waitingClock(Date.now() + order.aheadMs));
  await performAll(await journal.resume(order.op, { resendAbsent: true }), order.workers);
}

/** Two workers at least, so that rows share writes. */
export async function performAll(opened: Run, workers = 2, onFinish?: () => void): Promise<void> {
  await using run = opened;
  const left = [...run.rows].map(({ row }) => row);
  const work = async () => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) await run.perform(row);
  };
  await Promise.all(Array.from({ length: workers }, work));
  await run.finish();
  onFinish?.();
}

export function rowsOf({ rows, bin, named = false }: Pick<Order, 'rows' | 'bin' | 'named'>): PlannedRow[] {
  return Array.from({ length: rows }, (_, index) => ({
    row: index + 1,
    operation: 'cards.create',
    input: { bin_id: bin, amount: AMOUNT, label: `row ${index + 1}` },
    amount: AMOUNT,
    ...(named && { intent: `row/${index + 1}` }),
  }));
}

interface Wraps {
  readonly disk: (real: JournalDisk) => JournalDisk;
  readonly service: (real: Service) => Service;
}

/** Who runs it, when that is not this process. */
export interface Running {
  readonly pid?: number;
  readonly afterAnswer?: (work: AfterAnswer) => void;
  /** Where ops are kept, when that is not the folder. */
  readonly store?: OpStore;
  readonly approvals?: ApprovalGate;
}

export function journalFor(order: Order, wraps?: Wraps, clock = realClock, running: Running = {}): Journal {
  const { pid = process.pid } = running;
  const key = new Secret(order.key);
  const service = createService({
    table: OPERATIONS,
    connection: { baseUrl: order.url, key: async () => key },
    clock: realClock,
    random,
    env: {},
    userAgent: 'cardwright/0 test',
    mode: 'test',
    ...(order.timeoutMs !== undefined && { timeoutMs: order.timeoutMs }),
  });
  const lock = { pid, clock: realClock, random };
  const disk = createDisk({ platform: process.platform, random, warn: () => undefined, lock });
  const worth: Capability = order.honoured
    ? { key: 'honoured', ttl_ms: null, proved_ms: 5_000, at: 0 }
    : { key: 'unknown' };
  return createJournal({
    store:
      running.store ??
      localStore({
        stateFolder: order.folder,
        disk: wraps?.disk(disk) ?? disk,
        random,
        pid,
        keyPrint: async () => '00000000',
        accountPrint: async () => '0000000000000000',
      }),
    clock,
    random,
    pid,
    begunAt: clock.now(),
    service: async () => wraps?.service(service) ?? service,
    acting: async () => ({ profile: 'crash', mode: 'test', origin: order.url }),
    capabilities: { of: async () => worth, remember: async () => undefined },
    writeTotalMs: 75_000,
    stop: new AbortController().signal,
    cut: new AbortController().signal,
    hold: () => () => undefined,
    notice: () => undefined,
    approvals: running.approvals,
    ...(running.afterAnswer && { afterAnswer: running.afterAnswer }),
  });
}

/** Does nothing, or is where the process ends: then it does not come back. */
export type Effect = () => undefined | Promise<never>;

export const sending =
  (effect: Effect) =>
  (real: Service): Service => ({
    ...real,
    async deliver(...asked) {
      await effect();
      const delivery = await real.deliver(...asked);
      await effect();
      return delivery;
    },
  });

/** The wraps of a process that only seems to die, within this one. `letGo` closes what it had open, as the system would. */
export function dyingHere(effect: Effect): { readonly wraps: Wraps; letGo(): Promise<void> } {
  const disks: WatchedDisk[] = [];
  const disk = (real: JournalDisk) => {
    const watched = watchedDisk(real);
    disks.push(watched);
    return dying(effect, false)(watched.disk);
  };
  return {
    wraps: { disk, service: sending(effect) },
    async letGo() {
      for (const watched of disks) await watched.closeAll();
    },
  };
}

export const dying =
  (effect: Effect, sentTooLate: boolean) =>
  (real: JournalDisk): JournalDisk => {
    /** Dies before, or after, or goes on. */
    const around =
      <Asked extends unknown[], T>(call: (...asked: Asked) => Promise<T>) =>
      async (...asked: Asked) => {
        await effect();
        const result = await call(...asked);
        await effect();
        return result;
      };
    const wrapped = (file: JournalFile): JournalFile => {
      const late = sentTooLate ? heldBack(file) : file;
      return {
        ...late,
        async append(bytes) {
          await effect();
          // A write can be torn.
          await late.append(bytes.subarray(0, bytes.length - 9));
          await effect();
          await late.append(bytes.subarray(bytes.length - 9));
          await effect();
        },
        sync: around(late.sync),
      };
    };
    return {
      ...real,
      prepareFolder: around(real.prepareFolder),
      note: around(real.note),
      syncNames: around(real.syncNames),
      remove: around(real.remove),
      hold: around(real.hold),
      create: around(async path => {
        const file = await real.create(path);
        // A mark that tells the length would find the mistake by itself: here the rules about SENT are what is tried.
        const tellsNothing = sentTooLate && path.includes('/unfinished/');
        return wrapped(tellsNothing ? { ...file, append: async () => undefined } : file);
      }),
      replace: around(real.replace),
    };
  };

/** Keeps SENT back until something else is written. */
function heldBack(file: JournalFile): JournalFile {
  let held = Buffer.alloc(0);
  let line = Buffer.alloc(0);
  return {
    ...file,
    async append(bytes) {
      line = Buffer.concat([line, bytes]);
      if (!line.toString().endsWith('\n')) return;
      const whole = line;
      line = Buffer.alloc(0);
      if (/"t":"SENT"/.test(whole.toString()) && !/"t":"DONE"/.test(whole.toString()))
        held = Buffer.concat([held, whole]);
      else {
        await file.append(Buffer.concat([held, whole]));
        held = Buffer.alloc(0);
      }
    },
    size: async () => (await file.size()) + held.length,
  };
}
