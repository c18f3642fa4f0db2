/** `cardwright/sandbox` and `cardwright/client` from the packed tarball: as TypeScript sees them, as Vitest runs them, from both kinds of modules. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstOf } from '../support/first-of.ts';
import { isWhole } from '../support/whole.ts';
import { ROOT } from './built.ts';
import { unpack } from './tarball.ts';

const execute = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-library-'));
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  await unpack(modules);
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

async function exampleOf(page: string): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const found = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = '']) => text);
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

describe('the example of', () => {
  it.runIf(isWhole)('each page is accepted by TypeScript, and run by Vitest', { timeout: 180_000 }, async () => {
    const pages = ['README.md', join('docs', 'guide', 'programs.md'), join('docs', 'testing.md')];
    const names = pages.map(page => `${basename(page, '.md')}.test.ts`);
    for (const [at, page] of pages.entries()) await writeFile(join(folder, names[at] ?? ''), await exampleOf(page));
    const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
    const told = await run([vitest, 'run', ...names, '--root', folder]);
    expect(told).toMatch(/Test Files .*\D3 passed/);
    expect(told).toMatch(/Tests .*\D6 passed/);
    const node = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
    // Vitest's own declarations are not ours to check.
    expect(await typed(names, [...node, '--skipLibCheck', 'true'])).toBe('');
  });
});

const USE = `import { CardwrightError, createClient, startSandbox, verifyWebhook } from 'cardwright/client';
import { createHmac } from 'node:crypto';

const sandbox = await startSandbox({ wallet: 100, ids: 'counted' });
const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.key });
try {
  const card = await client.send('cards.create', { bin_id: 'bin_1', amount: 25.5 });
  const said: string[] = [card.id, card.status, String(card.balance)];
  const details = await client.send('cards.details', { card_id: card.id });
  said.push(String(/^\\d{16}$/.test(details.number)));
  for await (const { data } of client.pages('cards.list', { status: 'active' })) said.push(String(data.length));
  try {
    await client.send('cards.fund', { card_id: card.id, amount: 5000 });
  } catch (error) {
    if (!(error instanceof CardwrightError)) throw error;
    said.push(error.kind, String(error.outcome), String(error.httpStatus), error.service?.error ?? '');
  }
  for (const amount of [1.234, Number.NaN]) {
    await client.send('cards.fund', { card_id: card.id, amount }).catch((error: CardwrightError) => said.push(error.kind));
  }
  const payload = '{"id":"evt_1"}';
  const signature = createHmac('sha256', 'secret').update(payload).digest('hex');
  const good = verifyWebhook({ payload, signature, secrets: ['old', 'secret'] });
  said.push(good.verified ? String(good.secret) : 'wrong');
  const bad = verifyWebhook({ payload: payload + '\\n', signature, secrets: ['secret'] });
  said.push(bad.verified ? 'wrong' : (bad.mistakes[0]?.mistake ?? 'none'));
  console.log(said.join(' '));
} finally {
  await client.close();
  await sandbox.stop();
}
`;

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
  const NODE = ['--module', 'nodenext', '--types', 'node', '--lib', 'es2023,esnext.disposable', '--target', 'es2022'];

  it.runIf(isWhole)('stand alone for a bundler', { timeout: 180_000 }, async () => {
    await writeFile(join(folder, 'use.ts'), GOOD.replace('HAVE', 'const'));
    const bundler = [
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--lib',
      'es2022,dom',
      '--target',
      'es2022',
    ];
    expect(await typed(['use.ts'], bundler)).toBe('');
  });

  it('stand alone for Node, have the methods of the rows, and refuse what there is not', {
    timeout: 180_000,
  }, async () => {
    await writeFile(join(folder, 'use.ts'), GOOD.replace('HAVE', 'await using'));
    const use = `import { startSandbox, type SandboxFaultAction, type SandboxSimulated } from 'cardwright/sandbox';
export async function use(card_id: string, code: string | undefined): Promise<readonly string[]> {
await using sandbox = await startSandbox({ wallet: 5 });
const bought: SandboxSimulated = await sandbox.simulate.authorize({ card_id, amount: 12.5, three_ds: 'challenge' });
await sandbox.simulate.answer({ challenge_id: bought.challenge_id ?? '', otp: code });
await sandbox.simulate.forcePost({ card_id, amount: 1 });
const action: SandboxFaultAction = { kind: 'status', code: 503, retry_after: '2' };
const { id } = await sandbox.faults.add({ match: { operation: 'cards.create', nth: 2 }, action });
await sandbox.faults.remove({ fault_id: id });
const { data, meta } = await sandbox.deliveries.list({ state: 'failed' });
const { fired } = await sandbox.clock.advance({ by: '1d' });
await sandbox.reset();
return [String(meta.total), ...data.flatMap(each => each.attempts ?? []).map(each => each.at), ...fired.map(each => each.kind)];
}
`;
    await writeFile(join(folder, 'methods.ts'), use);
    const options = `import { startSandbox } from 'cardwright/sandbox';
export const a = startSandbox({ seeds: 1 });
export const b = startSandbox({ dialect: 'other' });
`;
    await writeFile(join(folder, 'options.ts'), options);
    const wrong = [
      "simulate.authorize({ card_id: 'card_1' })",
      "simulate.authorize({ card_id: 'card_1', amount: '5' })",
      "simulate.authorize({ card_id: 'card_1', amount: 5, force_decline: 'because' })",
      "faults.add({ action: { kind: 'truncate' } })",
      "faults.add({ action: { kind: 'explode' } })",
      "faults.add({ match: { operation: 'cards.explode' }, action: { kind: 'reset' } })",
      'clock.leap()',
      'stop({ now: true })',
    ];
    const lines = wrong.map(each => `void sandbox.${each};\n`);
    const head = "import type { RunningSandbox } from 'cardwright/sandbox';\ndeclare const sandbox: RunningSandbox;\n";
    await writeFile(join(folder, 'wrong.ts'), head + lines.join(''));
    await writeFile(join(folder, 'client.ts'), USE);
    const refused = `import { createClient } from 'cardwright/client';
const client = createClient({ baseUrl: 'https://api.example.com/v1', apiKey: 'sk_test_0123456789' });
await client.send('cards.explode', {});
await client.send('cards.create', { bin_id: 'bin_1' });
await client.send('cards.create', { bin_id: 'bin_1', amount: '25' });
`;
    await writeFile(join(folder, 'refused.ts'), refused);
    // Of all files at once: it takes a second of the processor each time.
    const files = ['use.ts', 'methods.ts', 'options.ts', 'wrong.ts', 'client.ts', 'refused.ts'];
    const told = String(await typed(files, NODE).catch((error: Error) => error));
    expect(told).toMatch(/options\.ts\(2,33\): .*'seeds'/);
    expect(told).toMatch(/options\.ts\(3,33\): .*'SandboxDialect/);
    expect(told.match(/(?<=wrong\.ts\()\d+/g)).toEqual(wrong.map((_, index) => String(index + 3)));
    expect(told.match(/(?<=refused\.ts\()\d+/g)).toEqual(['3', '4', '5']);
    expect(told.match(/error TS\d+/g)).toHaveLength(2 + wrong.length + 3);
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

  it.each(
    firstOf(
      [
        ['import', 'use.mjs', `import { startSandbox } from 'cardwright/sandbox';${WORK}`],
        ['require', 'use.cjs', `const { startSandbox } = require('cardwright/sandbox');(async () => {${WORK}})();`],
      ],
      { isWhole },
    ),
  )('comes by %s, and lets the process end after stop', async (_how, name, source) => {
    await writeFile(join(folder, name), source);
    expect(JSON.parse(await run([join(folder, name)]))).toEqual(SAYS);
  });
});

describe('the client', () => {
  it('takes no live key unless told, and no address of a stranger in the clear', async () => {
    const tries = `const { createClient } = require('cardwright/client');
for (const [baseUrl, apiKey, live] of [
  ['https://api.example.com/v1', 'sk_live_0123456789', false],
  ['http://127.0.0.1:1/v1', 'sk_live_0123456789', true],
  ['http://example.com/v1', 'sk_test_0123456789', false],
  ['https://api.example.com/v1', 'nonsense', false],
]) { try { createClient({ baseUrl, apiKey, live }); console.log('made'); } catch (error) { console.log(error.name, error.kind); } }
createClient({ baseUrl: 'https://api.example.com/v1', apiKey: 'sk_live_0123456789', live: true });
`;
    await writeFile(join(folder, 'tries.cjs'), tries);
    const lines = ['guarded', 'guarded', 'usage', 'usage'].map(kind => `CardwrightError ${kind}\n`);
    expect(await run(['tries.cjs'])).toBe(lines.join(''));
  });
});
