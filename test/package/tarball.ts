/** What `npm pack` makes of the built program, without running any of our scripts: once a run, for it takes two seconds. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as rest } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ROOT } from './built.ts';

/**
 * What `make` resolved to in the first process that asked; others wait for it. It is kept as JSON in a folder of the run,
 * which is there. Rejects in all of them with what `make` rejected with.
 */
async function onceARun<T extends object>(folder: string, name: string, make: () => Promise<T>): Promise<T> {
  const told = join(folder, `${name}.json`);
  const isFirst = await mkdir(join(folder, `${name}-begun`)).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const made = await make().then(
      result => ({ result }),
      (error: unknown) => ({ error: String(error) }),
    );
    await writeFile(`${told}.part`, JSON.stringify(made));
    await rename(`${told}.part`, told);
  }
  for (;;) {
    const text = await readFile(told, 'utf8').catch(() => undefined);
    if (text !== undefined) {
      const { result, error } = JSON.parse(text) as { readonly result?: T; readonly error?: string };
      if (result === undefined) throw new Error(error);
      return result;
    }
    await rest(20);
  }
}

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
