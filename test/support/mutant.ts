/** A sandbox with one mistake in it: bundled from the sources, with one piece of text exchanged in one file. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { startSandbox } from '../../src/sandbox/serving/start.ts';

export interface Mistake {
  readonly name: string;
  /** Below `src/sandbox`. */
  readonly file: string;
  readonly is: string;
  readonly becomes: string;
}

/** What a file exports; its bundle is removed in the end. */
export type Mutant<Module> = { readonly module: Module } & AsyncDisposable;

const source = join(import.meta.dirname, '..', '..', 'src', 'sandbox');

export const SANDBOX = 'serving/start.ts';
export type Sandbox = { readonly startSandbox: typeof startSandbox };

/**
 * What the file `entry` below `src/sandbox` exports, with a mistake in it or in a file that it imports; without one it is
 * as it is, by the same way. Throws when the text does not stand in its file exactly once: then the mutant would prove
 * nothing.
 */
export async function mutantOf<Module>(entry: string, mistake?: Mistake): Promise<Mutant<Module>> {
  const changed = mistake && { path: join(source, mistake.file), contents: await withMistake(mistake) };
  const { outputFiles } = await build({
    entryPoints: [join(source, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['@photostructure/sqlite'],
    // The engine is looked for from where the sources are.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(source, 'store', 'sqlite', 'open.ts')).href) },
    plugins: [
      {
        name: 'mistake',
        setup({ onLoad, onResolve }) {
          // This file alone: every other one that is asked about costs a way to the builder and back.
          if (changed !== undefined)
            onLoad({ filter: endingIn(changed.path) }, () => ({ contents: changed.contents, loader: 'ts' }));
          // The bundle lies where no package is found.
          onResolve({ filter: /^pg\// }, ({ path }) => ({
            path: pathToFileURL(createRequire(import.meta.url).resolve(path)).href,
            external: true,
          }));
        },
      },
    ],
  });
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-mutant-'));
  const out = join(folder, 'sandbox.mjs');
  await writeFile(out, outputFiles[0]?.text ?? '');
  const module = (await import(/* @vite-ignore */ pathToFileURL(out).href)) as Module;
  return { module, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

const endingIn = (path: string) => new RegExp(`${path.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}$`);

async function withMistake({ name, file, is, becomes }: Mistake): Promise<string> {
  const text = await readFile(join(source, file), 'utf8');
  const found = text.split(is).length - 1;
  if (found !== 1) throw new Error(`${name}: the text stands ${found} times in ${file}`);
  return text.replace(is, () => becomes);
}
