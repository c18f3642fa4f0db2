/** Two operators before one account with a card in it, and ways to the database and the service on which a process can be killed. */
import { expect } from 'vitest';
import { accountPrint } from '../../src/core/key-print.ts';
import type { Clock } from '../../src/platform/host.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import type { Database, Person } from '../postgres/shared.ts';
import { skippingClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { type World, world } from '../support/world.ts';
import { killingWay } from './killing-way.ts';
import { testAccount } from './test-account.ts';

/** The account as the service tells it. */
export interface Seen {
  readonly cards: readonly { readonly id: string; readonly status: string; readonly balance: number }[];
  readonly wallet: number;
}

/** USD on the card that is there from the beginning. */
export const CARD = 20;
export const QUIET_MS = 200_000;

/** When nothing of the killed process can be on its way any more. */
export function later(): Clock {
  const clock = skippingClock();
  return { ...clock, now: () => clock.now() + QUIET_MS };
}

export type KillingStage = Awaited<ReturnType<typeof killingStage>>;

export async function killingStage(here: Database) {
  const sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
  const proxy = await startFaultProxy({ target: sandbox.url, stripKeys: true });
  const { pathname, port } = new URL(proxy.url);
  const way = await killingWay({ database: here.server, service: { port: Number(port) } });
  const origin = `http://127.0.0.1:${way.port}`;
  const at = await testAccount(here, { origin, keyPrint: account => accountPrint(sandbox.key, account) });
  const shared = (role: Person) => ({
    CARDWRIGHT_API_KEY: sandbox.key.expose(),
    CARDWRIGHT_BASE_URL: `${origin}${pathname}`,
    CARDWRIGHT_JOURNAL_URL: `postgres://${role}@${encodeURIComponent(way.socket)}:${here.server.port}/${here.name}`,
    CARDWRIGHT_JOURNAL_ACCOUNT: at.account,
  });
  const machines: World[] = [];
  const machine = async (role: Person) => {
    counted += 10_000;
    const one = await world({ env: { CARDWRIGHT_PROFILE: '', ...shared(role) }, countFrom: counted });
    machines.push(one);
    return one;
  };
  const [ana, ben] = [await machine('ana'), await machine('ben')];
  const { status } = await ask(sandbox, { method: 'POST', path: '/cards', body: { bin_id: 'bin_1', amount: CARD } });
  expect(status).toBe(201);
  return {
    ana,
    ben,
    machine,
    way,
    at,
    /** Of a process that shares the folder of that machine. */
    env: (role: Person, { folder }: World) => ({ ...shared(role), CARDWRIGHT_CONFIG_DIR: folder }),
    async seen(): Promise<Seen> {
      await proxy.answered();
      const [cards, wallet] = [
        await ask(sandbox, { path: '/cards?per_page=100' }),
        await ask(sandbox, { path: '/wallet' }),
      ];
      return { cards: cards.json.data, wallet: wallet.json.balance };
    },
    /** Those of names too. */
    async endLeases() {
      await at.root.call(
        `update cardwright.op set lease_until = clock_timestamp() - interval '${QUIET_MS} ms' where state = 'running'`,
        [],
      );
      await at.root.call(`update cardwright.name_hold set lease_until = clock_timestamp() - interval '5 seconds'`, []);
    },
    async flaws({ run }: World) {
      const { code, out, err } = await run('journal check --json', { clock: skippingClock() });
      return code === 0 ? JSON.parse(out).flaws : [err];
    },
    async [Symbol.asyncDispose]() {
      for (const each of [...machines, way, proxy]) await each[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}

let counted = 1_000_000;
