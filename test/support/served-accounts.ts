/** Servers of a sandbox on PostgreSQL, started as commands of a world, and accounts that they serve. */
import type { ServerRow } from '../../src/cli/sandbox-servers.ts';
import { Secret } from '../../src/core/secret.ts';
import type { Database, Person } from '../postgres/shared.ts';
import type { Served } from './sandbox-http.ts';
import type { Ran, World } from './world.ts';

/** Address of the database, for its owner unless a role is named. */
export const storeOf = ({ server, name }: Pick<Database, 'server' | 'name'>, role: Person | 'postgres' = 'postgres') =>
  `postgres://${role}@${encodeURIComponent(server.socket)}:${server.port}/${name}`;

export interface AccountServer extends AsyncDisposable {
  readonly row: ServerRow;
  /** Its standard error until now. */
  said(): string;
  stop(): Promise<Ran>;
}

/** Resolves once it says that it serves. */
export async function accountServer(
  place: World,
  store: string,
  more = '',
  env: Readonly<Record<string, string>> = {},
): Promise<AccountServer> {
  const stopping = new AbortController();
  let tell: (row: ServerRow) => void = () => undefined;
  const said = new Promise<ServerRow>(resolve => {
    tell = resolve;
  });
  let told = '';
  const onOut = (text: string) => tell(JSON.parse(text) as ServerRow);
  const ended = place.run(`sandbox start --store ${store} --json ${more}`, {
    signal: stopping.signal,
    onOut,
    onErr: text => {
      told += text;
    },
    env,
  });
  const early = ended.then(({ err }) => Promise.reject(new Error(`it ended: ${err}`)));
  const row = await Promise.race([said, early]);
  early.catch(() => undefined);
  const stop = () => {
    stopping.abort(new Error('stop'));
    return ended;
  };
  return { row, said: () => told, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

export interface Account {
  readonly name: string;
  /** It, as one of the servers serves it. */
  at(server: { readonly row: Pick<ServerRow, 'url'> }): Served;
}

export async function accountOf(
  place: World,
  store: string,
  name: string,
  more = '--data empty',
  env: Readonly<Record<string, string>> = {},
): Promise<Account> {
  const { code, out, err } = await place.run(`sandbox accounts create ${name} --store ${store} --json ${more}`, {
    env,
  });
  if (code !== 0) throw new Error(err);
  const { api_key, admin_token } = JSON.parse(out) as { api_key: string; admin_token: string };
  const secrets = { key: new Secret(api_key), adminToken: new Secret(admin_token) };
  return { name, at: ({ row: { url } }) => ({ url, ...secrets }) };
}
