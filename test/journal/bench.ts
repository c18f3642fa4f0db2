/** A journal on a real disk and a real client, before a sandbox behind the fault proxy. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createService } from '../../src/client/api.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import type { Overrides } from '../../src/contract/overrides.ts';
import type { Service } from '../../src/contract/service.ts';
import { type Cents, cents } from '../../src/core/money.ts';
import { type Capabilities, type Capability, UNKNOWN } from '../../src/journal/idempotency-support.ts';
import type { ApprovalGate } from '../../src/journal/runs/approval-gate.ts';
import { createJournal } from '../../src/journal/runs/journal.ts';
import { localStore } from '../../src/journal/store/local-store.ts';
import type { Journal, PlannedRow, RunPlan } from '../../src/journal/types.ts';
import { inputDigest } from '../../src/journal/wal/op-id.ts';
import { createDisk, type JournalDisk } from '../../src/journal/wal/storage.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { random, realClock, skippingClock, waitingClock } from '../support/clocks.ts';
import { type FaultProxy, type ProxySettings, startFaultProxy } from '../support/fault-proxy.ts';

export interface BenchWishes extends Partial<ProxySettings> {
  readonly wallet?: number;
  /** `test` when left out: the service is not known to honour keys. */
  readonly mode?: 'sandbox' | 'test' | 'live';
  /** What a probe has found. */
  readonly capability?: Capability;
  readonly timeoutMs?: number;
  /** Pauses between attempts are over at once. */
  readonly skipsPauses?: true;
  /** What holds plans. */
  readonly approvals?: ApprovalGate;
  readonly disk?: (real: JournalDisk) => JournalDisk;
}

export interface Bench extends AsyncDisposable {
  readonly journal: Journal;
  readonly service: Service;
  readonly proxy: FaultProxy;
  readonly folder: string;
  readonly clock: ReturnType<typeof waitingClock>;
  readonly notices: string[];
  readonly bin: string;
  /** Aborting it is Ctrl-C. */
  readonly stop: AbortController;
  /** The second one. */
  readonly cut: AbortController;
  /** Another process on the same folder, before the same service. */
  another(options?: Pick<BenchWishes, 'disk'> & { readonly service?: Service; readonly origin?: string }): Journal;
  /** A client of the proxy that knows other routes. */
  connect(operations: Overrides['operations']): Service;
  cards(): Promise<readonly { id: string; balance: number; metadata: Record<string, unknown> }[]>;
  wallet(): Promise<number>;
}

export async function bench(options: BenchWishes = {}): Promise<Bench> {
  const { wallet = 1000, mode = 'test', capability = UNKNOWN, timeoutMs } = options;
  const sandbox = await startSandbox({ wallet, ids: 'counted', rateLimits: false });
  const proxy = await startFaultProxy({
    target: sandbox.url,
    stripKeys: options.stripKeys ?? false,
    delayMs: options.delayMs ?? 0,
  });
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-journal-'));
  const clock = waitingClock();
  const notices: string[] = [];
  const stop = new AbortController();
  const cut = new AbortController();
  const connect = (baseUrl: string, operations: Overrides['operations'] = {}) =>
    createService({
      overrides: { operations, fields: {}, headers: {} },
      table: OPERATIONS,
      connection: { baseUrl, key: async () => sandbox.key },
      clock: options.skipsPauses ? skippingClock() : realClock,
      random,
      env: {},
      userAgent: 'cardwright/0 test',
      mode,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  const service = connect(proxy.url);
  // What the test itself looks at must not be in the proxy's way.
  const direct = connect(sandbox.url);
  const capabilities: Capabilities = { of: async () => capability, remember: async () => undefined };
  const another: Bench['another'] = ({ disk = options.disk, service: other, origin = proxy.url } = {}) => {
    const real = createDisk({
      platform: process.platform,
      random,
      warn: () => undefined,
      lock: { pid: process.pid, clock: realClock, random },
    });
    return createJournal({
      store: localStore({
        stateFolder: folder,
        disk: disk?.(real) ?? real,
        random,
        pid: process.pid,
        keyPrint: async () => '00000000',
        accountPrint: async () => '0000000000000000',
      }),
      clock,
      random,
      pid: process.pid,
      approvals: options.approvals,
      begunAt: clock.now(),
      service: async () => other ?? service,
      acting: async () => ({ profile: 'bench', mode, origin }),
      capabilities,
      writeTotalMs: timeoutMs ?? 75_000,
      stop: stop.signal,
      cut: cut.signal,
      hold: () => () => undefined,
      notice: text => notices.push(text),
    });
  };
  const bins = await direct.send('bins.list', {});
  return {
    journal: another(),
    service,
    proxy,
    folder,
    clock,
    notices,
    bin: bins.result.data[0]?.id ?? '',
    stop,
    cut,
    another,
    connect: operations => connect(proxy.url, operations),
    async cards() {
      const found = [];
      for await (const { data } of direct.pages('cards.list', { per_page: 100 })) found.push(...data);
      return found as never;
    },
    wallet: async () => (await direct.send('wallet.get', {})).result.balance,
    async [Symbol.asyncDispose]() {
      await service.close();
      await direct.close();
      await proxy[Symbol.asyncDispose]();
      await sandbox.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function createRow(bin: string, row = 1, amount: Cents = cents(2500)): PlannedRow {
  return { row, operation: 'cards.create', input: { bin_id: bin, amount }, amount };
}

export function fundRow(card: string, amount: Cents = cents(500)): PlannedRow {
  return { row: 1, operation: 'cards.fund', input: { card_id: card, amount }, amount, cardId: card };
}

export function planOf(rows: readonly PlannedRow[], more: Partial<RunPlan> = {}): RunPlan {
  return { command: 'cards create', rows, digest: inputDigest(rows), bulk: rows.length > 1, marker: true, ...more };
}
