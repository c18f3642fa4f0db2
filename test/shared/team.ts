/** Machines of a team before one account of a service, over one shared journal. */
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import type { JournalServer, PEOPLE } from '../postgres/journal-server.ts';
import { ask } from '../support/sandbox-http.ts';
import { type World, world } from '../support/world.ts';

let made = 0;

export async function team(server: JournalServer, { wallet = 100 } = {}) {
  const sandbox = await startSandbox({ wallet, ids: 'counted', rateLimits: false });
  const machines: World[] = [];
  const service = { CARDWRIGHT_API_KEY: sandbox.key.expose(), CARDWRIGHT_BASE_URL: sandbox.url };
  const machine = async (
    role: keyof typeof PEOPLE | 'postgres',
    more: Readonly<Record<string, string | undefined>> = {},
  ) => {
    made += 1;
    const env = { CARDWRIGHT_PROFILE: '', ...service, CARDWRIGHT_JOURNAL_URL: server.url(role), USER: role, ...more };
    // Ids of ops are those of the whole database.
    const one = await world({ env, countFrom: 10_000 * made });
    machines.push(one);
    return one;
  };
  return {
    machine,
    sandbox,
    cards: async () =>
      (await ask(sandbox, { path: '/cards?per_page=100' })).json.data as {
        id: string;
        balance: number;
        status: string;
      }[],
    async [Symbol.asyncDispose]() {
      for (const each of machines) await each[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}
