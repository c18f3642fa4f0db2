/** A sandbox with one mistake in it: bundled from the sources, with one piece of text exchanged in one file. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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

export interface Mutant extends AsyncDisposable {
  readonly start: typeof startSandbox;
}

const source = join(import.meta.dirname, '..', '..', 'src', 'sandbox');

/** Throws when the text does not stand in the file exactly once: then the mutant would prove nothing. */
export async function mutantWith({ name, file, is, becomes }: Mistake): Promise<Mutant> {
  const path = join(source, file);
  const text = await readFile(path, 'utf8');
  const found = text.split(is).length - 1;
  if (found !== 1) throw new Error(`${name}: the text stands ${found} times in ${file}`);
  return bundled(
    path,
    text.replace(is, () => becomes),
  );
}

/** The sandbox as it is, by the same way. */
export async function unchanged(): Promise<Mutant> {
  const path = join(source, 'serving', 'start.ts');
  return bundled(path, await readFile(path, 'utf8'));
}

async function bundled(path: string, contents: string): Promise<Mutant> {
  const { outputFiles } = await build({
    entryPoints: [join(source, 'serving', 'start.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['@photostructure/sqlite'],
    // The engine is looked for from where the sources are.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(source, 'store', 'open.ts')).href) },
    plugins: [
      {
        name: 'mistake',
        setup: ({ onLoad }) =>
          onLoad({ filter: /\.ts$/ }, args => (args.path === path ? { contents, loader: 'ts' } : null)),
      },
    ],
  });
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-mutant-'));
  const out = join(folder, 'sandbox.mjs');
  await writeFile(out, outputFiles[0]?.text ?? '');
  const { startSandbox: start } = (await import(/* @vite-ignore */ pathToFileURL(out).href)) as Mutant & {
    startSandbox: typeof startSandbox;
  };
  return { start, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
