/** `cardwright/sandbox` from the packed tarball: as TypeScript sees it, as Vitest runs it, from both kinds of modules. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/contract/sandbox/faults.ts';
import type { SandboxDialect } from '../../src/sandbox/serving/library-types.ts';
import { ROOT } from './built.ts';
import { pack } from './tarball.ts';

const execute = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-library-'));
  const { path } = await pack(folder);
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  await execute('tar', ['-xzf', path, '-C', modules]);
  await execute('mv', [join(modules, 'package'), join(modules, 'cardwright')]);
  for (const name of ['vitest', 'typescript', '@types', '@photostructure']) {
    await symlink(join(ROOT, 'node_modules', name), join(modules, name), 'dir');
  }
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Resolves to standard output; rejects with both streams. */
async function run(words: readonly string[]): Promise<string> {
  const ours = Object.entries(process.env).filter(([name]) => !/^(?:CARDWRIGHT_|NODE_|VITEST|CI$)/.test(name));
  const ran = execute(process.execPath, words, { cwd: folder, env: Object.fromEntries(ours) });
  const { stdout } = await ran.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(error.stdout + error.stderr);
  });
  return stdout;
}

async function readmeExample(): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const found = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = '']) => text);
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

const typed = (files: readonly string[], more: readonly string[]) =>
  run([
    join(folder, 'node_modules', 'typescript', 'bin', 'tsc'),
    ...['--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'],
    ...more,
    ...files,
  ]);

describe('the README example', () => {
  it('is run by Vitest and accepted by TypeScript', { timeout: 180_000 }, async () => {
    await writeFile(join(folder, 'lunch.test.ts'), await readmeExample());
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    expect(await run([vitest, 'run', '--root', folder])).toMatch(/1 passed/);
    const node = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
    // Vitest's own declarations are not ours to check.
    expect(await typed(['lunch.test.ts'], [...node, '--skipLibCheck', 'true'])).toBe('');
  });
});

describe('the types', () => {
  const GOOD = `import { startSandbox, SandboxRefusal, type SandboxOptions } from 'cardwright/sandbox';
const options: SandboxOptions = { store: '/tmp/x', dialect: 'keys-ignored', clock: { mode: 'frozen', at: '2026-01-01' } };
export async function use(): Promise<string> {
  HAVE sandbox = await startSandbox(options);
  const { now } = await sandbox.admin.request<{ now: string }>('GET', '/clock');
  for (const { kind, due_at } of await sandbox.advance('1d')) console.log(kind.length, due_at.length);
  try { await sandbox.deliver(); } catch (error) { if (error instanceof SandboxRefusal) return error.requestId; }
  return sandbox.key + sandbox.admin.token + now;
}
`;
  it.each([
    ['a bundler', 'const', ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom']],
    ['Node', 'await using', ['--module', 'nodenext', '--types', 'node', '--lib', 'es2023,esnext.disposable']],
  ])('stand alone for %s', { timeout: 180_000 }, async (_name, have, more) => {
    await writeFile(join(folder, 'use.ts'), GOOD.replace('HAVE', have));
    expect(await typed(['use.ts'], ['--target', 'es2022', ...more])).toBe('');
  });

  it('refuse what there is not', { timeout: 180_000 }, async () => {
    const wrong = `import { startSandbox } from 'cardwright/sandbox';
export const a = startSandbox({ seeds: 1 });
export const b = startSandbox({ dialect: 'other' });
`;
    await writeFile(join(folder, 'wrong.ts'), wrong);
    const told = await typed(['wrong.ts'], ['--module', 'nodenext', '--types', 'node']).catch((error: Error) => error);
    expect(String(told)).toMatch(/wrong\.ts\(2,33\): .*'seeds'/);
    expect(String(told)).toMatch(/wrong\.ts\(3,33\): .*'SandboxDialect/);
  });

  it('name every dialect there is', () => {
    const named: readonly SandboxDialect[] = DIALECT_NAMES;
    expect(named).toContain('default');
  });
});

describe('the module', () => {
  const WORK = `
    const sandbox = await startSandbox({ wallet: 5, seed: 3, timers: 'on-request', deliveries: 'on-deliver' });
    const refused = await sandbox.admin.request('POST', '/simulate/refunds', { card_id: 'card_x', amount: 1 }).catch(e => e);
    const wallet = await (await fetch(sandbox.url + '/wallet', { headers: { authorization: 'Bearer ' + sandbox.key } })).json();
    const told = { balance: wallet.balance, refused: [refused.name, refused.status, refused.error] };
    const taken = await startSandbox({ port: Number(new URL(sandbox.url).port) }).catch(e => e);
    await sandbox.stop();
    await sandbox.stop();
    console.log(JSON.stringify({ ...told, taken: taken.kind }));
  `;
  const SAYS = { balance: 5, refused: ['SandboxRefusal', 404, 'not_found'], taken: 'unreachable' };

  it.each([
    ['import', 'use.mjs', `import { startSandbox } from 'cardwright/sandbox';${WORK}`],
    ['require', 'use.cjs', `const { startSandbox } = require('cardwright/sandbox');(async () => {${WORK}})();`],
  ])('comes by %s, and lets the process end after stop', async (_how, name, source) => {
    await writeFile(join(folder, name), source);
    expect(JSON.parse(await run([join(folder, name)]))).toEqual(SAYS);
  });
});
