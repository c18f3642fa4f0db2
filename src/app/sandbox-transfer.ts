/** Writes what a sandbox holds to a file, and reads it back: the sandbox that a command controls, or that of `sandbox exec`. */
import { open, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { InputRows, Restored } from '../cli/context.ts';
import { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { AppHost } from './app-host.ts';
import { forgetSandbox } from './id-cache.ts';

export interface ControlAddress {
  /** Base address of the control surface. */
  readonly baseUrl: string;
  readonly socketPath?: string | undefined;
  readonly token: Secret;
  /** Certificates that TLS trusts, PEM. */
  readonly authorities?: readonly string[] | undefined;
}

/** Resolves to the bytes written. Throws `guarded` for a file of that name which is no export, `usage` where none can be made. */
export async function exportFrom(
  { cwd, platform, noise: random, signal, clock }: AppHost,
  place: ControlAddress,
  path: string,
): Promise<number> {
  refuseStream(path);
  const { exportedFrom } = await import('../client/sandbox-file.ts');
  const { writeAtomically } = await import('../files/write-atomically.ts');
  const { SNAPSHOT_MARK } = await import('../contract/sandbox/snapshots.ts');
  const pieces = exportedFrom({ ...place, signal, clock });
  return writeAtomically(resolve(cwd, path), pieces, { random, platform, name: path, mark: SNAPSHOT_MARK });
}

/** Throws what `exportFrom` would: `guarded` for a file that is no export, `usage` where none can be made. */
export async function checkTarget({ cwd, platform, noise: random }: AppHost, path: string): Promise<void> {
  refuseStream(path);
  const { checkWritable } = await import('../files/write-atomically.ts');
  const { SNAPSHOT_MARK } = await import('../contract/sandbox/snapshots.ts');
  await checkWritable(resolve(cwd, path), { random, platform, name: path, mark: SNAPSHOT_MARK });
}

/** `import -` reads a stream; an export is written whole or not at all, and a file called - would surprise. */
function refuseStream(path: string): void {
  if (path !== '-') return;
  throw new CliError('usage', {
    message: 'an export needs a file and cannot go to standard output; ./- is a file of that name',
    outcome: 'not_sent',
  });
}

/** Replaces everything that the sandbox holds with the content of an export. Throws `usage` when it cannot be read. */
export async function importFrom(host: AppHost, place: ControlAddress, input: InputRows): Promise<Restored> {
  const { importInto } = await import('../client/sandbox-file.ts');
  const restored = await importInto({ ...place, signal: host.signal }, input.pieces);
  if (place.socketPath !== undefined) await forgetSandbox(host);
  return restored as Restored;
}

/** Bytes of the line that says what an export holds, at most. */
const LONGEST_MANIFEST = 65_536;

/** Webhook subscriptions that a file says that it holds. A pipe is not looked into: what was read of it would be gone. */
export async function subscriptionsIn({ cwd }: AppHost, path: string): Promise<number> {
  try {
    if (path === '-' || !(await stat(resolve(cwd, path))).isFile()) return 0;
    await using file = await open(resolve(cwd, path), 'r');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_MANIFEST), 0, LONGEST_MANIFEST, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    const { tables } = JSON.parse(line) as {
      readonly tables?: readonly { readonly name: string; readonly rows: number }[];
    };
    const rows = tables?.find(({ name }) => name === 'webhooks')?.rows;
    return Number.isSafeInteger(rows) ? Number(rows) : 0;
  } catch {
    // The import itself says what is wrong with it.
    return 0;
  }
}

/** Moves the files of the store aside without reading them. Resolves to the new file names. Throws `guarded` while a started sandbox serves it. */
export async function moveStoreAway(host: AppHost): Promise<readonly string[]> {
  const { resetHard } = await import('../sandbox/serving/reset-hard.ts');
  const moved = await resetHard(host);
  await forgetSandbox(host);
  return moved;
}
