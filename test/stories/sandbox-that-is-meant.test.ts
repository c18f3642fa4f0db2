/**
 * The commands of the sandbox, where the requests of a run go to a server and nothing opens its control surface: they must
 * not answer for the sandbox of this machine as if it were that one.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedSandbox, served } from '../support/served-sandbox.ts';
import { type RunOptions, type World, world } from '../support/world.ts';

const NO_PROFILE = { CARDWRIGHT_PROFILE: '' };

describe('a colleague with an address and a key alone', () => {
  let far: World;
  let server: ServedSandbox;
  let here: World;

  beforeAll(async () => {
    far = await world({ env: NO_PROFILE });
    server = await served(far, 'sandbox start --json');
    here = await world({ env: NO_PROFILE, countFrom: 500 });
    await copyFile(String(server.row.api_key_file), join(here.folder, 'key'));
    const saved = await here.run(`login --profile team --base-url ${server.row.url} --key-file key`);
    expect([saved.code, saved.err]).toEqual([0, '']);
  });
  afterAll(async () => {
    expect((await server.stop()).code).toBe(0);
    await here[Symbol.asyncDispose]();
    await far[Symbol.asyncDispose]();
  });

  const byEnvironment = (): RunOptions => ({
    env: { CARDWRIGHT_BASE_URL: server.row.url, CARDWRIGHT_API_KEY_FILE: join(here.folder, 'key') },
  });

  it.each([
    'sandbox requests --expect 0',
    'sandbox check',
    'sandbox open --print',
    'sandbox reset --yes',
    'sandbox export -',
    'sandbox import - --yes',
    'sandbox events',
    'sandbox snapshot save before',
    'sandbox clock advance --by 1d',
    'sandbox simulate deposit --currency usdt --amount 5',
  ])('%s is not for the sandbox of this machine', async line => {
    for (const options of [byEnvironment(), { env: { CARDWRIGHT_PROFILE: 'team' } }]) {
      const ran = await here.run(`${line} --json`, { ...options, stdin: '' });
      expect([ran.code, ran.out]).toEqual([14, '']);
      expect(ran.err).toContain(`requests go to ${server.row.url}`);
    }
  });

  it('--sandbox means the sandbox of this machine', async () => {
    const ran = await here.run('--sandbox sandbox requests --expect 0', { env: { CARDWRIGHT_PROFILE: 'team' } });
    expect([ran.code, ran.err]).toEqual([0, '']);
  });

  it('what is missing is told for a profile', async () => {
    const env = { CARDWRIGHT_PROFILE: 'team' };
    const { err } = await here.run('sandbox events', { env });
    expect(err).toContain('cardwright profiles set team sandbox_token_file PATH');
  });

  it('a server of this machine on its own store is that sandbox', async () => {
    const env = { CARDWRIGHT_BASE_URL: server.row.url, CARDWRIGHT_API_KEY_FILE: String(server.row.api_key_file) };
    expect((await far.run('sandbox requests --expect 0', { env })).code).toBe(0);
  });
});
