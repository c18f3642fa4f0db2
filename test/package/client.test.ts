/** `cardwright/client` from the packed tarball: as TypeScript sees it, and as a program runs it against the sandbox. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROOT } from './built.ts';
import { unpack } from './tarball.ts';

const execute = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-client-'));
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  await unpack(modules);
  await execute('mv', [join(modules, 'package'), join(modules, 'cardwright')]);
  for (const name of ['typescript', '@types', '@photostructure']) {
    await symlink(join(ROOT, 'node_modules', name), join(modules, name), 'dir');
  }
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(words: readonly string[]): Promise<string> {
  const ours = Object.entries(process.env).filter(([name]) => !/^(?:CARDWRIGHT_|NODE_|VITEST|CI$)/.test(name));
  const { stdout } = await execute(process.execPath, words, { cwd: folder, env: Object.fromEntries(ours) }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(error.stdout + error.stderr);
    },
  );
  return stdout;
}

/** Everything TypeScript objects to, of all files at once: it takes a second of the processor each time. */
const tsc = (...files: readonly string[]) =>
  run([
    join(folder, 'node_modules', 'typescript', 'bin', 'tsc'),
    ...['--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'],
    ...['--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--lib', 'es2023,esnext.disposable', ...files],
  ]);

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

it('a program that uses all of it runs', { timeout: 180_000 }, async () => {
  const plain = USE.replace(': string[]', '').replace('(error: CardwrightError)', 'error');
  await writeFile(join(folder, 'use.mjs'), plain);
  expect(await run(['use.mjs'])).toBe(
    'card_1 active 25.5 true 1 insufficient_funds refused 400 insufficient_funds usage usage 1 newline_added\n',
  );
});

it('TypeScript accepts that program, and refuses what there is not before it is run', {
  timeout: 180_000,
}, async () => {
  const wrong = `import { createClient } from 'cardwright/client';
const client = createClient({ baseUrl: 'https://api.example.com/v1', apiKey: 'sk_test_0123456789' });
await client.send('cards.explode', {});
await client.send('cards.create', { bin_id: 'bin_1' });
await client.send('cards.create', { bin_id: 'bin_1', amount: '25' });
`;
  await writeFile(join(folder, 'use.ts'), USE);
  await writeFile(join(folder, 'wrong.ts'), wrong);
  const said = await tsc('use.ts', 'wrong.ts').catch((error: Error) => error.message);
  expect(said.match(/\S+\.ts\(\d+,\d+\): error TS\d+/g)).toEqual(
    [3, 4, 5].map(line => expect.stringMatching(`^wrong\\.ts\\(${line},`)),
  );
  expect(said.match(/error TS\d+/g)).toHaveLength(3);
});

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
