/** A sandbox with a card, the real client before it, and rules of faults in between. */
import { createService } from '../../../src/client/api.ts';
import type { WriteName } from '../../../src/contract/calls.ts';
import { OPERATIONS } from '../../../src/contract/operations.ts';
import type { FaultRule } from '../../../src/contract/sandbox/faults.ts';
import type { Attempt, Service } from '../../../src/contract/service.ts';
import { clock, random } from '../../client/served.ts';
import { ask, type Got } from '../../support/sandbox-http.ts';
import { type RunningSandbox, type SandboxOptions, startSandbox } from '../../support/start-sandbox.ts';

export interface Logged {
  readonly request_id: string;
  readonly operation: string;
  readonly status: number;
  readonly replayed: boolean;
  readonly fault: string | null;
  readonly body: unknown;
}

export interface Scene extends AsyncDisposable {
  readonly sandbox: RunningSandbox;
  readonly service: Service;
  readonly bin: string;
  readonly card: string;
  admin(method: string, path: string, body?: unknown): Promise<Got>;
  fault(rule: FaultRule): Promise<string>;
  clearFaults(): Promise<void>;
  /** Sends one write as the journal does. */
  attempt(operation: WriteName, input: object, key?: string): Promise<Attempt>;
  /** Requests of one operation, oldest first. */
  requests(operation: string): Promise<readonly Logged[]>;
  balances(): Promise<{ readonly card: number; readonly wallet: number; readonly cards: number }>;
  /** What the sandbox's own check of its books finds. */
  broken(): Promise<readonly string[]>;
}

export async function scene(options: SandboxOptions & { readonly timeoutMs?: number } = {}): Promise<Scene> {
  const { timeoutMs = 2_000, ...wishes } = options;
  const sandbox = await startSandbox({
    wallet: 5_000,
    ids: 'counted',
    deliveries: 'on-deliver',
    clock: { mode: 'frozen', at: '2026-11-20T14:00:00Z' },
    ...wishes,
  });
  const { key, url: baseUrl, socketPath } = sandbox;
  const service = createService({
    table: OPERATIONS,
    connection: { baseUrl, key: async () => key, ...(socketPath !== undefined && { socketPath }) },
    clock,
    random,
    env: {},
    userAgent: 'cardwright/0 test',
    mode: 'test',
    onWarning: () => undefined,
    timeoutMs,
  });
  const admin = (method: string, path: string, body?: unknown) =>
    ask(sandbox, { method, path: `/_sandbox/v1${path}`, body });
  const bin = (await ask(sandbox, { path: '/bins' })).json.data[0].id as string;
  const made = await ask(sandbox, { method: 'POST', path: '/cards', body: { bin_id: bin, amount: 100 } });
  const card = made.json.id as string;
  const madeBy = made.headers['x-request-id'];
  return {
    sandbox,
    service,
    bin,
    card,
    admin,
    async fault(rule) {
      const added = await admin('POST', '/faults', rule);
      if (added.status !== 201) throw new Error(added.text);
      return added.json.id as string;
    },
    async clearFaults() {
      await admin('DELETE', '/faults');
    },
    attempt(operation, input, key) {
      const planned = service.plan(operation as 'cards.create', input as never, { key });
      return service.attempt(planned, input as Readonly<Record<string, unknown>>);
    },
    async requests(operation) {
      const { json } = await admin('GET', `/requests?operation=${operation}`);
      const rows = (json.data as readonly Logged[]).filter(row => row.request_id !== madeBy);
      return rows.toReversed();
    },
    async balances() {
      const wallet = (await ask(sandbox, { path: '/wallet' })).json.balance as number;
      const one = (await ask(sandbox, { path: `/cards/${card}` })).json.balance as number;
      const cards = (await ask(sandbox, { path: '/cards' })).json.meta.total as number;
      return { card: one, wallet, cards };
    },
    broken: async () => (await admin('POST', '/ledger/check')).json.faults as readonly string[],
    async [Symbol.asyncDispose]() {
      await service.close();
      await sandbox.stop();
    },
  };
}
