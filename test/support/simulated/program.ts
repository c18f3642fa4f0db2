/**
 * The program as one text, with the modules of the platform exchanged for simulated ones, and with a planted mistake where one
 * is asked for. It is built from the sources, and driven through its front alone: `compose` with a command line, and the
 * library's `createClient`.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import type { AppHost } from '../../../src/app/process-host.ts';
import { globals, modules } from './platform.ts';

/** A text that stands exactly once in a file of `src`, and what it becomes. */
export type Exchange = readonly [file: string, is: string, becomes: string];

const root = import.meta.dirname.slice(0, import.meta.dirname.lastIndexOf('/test/'));

export interface Program {
  /** Runs one command line to its exit code. */
  run(host: AppHost): Promise<number>;
  /** Why a run ends that is stopped by Ctrl-C. */
  interrupted(): Error;
  /** `cardwright/client` in a process of its own. */
  library(): Promise<{ readonly createClient: (options: object) => LibraryClient }>;
}

export interface LibraryClient {
  send(operation: string, input: object, calling?: object): Promise<Readonly<Record<string, unknown>>>;
  close(): Promise<void>;
}

const ENTRY = `
export const load = async () => {
  const [{ compose }, { run, stoppedBy }] = await Promise.all([import('./src/compose.ts'), import('./src/cli/run.ts')]);
  return { run: host => run(compose(host, '0.0.0-simulated')), interrupted: () => stoppedBy('interrupted') };
};
export const library = () => import('./src/library/client.ts');
`;

/** Numbers of the mistakes that are made now. */
export const planted = new Set<number>();

const plain = (name: string) => name.replaceAll('.', '_');
/** What the bundle knows as `simulated`. */
const simulated: Readonly<Record<string, unknown>> = {
  modules,
  planted,
  ...Object.fromEntries(Object.entries(globals).map(([name, value]) => [plain(name), value])),
};

/**
 * Its text, with what each mistake exchanges. Where that says `WRONG`, it is made while its number is in `planted`. Throws where a
 * text to exchange does not stand in its file exactly once: then it would prove nothing.
 */
export async function buildProgram(mistakes: readonly (readonly Exchange[])[] = []): Promise<string> {
  const changed = new Map<string, string>();
  for (const [n, exchanges] of mistakes.entries()) {
    for (const [file, is, becomes] of exchanges) {
      const text = changed.get(file) ?? (await readFile(join(root, 'src', file), 'utf8'));
      const found = text.split(is).length - 1;
      if (found !== 1) throw new Error(`the text to exchange stands ${found} times in src/${file}: ${is}`);
      const wrong = becomes.replaceAll('WRONG', `planted.has(${n})`);
      changed.set(
        file,
        text.replace(is, () => wrong),
      );
    }
  }
  const { outputFiles } = await build({
    stdin: { contents: ENTRY, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    supported: { 'dynamic-import': false },
    external: ['@photostructure/sqlite', '@napi-rs/keyring', 'pg-native', 'playwright-core'],
    define: {
      ...Object.fromEntries([...Object.keys(globals), 'planted'].map(name => [name, `simulated.${plain(name)}`])),
      CARDWRIGHT_VERSION: '"0.0.0-simulated"',
      // The engine is looked for from where the sources are.
      'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'src', 'engine', 'open.ts')).href),
    },
    logLevel: 'silent',
    plugins: [
      {
        name: 'simulated',
        setup({ onResolve, onLoad }) {
          const names = Object.keys(modules).map(name => name.replace('node:', '').replace(/[/.]/g, '\\$&'));
          onResolve({ filter: new RegExp(`^(?:node:)?(?:${names.join('|')})$`) }, ({ path }) => ({
            path: path in modules ? path : `node:${path}`,
            namespace: 'simulated',
          }));
          onLoad({ filter: /.*/, namespace: 'simulated' }, ({ path }) => ({
            contents: `module.exports = simulated.modules[${JSON.stringify(path)}]`,
          }));
          onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
            const contents = changed.get(relative(join(root, 'src'), path));
            return contents === undefined ? undefined : { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  const text = outputFiles[0]?.text ?? '';
  const parts = [...text.matchAll(/^var (init_\w+) = __esm\(\{\n {2}"src\//gm)].map(([, part]) => `${part}();`);
  return `${text}\nmodule.exports.loadAll = () => {${parts.join('')}};`;
}

interface Loading extends Pick<Program, 'library'> {
  load(): Promise<Omit<Program, 'library'>>;
  loadAll(): void;
}

/** Loads a text that was built. */
export async function openProgram(text: string): Promise<Program> {
  const evaluate = compileFunction(text, ['simulated', 'require', 'module', 'exports'], { filename: 'simulated.cjs' });
  const require = createRequire(import.meta.url);
  const module = { exports: {} as Loading };
  evaluate(simulated, require, module, module.exports);
  const loaded = await module.exports.load();
  // A part that is loaded only when it is needed would draw from the chance of the process that needs it first.
  module.exports.loadAll();
  return { ...loaded, library: module.exports.library };
}
