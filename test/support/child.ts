/** Runs a piece of our code in processes of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..');

export interface Program extends AsyncDisposable {
  /** The bundle, for whoever starts it another way. */
  readonly file: string;
  /** Starts one; its standard output can be read, the rest goes to ours. */
  start(...words: readonly string[]): ChildProcess;
  /** Runs one to its end; resolves to what it wrote, rejects when it failed. */
  run(...words: readonly string[]): Promise<string>;
}

/** Bundles `source`, which may import from `src/` with paths from the root of the project: `./src/errors.ts`. */
export async function program(source: string): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-program-'));
  const outfile = join(folder, 'program.mjs');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  await build({
    stdin: { contents: source, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    // CommonJS packages inside an ESM bundle ask for Node's own modules by require.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    external: ['@photostructure/sqlite'],
    outfile,
    logLevel: 'error',
  });
  const start = (...words: readonly string[]) =>
    spawn(process.execPath, [outfile, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    file: outfile,
    start,
    run: (...words) => finished(start(...words)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function finished(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let told = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      told += part;
    });
    child.on('error', reject);
    child.on('close', code => (code === 0 ? resolve(told) : reject(new Error(`the process ended with ${code}`))));
  });
}
