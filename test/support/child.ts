/** Runs a piece of our code in processes of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..', '..');

export interface Program extends AsyncDisposable {
  /** What Node runs, for whoever starts it another way. */
  readonly file: string;
  /** Our code in there, as text. */
  readonly bundle: string;
  /** Starts one; its standard output can be read, the rest goes to ours. */
  start(...words: readonly string[]): ChildProcess;
  /** Runs one to its end; resolves to what it wrote, rejects when it failed. */
  run(...words: readonly string[]): Promise<string>;
  /** The same, and keeps what V8 compiled meanwhile: most of what a short life costs, for those that come after it. */
  warm(...words: readonly string[]): Promise<string>;
}

/** Opens the bundle beside it with the code that `warm` kept; V8 compiles what is not there. */
const LOADER = `
const { readFileSync, writeFileSync } = require('node:fs');
const { Script } = require('node:vm');
const filename = __dirname + '/bundle.cjs', codeFile = __dirname + '/code';
let cachedData;
try { cachedData = readFileSync(codeFile); } catch {}
const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData });
if (script.cachedDataRejected) throw new Error('the kept code is of another bundle');
if (process.env.KEEP_COMPILED) {
  // Code compiled under other flags than those of a fresh process is refused there.
  require('node:v8').setFlagsFromString = () => undefined;
  process.on('exit', () => writeFileSync(codeFile, script.createCachedData()));
}
script.runInThisContext()(require, filename);
`;

/** Bundles `source`, which may import from `src/` with paths from the root of the project: `./src/core/errors.ts`. */
export async function program(source: string): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-program-'));
  const [file, bundle] = [join(folder, 'program.cjs'), join(folder, 'bundle.cjs')];
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
    // A script of `vm` imports nothing; packages that stay outside are required.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'FILE_URL' },
    banner: { js: "(function(require,__filename){const FILE_URL=require('node:url').pathToFileURL(__filename).href;" },
    footer: { js: '})' },
    external: ['@photostructure/sqlite'],
    outfile: bundle,
    logLevel: 'error',
  });
  await writeFile(file, LOADER);
  const begin = (words: readonly string[], env = process.env) =>
    spawn(process.execPath, [file, ...words], { stdio: ['ignore', 'pipe', 'inherit'], env });
  return {
    file,
    bundle,
    start: (...words) => begin(words),
    run: (...words) => finished(begin(words)),
    warm: (...words) => finished(begin(words, { ...process.env, KEEP_COMPILED: '1' })),
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
