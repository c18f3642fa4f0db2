/** The program before a sandbox on a port, with a proxy between that breaks requests as it is told. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { type FaultProxy, type ProxySettings, startFaultProxy } from '../support/fault-proxy.ts';
import { type Ran, type RunOptions, WORLD_TIME, world } from '../support/world.ts';

export interface ServiceWorld extends AsyncDisposable {
  readonly proxy: FaultProxy;
  readonly folder: string;
  /** The API key of the service. */
  readonly key: string;
  run(line: string, options?: RunOptions): Promise<Ran>;
  /** Writes a file of creates and returns its name. */
  creates(name: string, amounts: readonly number[]): Promise<string>;
  /** As the service itself has it, past the proxy. */
  cards(): Promise<readonly { id: string; status: string; balance: number; metadata: Record<string, unknown> }[]>;
  wallet(): Promise<number>;
  /** Somebody else's card, past the proxy. */
  spend(amount: number): Promise<void>;
}

/** The key is a test key of the environment, so the service is not known to honour idempotency keys. */
export async function serviceWorld({
  wallet = 1000,
  ...faults
}: { readonly wallet?: number } & Partial<ProxySettings> = {}): Promise<ServiceWorld> {
  const sandbox = await startSandbox({
    wallet,
    ids: 'counted',
    rateLimits: false,
    clock: { mode: 'frozen', at: WORLD_TIME },
  });
  const proxy = await startFaultProxy({ target: sandbox.url, ...faults });
  const here = await world({
    env: { CARDWRIGHT_PROFILE: '', CARDWRIGHT_BASE_URL: proxy.url, CARDWRIGHT_API_KEY: sandbox.key.expose() },
  });
  async function ask<T>(path: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${sandbox.key.expose()}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${sandbox.url}${path}`, { headers, ...sent });
    return (await answer.json()) as T;
  }
  return {
    proxy,
    folder: here.folder,
    key: sandbox.key.expose(),
    run: (line, options) => here.run(line, options),
    async creates(name, amounts) {
      const lines = amounts.map((amount, index) => `bin_1,${amount.toFixed(2)},row ${index + 1}`);
      await writeFile(join(here.folder, name), ['bin_id,amount,label', ...lines, ''].join('\n'));
      return name;
    },
    async cards() {
      const found: Awaited<ReturnType<ServiceWorld['cards']>>[number][] = [];
      for (let page = 1; ; page += 1) {
        const { data } = await ask<{ data: never[] }>(`/cards?per_page=100&page=${page}`);
        found.push(...data);
        if (data.length < 100) return found;
      }
    },
    wallet: async () => (await ask<{ balance: number }>('/wallet')).balance,
    spend: amount => ask('/cards', { bin_id: 'bin_1', amount }),
    async [Symbol.asyncDispose]() {
      await here[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}
