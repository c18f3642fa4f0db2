import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.ts';
import { openKeychain } from '../../src/profile/keychain.ts';
import { realClock } from '../support/clocks.ts';

const KEY = 'sk_test_CANARYkeychain0001';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-chain-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Stands for Node: reads the order and answers what the body prints. */
async function fakeNode(body: string): Promise<string> {
  const path = join(folder, 'node');
  await writeFile(path, `#!/bin/sh\necho "$*" >> '${folder}/args'\nenv > '${folder}/env'\n${body}\n`, { mode: 0o755 });
  return path;
}

const WITH_BUS = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${process.execPath}`, CARDWRIGHT_API_KEY: 'CANARYENV' };
const open = (node: string | undefined, more: Partial<Parameters<typeof openKeychain>[0]> = {}) =>
  openKeychain({ clock: realClock, env: WITH_BUS, platform: 'linux', node, ...more });

describe('the probe', () => {
  it('starts nothing where there is no session bus', async () => {
    const node = await fakeNode(`echo '{"value":null,"failed":null}'`);
    expect(await open(node, { env: {} }).problem()).toContain('no session bus');
    expect(await open(node, { env: { XDG_RUNTIME_DIR: folder } }).problem()).toContain('no session bus');
    await expect(readFile(join(folder, 'args'))).rejects.toThrow('ENOENT');
  });

  it('is positive only when a read succeeds', async () => {
    expect(await open(await fakeNode(`cat >/dev/null; echo '{"value":null,"failed":null}'`)).problem()).toBeUndefined();
    expect(await open(await fakeNode(`cat >/dev/null; echo '{"value":null,"failed":"refused"}'`)).problem()).toBe(
      'the keychain refused',
    );
    expect(await open(await fakeNode('exit 1')).problem()).toBe('the keychain gave no answer');
    expect(await open(join(folder, 'nothing')).problem()).toContain('cannot be started');
  });

  it('starts nothing in the single executable', async () => {
    expect(await open(undefined).problem()).toBe('this single executable cannot speak to it');
  });

  it('says that the package is missing', async () => {
    const missing = await fakeNode(`cat >/dev/null; echo '{"value":null,"failed":"missing"}'`);
    expect(await open(missing).problem()).toContain('not installed');
  });
});

it('waits 3 seconds and ends what hangs', async () => {
  const waits: number[] = [];
  const hurried = { ...realClock, sleep: async (ms: number) => void waits.push(ms) };
  const node = await fakeNode('exec sleep 60');
  expect(await open(node, { clock: hurried }).problem()).toContain('did not answer within 3 s');
  expect(waits).toEqual([3000]);
});

it('hands the key over on standard input, and nothing of ours in the environment', async () => {
  const node = await fakeNode(`cat > '${folder}/order'; echo '{"value":"${KEY}","failed":null}'`);
  expect(await open(node).write('team@1', new Secret(KEY))).toBeUndefined();
  expect(await readFile(join(folder, 'args'), 'utf8')).not.toContain(KEY);
  expect(await readFile(join(folder, 'env'), 'utf8')).not.toMatch(/CANARY/);
  expect((await open(node).read('team@1'))?.expose()).toBe(KEY);
});

it('a write that cannot be read back was none', async () => {
  const node = await fakeNode(`cat >/dev/null; echo '{"value":"other","failed":null}'`);
  expect(await open(node).write('team@1', new Secret(KEY))).toContain('did not give back');
});

it.runIf(process.platform === 'linux')(
  'on a machine without a secret service leaves nothing in the kernel',
  async () => {
    // The real child, the real package where it is installed; the bus is one that nobody serves.
    const chain = open(process.execPath, { env: { ...WITH_BUS, DBUS_SESSION_BUS_ADDRESS: `unix:path=${folder}/bus` } });
    expect(await chain.write('team@canary', new Secret(KEY))).toBeDefined();
    expect(await readFile('/proc/keys', 'utf8').catch(() => '')).not.toContain('team@canary');
  },
);
