/** Machines of operators before one account of a service, over one journal. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { accountPrint } from '../../src/core/key-print.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import type { Database, Person } from '../postgres/shared.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type World, world } from '../support/world.ts';
import { testAccount } from './test-account.ts';

let made = 0;

/** Address of the journal for a role. */
export const urlOf = (here: Database, role: string) =>
  `postgres://${role}@${encodeURIComponent(here.server.socket)}:${here.server.port}/${here.name}`;

/** A service, an account in the journal, and machines of operators before both. */
export async function team(here: Database, { wallet = 100, stripKeys = true, delayMs = 0 } = {}) {
  const sandbox = await startSandbox({ wallet, ids: 'counted', rateLimits: false });
  const proxy = await startFaultProxy({ target: sandbox.url, stripKeys, delayMs });
  const key = sandbox.key.expose();
  const origin = new URL(proxy.url).origin;
  const at = await testAccount(here, { origin, keyPrint: account => accountPrint(sandbox.key, account) });
  const machines: World[] = [];
  const shared = (role: Person) => ({
    CARDWRIGHT_API_KEY: key,
    CARDWRIGHT_BASE_URL: proxy.url,
    CARDWRIGHT_JOURNAL_URL: urlOf(here, role),
    CARDWRIGHT_JOURNAL_ACCOUNT: at.account,
  });
  const machine = async (role: Person, more: Readonly<Record<string, string>> = {}) => {
    const env = { CARDWRIGHT_PROFILE: '', ...shared(role), ...more };
    made += 1;
    // Ids of ops are those of the whole database.
    const one = await world({ env, countFrom: 10_000 * made });
    machines.push(one);
    return one;
  };
  return {
    at,
    key,
    proxy,
    machine,
    /** Of a process of its own, with the folder of that machine. */
    processEnv: (role: Person, { folder }: World) => ({ ...shared(role), CARDWRIGHT_CONFIG_DIR: folder }),
    cards: async () =>
      (await ask(sandbox, { path: '/cards?per_page=100' })).json.data as {
        id: string;
        balance: number;
        status: string;
      }[],
    balance: async () => (await ask(sandbox, { path: '/wallet' })).json.balance as number,
    async [Symbol.asyncDispose]() {
      for (const each of machines) await each[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}

interface Place {
  readonly socket: string;
  readonly port: number;
}

/** A way to the server that can be cut, and led to another server with the same port. */
export async function cableTo(first: Place) {
  let { socket } = first;
  const { port } = first;
  const place = await temporaryFolder();
  const through = new Set<Socket>();
  const server = createServer(near => {
    const far = connect(join(socket, `.s.PGSQL.${port}`));
    for (const each of [near, far]) {
      through.add(each);
      each.on('error', () => undefined).on('close', () => [near, far].map(end => end.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  const path = join(place.path, `.s.PGSQL.${port}`);
  const mend = async () => void (await once(server.listen(path), 'listening'));
  const cut = async () => {
    const closed = once(server.close(), 'close');
    for (const each of through) each.destroy();
    await closed;
  };
  await mend();
  return {
    folder: place.path,
    port,
    mend,
    cut,
    leadTo(another: Place): void {
      socket = another.socket;
    },
    async [Symbol.asyncDispose]() {
      if (server.listening) await cut();
      await place[Symbol.asyncDispose]();
    },
  };
}
