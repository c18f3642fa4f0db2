/** `sandbox start --detach`: the same command in a process of its own, left alone once it answers. */
import { spawn } from 'node:child_process';
import { open, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ServerOptions, ServerRow } from '../cli/sandbox-servers.ts';
import { LOAD_SIZE, loadSize } from '../contract/sandbox/admin.ts';
import { CliError, ERROR_KINDS } from '../core/errors.ts';
import { preparePrivateFolder } from '../files/private-files.ts';
import type { AppHost } from './app-host.ts';
import { errorInLastLine } from './child-error.ts';

export interface DaemonStart {
  readonly host: AppHost;
  readonly options: ServerOptions;
  readonly running: () => Promise<ServerRow | undefined>;
  readonly notice: (text: string) => void;
}

/** ms until the first answer; a large data set is made first, and a store is looked through: so long a MB at most. */
const PATIENCE = { usual: 20_000, load: 180_000, mb: 200 } as const;
const MB = 1_000_000;
const LOOK_EVERY = 25;
/** ms without an answer, after which is passed on what the other process said. */
const LONG = 1_000;

/** @param bytes of the store that is there; 0 where there is none. */
export function patienceFor({ data, size = {} }: Pick<ServerOptions, 'data' | 'size'>, bytes: number): number {
  const more = Math.max(1, loadSize(size).transactions / LOAD_SIZE.transactions);
  return (data === 'load' ? PATIENCE.load * more : PATIENCE.usual) + (PATIENCE.mb * bytes) / MB;
}

/** Throws what the other process reported, `unreachable` when it does not answer in time. */
export async function startDaemon({
  host,
  options,
  running,
  notice,
}: DaemonStart): Promise<ServerRow & { readonly log: string }> {
  const { clock, folders, signal } = host;
  const log = join(folders.state, 'sandbox.log');
  const files = { platform: host.platform, random: host.noise, warn: () => undefined };
  for (const folder of [folders.state, folders.data]) await preparePrivateFolder(folder, files);
  const { storeFile } = await import('../sandbox/serving/embedded.ts');
  const bytes = await stat(storeFile(folders.data)).then(
    found => found.size,
    () => 0,
  );
  const output = await open(log, 'w', 0o600);
  const [node, ...program] = host.program;
  const child = spawn(node, [...program, 'sandbox', 'start', '--json', ...wordsOf(host, options)], {
    // The folder of this shell may be removed while the sandbox is there.
    cwd: folders.data,
    env: host.env,
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
    windowsHide: true,
  });
  let ended: string | undefined;
  child.once('error', error => {
    ended = error.message;
  });
  child.once('exit', (code, by) => {
    ended ??= `it ended with ${by ?? code}`;
  });
  try {
    const patience = patienceFor(options, bytes);
    const begun = clock.monotonic();
    const deadline = begun + patience;
    let passedOn = false;
    while (ended === undefined && clock.monotonic() < deadline) {
      await clock.sleep(LOOK_EVERY, signal);
      const row = await running();
      if (row?.pid === child.pid && row !== undefined) return { ...row, log };
      if (passedOn || clock.monotonic() - begun < LONG) continue;
      passedOn = true;
      const said = (await readFile(log, 'utf8')).trimEnd();
      if (ended === undefined && said !== '') notice(said);
    }
    throw await failure(log, ended ?? `it did not answer within ${Math.round(patience / 1000)} s`);
  } catch (error) {
    if (ended === undefined) child.kill();
    throw error;
  } finally {
    await output.close();
    child.unref();
  }
}

function wordsOf({ cwd }: AppHost, options: ServerOptions): readonly string[] {
  const { port, ipv6, dialect, seed, data, size, rateLimits, virtualLimits, allowRemoteWebhooks, readyFile } = options;
  const given: readonly (readonly [string, string | number | undefined])[] = [
    ['--port', port],
    ['--dialect', dialect],
    ['--seed', seed],
    ['--data', data],
    ['--cards', size?.cards],
    ['--transactions', size?.transactions],
    ['--ready-file', readyFile === undefined ? undefined : resolve(cwd, readyFile)],
  ];
  return [
    ...given.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)])),
    ...(ipv6 ? ['--ipv6'] : []),
    ...(rateLimits ? [] : ['--no-rate-limits']),
    ...(virtualLimits ? ['--virtual-limits'] : []),
    ...(allowRemoteWebhooks ? ['--allow-remote-webhooks'] : []),
  ];
}

/** The error the other process wrote as its last line. */
async function failure(log: string, why: string): Promise<CliError> {
  const { kind, message = '', hint } = errorInLastLine(await readFile(log, 'utf8')) ?? {};
  if (kind !== undefined && kind in ERROR_KINDS) {
    return new CliError(kind, { message, ...(hint !== undefined && { hint }), outcome: 'not_sent' });
  }
  return new CliError('unreachable', {
    message: `the sandbox did not start: ${why}`,
    notes: [`Its output is in ${log}.`],
    hint: 'cardwright sandbox start',
    outcome: 'not_sent',
  });
}
