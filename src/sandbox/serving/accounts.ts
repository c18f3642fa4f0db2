/**
 * `sandbox start --accounts DIR`: one server of many sandboxes, each a file of its own below the folder. Keys are made of
 * the admin token of the server and the name, so that nothing but that token is kept; who holds it opens accounts.
 */
import { createHmac } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountsServerOptions } from '../../contract/sandbox/admin.ts';
import { CliError } from '../../core/errors.ts';
import { isSameKey } from '../../core/key-print.ts';
import { Secret } from '../../core/secret.ts';
import { type FileDependencies, privateFolder } from '../../files/private-files.ts';
import { Refused } from '../calls/handler.ts';
import { SERVICE_PATH } from '../http/request.ts';
import { bearerIn } from '../requests/exchange.ts';
import type { OpenAccount, ServiceParts } from '../service/service.ts';
import { type Opened, type OpenPlan, openSandbox, randomSecret } from './assemble.ts';
import { LIMITS, serve } from './server.ts';
import { readSecret, type StartDependencies, serveUnderLock, writeSecret } from './started.ts';

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;
const KEY = /^(sk_test|sandbox)_([a-z0-9-]{1,32})_([\w-]{43})$/;

/** Throws `guarded` when another server has the folder, `unreachable` for a taken port, `check_failed` for a damaged account. */
export async function startAccounts(around: StartDependencies, options: AccountsServerOptions) {
  privateFolder(options.accounts, around.platform);
  return serveUnderLock(join(options.accounts, 'server.lock'), around, () => open(around, options));
}

async function open(around: StartDependencies, options: AccountsServerOptions) {
  const { platform, noise, warn } = around;
  const { accounts: folder, port = 0, behind } = options;
  const files: FileDependencies = { platform, random: noise, warn };
  const tokenFile = join(folder, 'admin-token');
  const token = (await readSecret(tokenFile, files)) ?? randomSecret('sandbox_', around);
  await writeSecret(tokenFile, token, files);
  const keyOf = (kind: 'sk_test' | 'sandbox', name: string) =>
    new Secret(`${kind}_${name}_${createHmac('sha256', token.expose()).update(`${kind} ${name}`).digest('base64url')}`);
  const accounts = new Map<string, Promise<Opened>>();
  const opened = (name: string, made: Partial<OpenPlan> = {}): Promise<Opened> => {
    const known = accounts.get(name);
    if (known !== undefined) return known;
    const place = join(folder, name);
    privateFolder(place, platform);
    const opening = openSandbox({
      host: around,
      path: join(place, 'store.db'),
      ...made,
      key: keyOf('sk_test', name),
      adminToken: keyOf('sandbox', name),
      checked: true,
      rateLimits: options.rateLimits ? 'all' : 'none',
      liveTimers: true,
      deliveries: { live: true, allowRemote: options.allowRemoteWebhooks },
      version: around.version,
      onFault: error => around.onFault(new Error(`account ${name}: ${textOf(error)}`, { cause: error })),
    });
    accounts.set(name, opening);
    opening.catch(() => accounts.delete(name));
    return opening;
  };
  const open: OpenAccount = async ({ name, data = 'demo', seed, dialect }) => {
    if (!NAME.test(name))
      throw new Refused('invalid_request', 'name: lower-case letters, digits and -, at most 32 of them');
    const { parts } = await opened(name, { data, ...(seed !== undefined && { seed }) });
    if (dialect !== undefined) parts.activeDialect.use(dialect);
    return { name, api_key: parts.key, admin_token: parts.adminToken };
  };
  // It answers whoever has no account, and keeps nothing.
  const nobody = await openSandbox({
    host: around,
    path: 'memory',
    seed: 0,
    data: 'empty',
    adminToken: token,
    accounts: open,
    rateLimits: 'none',
    deliveries: { live: false },
    version: around.version,
    onFault: around.onFault,
  });
  const close = async () => {
    const all = await Promise.allSettled(accounts.values());
    for (const account of all) if (account.status === 'fulfilled') await account.value.close();
    await nobody.close();
  };
  try {
    // What falls due in them happens from now on.
    for (const each of await readdir(folder, { withFileTypes: true })) {
      if (each.isDirectory() && NAME.test(each.name)) await opened(each.name);
    }
    const accountOf = async (header: string | undefined): Promise<ServiceParts | undefined> => {
      const given = bearerIn(header);
      const [, kind, name] = (given !== undefined && KEY.exec(given)) || [];
      if (given === undefined || name === undefined || !accounts.has(name)) return undefined;
      const right = keyOf(kind as 'sk_test' | 'sandbox', name).expose();
      return isSameKey(given, right) ? (await opened(name)).parts : undefined;
    };
    const server = await serve(nobody.parts, { port, behind }, LIMITS, ({ headers }) =>
      accountOf(headers.authorization),
    );
    return {
      shown: { url: `${behind === undefined ? server.origin : `https://${behind.host}`}${SERVICE_PATH}` },
      async close() {
        await server.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    if (error instanceof CliError && error.kind === 'unreachable') {
      throw error.with({ hint: 'cardwright sandbox start --accounts DIR --port 0' });
    }
    throw error;
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
