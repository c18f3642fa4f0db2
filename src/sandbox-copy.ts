/** What a sandbox holds into one file of this machine: of the one a command steers, and of that of `sandbox exec`. */
import { resolve } from 'node:path';
import type { Surroundings } from './compose.ts';
import type { Secret } from './secret.ts';

export interface ControlPlace {
  /** Base address of the control surface. */
  readonly baseUrl: string;
  readonly socketPath?: string | undefined;
  readonly token: Secret;
}

/** Resolves to the bytes written. Throws `usage` for a file of that name which is no export. */
export async function exportFrom(
  { cwd, platform, noise: random, signal }: Surroundings,
  place: ControlPlace,
  path: string,
): Promise<number> {
  const { exportedFrom } = await import('./client/sandbox-file.ts');
  const { writeBeside } = await import('./files/write-beside.ts');
  const { SNAPSHOT_MARK: mark } = await import('./contract/sandbox-snapshots.ts');
  const { baseUrl, socketPath, token } = place;
  const pieces = exportedFrom({ baseUrl, socketPath, token, signal });
  return writeBeside(resolve(cwd, path), pieces, { random, platform, name: path, mark });
}
