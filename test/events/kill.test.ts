/**
 * The built program, killed while it listens or leases: what it left behind is found and taken away
 * (docs/design/security.md, L7).
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ended, type Home, home } from '../package/built.ts';
import { isWhole } from '../support/whole.ts';

async function listening(place: Home) {
  const child = place.start(['--sandbox', 'webhooks', 'listen', '--ready-file', join(place.folder, 'ready')]);
  const end = ended(child);
  await expect.poll(() => readFile(join(place.folder, 'ready'), 'utf8').catch(() => ''), { interval: 20 }).not.toBe('');
  return { child, end };
}

async function subscriptions(place: Home): Promise<string[]> {
  const { out } = await place.run(['--sandbox', 'webhooks', 'list', '--json', '--fields', 'url']);
  return (JSON.parse(out).data as { url: string }[]).map(({ url }) => url).filter(url => url.startsWith('http://127.'));
}

interface Leased {
  readonly status: string;
  readonly balance: number;
  readonly metadata: Readonly<Record<string, string>>;
}

async function leased(place: Home): Promise<readonly Leased[]> {
  const { out } = await place.run(['--sandbox', 'cards', 'list', '--all', '--json']);
  return (JSON.parse(out).data as Leased[]).filter(({ metadata }) => metadata['cardwright_lease'] !== undefined);
}

async function leasing(place: Home, script: string) {
  const [program, started] = [join(place.folder, 'program.cjs'), join(place.folder, 'started')];
  await writeFile(
    program,
    `require('node:fs').writeFileSync(${JSON.stringify(started)}, String(process.pid));${script}`,
  );
  const words = ['--sandbox', 'cards', 'lease', '--amount', '25', '--reveal', '--yes', '--', process.execPath, program];
  const child = place.start(words, { stdio: ['ignore', 'pipe', 'pipe'] });
  const end = ended(child);
  await expect.poll(() => readFile(started, 'utf8').catch(() => ''), { interval: 20 }).not.toBe('');
  return { child, end, program: Number(await readFile(started, 'utf8')) };
}

it.runIf(isWhole)('kill -9 of a listener, then the reaper: no subscription is left', async () => {
  await using place = await home();
  const { child, end } = await listening(place);
  child.kill('SIGKILL');
  expect((await end).signal).toBe('SIGKILL');
  const { code, out } = await place.run(['--sandbox', 'webhooks', 'listen', '--reap', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out).ended).toHaveLength(1);
  expect(await subscriptions(place)).toEqual([]);
});

it('kill -9 of a lease, then the reaper: no funded card is left', async () => {
  await using place = await home();
  const { child, end, program } = await leasing(place, 'setInterval(() => {}, 1000);');
  child.kill('SIGKILL');
  process.kill(program, 'SIGKILL');
  expect((await end).signal).toBe('SIGKILL');
  expect(await leased(place)).toMatchObject([{ status: 'active', balance: 25 }]);
  const { code, out } = await place.run(['--sandbox', 'cards', 'lease', '--reap', '--yes', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out).terminated).toHaveLength(1);
  expect(await leased(place)).toMatchObject([{ status: 'terminated', balance: 0 }]);
});
