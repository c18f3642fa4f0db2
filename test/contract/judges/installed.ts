/** Where the judges are, and what they are asked about. `npm ci` in this folder installs them. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument, sandboxOpenApiDocument } from '../../../src/contract/openapi/document.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

export const folder = import.meta.dirname;

/** Loads a package of this folder; the product has none of them. */
export const load = createRequire(join(folder, 'package.json'));

/** Programs of the judges. They tell nobody that they run, and look for no newer versions of themselves. */
const PROGRAMS = {
  redocly: '@redocly/cli/bin/cli.js',
  spectral: '@stoplight/spectral-cli/dist/index.js',
  prism: '@stoplight/prism-cli/dist/index.js',
} as const;
const QUIET = {
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  SCARF_ANALYTICS: 'false',
  DO_NOT_TRACK: '1',
  NO_COLOR: '1',
};

export type Document = Readonly<Record<string, unknown>>;

export const DOCUMENTS = { service: openApiDocument(), sandbox: sandboxOpenApiDocument('0.0.0-test') } as const;

/** Writes a document into a folder of its own, which goes with it. */
export async function written(document: Document): Promise<{ readonly path: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  const path = join(folder.path, 'openapi.json');
  await writeFile(path, JSON.stringify(document, undefined, 1));
  return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

export interface Verdict {
  readonly code: number | null;
  readonly text: string;
}

export function startJudge(name: keyof typeof PROGRAMS, args: readonly string[]) {
  return spawn(process.execPath, [join(folder, 'node_modules', PROGRAMS[name]), ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: tmpdir(), ...QUIET },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a judge to its end. */
export function verdictOf(name: keyof typeof PROGRAMS, args: readonly string[]): Promise<Verdict> {
  const judge = startJudge(name, args);
  let text = '';
  for (const stream of [judge.stdout, judge.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  return new Promise((resolve, reject) => {
    judge.once('error', reject);
    judge.once('close', code => resolve({ code, text }));
  });
}
