/** Runs a piece of our code in processes of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..');

export interface Program extends AsyncDisposable {
  /** What Node runs, for whoever starts it another way. */
  readonly file: string;
  /** Starts one; its standard output can be read, the rest goes to ours. */
  start(...words: readonly string[]): ChildProcess;
  /** Runs one to its end; resolves to what it wrote, rejects when it failed. */
  run(...words: readonly string[]): Promise<string>;
}

/** Bundles `source`, which may import from `src/` with paths from the root of the project: `./src/core/errors.ts`. */
export async function program(source: string): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-program-'));
  const file = join(folder, 'program.cjs');
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  await build({
    stdin: { contents: ended(source), resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    charset: 'ascii',
    minifyWhitespace: true,
    // Of an error that nobody takes, Node prints the line it was thrown in.
    lineLimit: 200,
    legalComments: 'none',
    // Packages that stay outside are required.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'FILE_URL' },
    banner: { js: "const FILE_URL=require('node:url').pathToFileURL(__filename).href;" },
    external: ['@photostructure/sqlite'],
    outfile: file,
    logLevel: 'error',
  });
  const begin = (words: readonly string[]) =>
    spawn(process.execPath, [file, ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    file,
    start: (...words) => begin(words),
    run: (...words) => finished(begin(words)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A module as a script, with Node's rule for modules: one that still waits when nothing more can come ends with 13. */
function ended(source: string): string {
  const imports = /^\s*import\s[^;(]+;$/gm;
  const body = source.replace(imports, '');
  return `${(source.match(imports) ?? []).join('\n')}
    let through = false;
    process.on('exit', code => { if (!through && code === 0) process.exitCode = 13; });
    (async () => {${body}})().then(() => { through = true; });`;
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
