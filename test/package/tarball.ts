/** What `npm pack` makes of the built program, without running any of our scripts. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { ROOT } from './built.ts';

export interface Packed {
  /** Path of the tarball. */
  readonly path: string;
  readonly files: readonly { readonly path: string; readonly mode: number; readonly size: number }[];
}

/** Packs into a folder, which also holds npm's cache. */
export async function pack(folder: string): Promise<Packed> {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', words, {
    cwd: ROOT,
    env: { ...process.env, npm_config_cache: join(folder, 'npm-cache'), npm_config_loglevel: 'silent' },
  });
  const [packed] = JSON.parse(stdout) as { filename: string; files: Packed['files'] }[];
  if (packed === undefined) throw new Error('npm packed nothing');
  return { path: join(folder, packed.filename), files: packed.files };
}
