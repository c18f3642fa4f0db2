/** The sandbox of a team: its database opened for a command, or served until a signal comes. */
import { join } from 'node:path';
import type { SandboxAccounts, SharedServerOptions, StartedServer } from '../cli/sandbox-servers.ts';
import { CliError } from '../core/errors.ts';
import { sameCommandWith } from '../core/same-command.ts';
import type { OpenDatabase } from '../sandbox/serving/accounts/database.ts';
import type { ServerFacts } from './ephemeral-sandbox.ts';

async function opened({ host, keys }: ServerFacts, store: string, mayMigrate: boolean): Promise<OpenDatabase> {
  const { openDatabase, parseStoreUrl } = await import('../sandbox/serving/accounts/database.ts');
  const { env, clock, random, platform } = host;
  return openDatabase({
    url: parseStoreUrl(store, 'flag'),
    passwordFile: env['CARDWRIGHT_STORE_PASSWORD_FILE'],
    onPassword: password => void keys.add(password),
    ...{ mayMigrate, clock, random, platform },
  });
}

/** Opens the database for one piece of work on its accounts. */
export async function withAccounts<T>(
  facts: ServerFacts,
  store: string,
  work: (accounts: SandboxAccounts) => Promise<T>,
): Promise<T> {
  const database = await opened(facts, store, false);
  const { accountFacts, endAccount, extendAccount, makeAccount } = await import(
    '../sandbox/serving/accounts/make-account.ts'
  );
  const { randomSeed } = await import('../sandbox/serving/assemble.ts');
  const { random, noise, platform, cwd } = facts.host;
  const files = { random: noise, platform, cwd, warn: (text: string) => facts.notice(`warning: ${text}`) };
  try {
    return await work({
      async create({ keysIn, ...wish }) {
        const { keysFolder } = await import('./account-keys.ts');
        const folder = keysIn === undefined ? undefined : await keysFolder(keysIn, files);
        const seed = wish.seed ?? randomSeed(facts.host);
        const { key, token } = await makeAccount(database, random, { ...wish, seed });
        const row = await database.accounts.named(wish.name);
        if (row === undefined) throw new Error('the account that was made is not there');
        if (folder === undefined) return { ...accountFacts(row), api_key: key.expose(), admin_token: token.expose() };
        const kept = await folder.keep({ key, token }).catch(async (error: unknown) => {
          // Nobody would ever have its keys.
          await endAccount(database, wish.name);
          throw error;
        });
        return { ...accountFacts(row), ...kept };
      },
      list: async () => (await database.accounts.all()).map(accountFacts),
      extend: async (name, lifetime) => accountFacts(await extendAccount(database, name, lifetime)),
      remove: async name => accountFacts(await endAccount(database, name)),
    });
  } catch (error) {
    const { changeError } = await import('../sandbox/serving/accounts/database.ts');
    throw changeError(error, database.shown);
  } finally {
    await database.close();
  }
}

/** Serves in this process; `here` is told how to end what never got to serve. */
export async function startShared(
  facts: ServerFacts,
  options: SharedServerOptions,
  here: (() => Promise<void>)[],
): Promise<StartedServer> {
  const { host, version, notice } = facts;
  const { clock, random, pid, platform, signal, folders } = host;
  const { store, migrate, admin, behind, port, rateLimits, virtualLimits, allowRemoteWebhooks } = options;
  const database = await opened(facts, store, migrate).catch((error: unknown) => {
    const isForMigrate = error instanceof CliError && error.facts.hint?.endsWith(' --migrate');
    throw isForMigrate ? error.with({ hint: sameCommandWith('--migrate') }) : error;
  });
  const { serveAccounts } = await import('../sandbox/serving/accounts/account-server.ts');
  host.keepSmall();
  const server = await serveAccounts(database, {
    host: { clock, random, pid, platform, isRunning: other => host.isRunning(other) },
    data: 'empty',
    place: { port: port ?? 0, behind },
    hasControl: admin,
    rateLimits: rateLimits ? 'all' : 'none',
    virtualLimits,
    deliveries: { allowRemote: allowRemoteWebhooks },
    folder: join(folders.data, 'sandbox', 'accounts'),
    version,
    onFault: error => notice(`warning: ${error instanceof Error ? error.message : String(error)}`),
  });
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= server.stop();
    return ended;
  };
  here.push(stop);
  const started_at = new Date(clock.now()).toISOString();
  return {
    row: {
      url: `${behind === undefined ? server.origin : `https://${behind.host}`}/v1`,
      pid,
      started_at,
      store: database.shown,
    },
    async serve() {
      if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }));
      await stop();
    },
  };
}
