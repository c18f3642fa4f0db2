/** A sandbox with a card and a subscription to a receiver; deliveries go when the test says so. */

import { ask, type Got } from '../../support/sandbox-http.ts';
import { type RunningSandbox, type SandboxOptions, startSandbox } from '../../support/start-sandbox.ts';

export const START = '2026-11-20T14:00:00Z';
export const SECRET = 'whsec_c2l4dGVlbiBieXRlcyBvZiBrZXk';

export interface Scene extends AsyncDisposable {
  readonly sandbox: RunningSandbox;
  readonly card: string;
  /** Makes a subscription to all events. */
  subscribe(url: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  get(path: string): Promise<Got>;
  post(path: string, body?: unknown): Promise<Got>;
  patch(path: string, body: unknown): Promise<Got>;
  remove(path: string): Promise<Got>;
  admin(method: string, path: string, body?: unknown): Promise<Got>;
  /** Freezes or unfreezes the card, in turn: one event. */
  event(): Promise<void>;
  /** Tries everything due now once. */
  drain(): Promise<void>;
  /** Newest first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into rows of every shape
  deliveries(query?: string): Promise<any[]>;
}

export async function scene(options: SandboxOptions = {}): Promise<Scene> {
  const sandbox = await startSandbox({
    wallet: 5_000,
    ids: 'counted',
    rateLimits: false,
    deliveries: 'on-deliver',
    clock: { mode: 'frozen', at: START },
    ...options,
  });
  const get = (path: string) => ask(sandbox, { path });
  const post = (path: string, body?: unknown) => ask(sandbox, { method: 'POST', path, body });
  const admin = (method: string, path: string, body?: unknown) =>
    ask(sandbox, { method, path: `/_sandbox/v1${path}`, body });
  const bin = (await get('/bins')).json.data[0].id;
  const card = (await post('/cards', { bin_id: bin, amount: 100 })).json.id as string;
  let frozen = false;
  return {
    sandbox,
    card,
    get,
    post,
    patch: (path, body) => ask(sandbox, { method: 'PATCH', path, body }),
    remove: path => ask(sandbox, { method: 'DELETE', path }),
    admin,
    subscribe: async (url, more = {}) =>
      (await post('/webhooks', { url, events: ['*'], secret: SECRET, ...more })).json.id as string,
    async event() {
      await post(`/cards/${card}/${frozen ? 'unfreeze' : 'freeze'}`);
      frozen = !frozen;
    },
    drain: async () => void (await sandbox.deliver({ kind: 'idle' })),
    deliveries: async (query = '') => (await admin('GET', `/deliveries${query}`)).json.data,
    [Symbol.asyncDispose]: () => sandbox.stop(),
  };
}
