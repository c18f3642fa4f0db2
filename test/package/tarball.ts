/** What `npm pack` makes of the built program, without running any of our scripts: once a run, for it takes two seconds. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { onceARun } from '../support/once-a-run.ts';
import { ROOT } from './built.ts';

const execute = promisify(execFile);

export interface Packed {
  /** Path of the tarball. */
  readonly path: string;
  readonly files: readonly { readonly path: string; readonly mode: number; readonly size: number }[];
}

/** The tarball of this run, to be read and left as it is. */
export function packed(): Promise<Packed> {
  const folder = process.env['TEST_PACKAGE_FOLDER'];
  if (folder === undefined) throw new Error('scripts/test-package.mjs is no part of this configuration');
  return onceARun(folder, 'packed', () => pack(folder));
}

/** Unpacks it as `package` in a folder that is there. */
export async function unpack(folder: string): Promise<void> {
  await execute('tar', ['-xzf', (await packed()).path, '-C', folder]);
}

/** The folder also holds npm's cache. */
async function pack(folder: string): Promise<Packed> {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await execute('npm', words, {
    cwd: ROOT,
    env: { ...process.env, npm_config_cache: join(folder, 'npm-cache'), npm_config_loglevel: 'silent' },
  });
  const [made] = JSON.parse(stdout) as { filename: string; files: Packed['files'] }[];
  if (made === undefined) throw new Error('npm packed nothing');
  return { path: join(folder, made.filename), files: made.files };
}
