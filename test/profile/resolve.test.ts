import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readKey } from '../../src/profile/parts.ts';
import { type ResolveInput, resolveProfile } from '../../src/profile/resolve.ts';
import { openProfileStore, type ProfileStore } from '../../src/profile/store.ts';
import { failure, freshFolder, hostIn, LIVE_KEY, TEST_KEY, wholeText } from './dependencies.ts';

const BASE = 'https://api.example.com/v1';

async function storeWith(folder: string, current?: string): Promise<ProfileStore> {
  const store = await openProfileStore(hostIn(folder), () => {});
  await store.save({ name: 'work', base_url: BASE, key: readKey('sk_test_key_of_work') });
  await store.save({ name: 'prod', base_url: BASE, key: readKey('sk_live_key_of_prod') });
  await store.set('work', 'contract', '/etc/work.json');
  await store.set('prod', 'read_only', 'true');
  if (current !== undefined) await store.use(current);
  return store;
}

function asked(more: Partial<ResolveInput>): ResolveInput {
  const never = () => Promise.reject(new Error('the store was opened'));
  return { flags: {}, env: {}, interactive: false, store: never, readKeyFile: never, ...more };
}

const KEY = { CARDWRIGHT_API_KEY: TEST_KEY, CARDWRIGHT_BASE_URL: 'https://env.example.com' };

describe('every combination of what may choose', () => {
  const flags = [undefined, '--sandbox', '--profile'] as const;
  const keys = [undefined, 'CARDWRIGHT_API_KEY', 'CARDWRIGHT_API_KEY_FILE'] as const;
  const profiles = [undefined, 'CARDWRIGHT_PROFILE'] as const;
  const currents = [undefined, 'current profile'] as const;
  const rows = flags.flatMap(flag =>
    keys.flatMap(key =>
      profiles.flatMap(profile =>
        currents.flatMap(current => [true, false].map(interactive => ({ flag, key, profile, current, interactive }))),
      ),
    ),
  );

  const folders: (Awaited<ReturnType<typeof freshFolder>> & { readonly store: ProfileStore })[] = [];
  beforeAll(async () => {
    for (const current of currents) {
      const fresh = await freshFolder();
      folders.push({ ...fresh, store: await storeWith(fresh.path, current && 'prod') });
    }
  });
  afterAll(async () => {
    for (const fresh of folders) await fresh[Symbol.asyncDispose]();
  });

  test.each(rows)('$flag, $key, $profile, $current, terminal: $interactive', async row => {
    const { store } = folders[currents.indexOf(row.current)] as (typeof folders)[number];
    let opened = 0;
    const input: ResolveInput = {
      flags: {
        ...(row.flag === '--sandbox' && { sandbox: true }),
        ...(row.flag === '--profile' && { profile: 'work' }),
      },
      env: {
        ...(row.key && {
          [row.key]: row.key === 'CARDWRIGHT_API_KEY' ? TEST_KEY : '/run/key',
          CARDWRIGHT_BASE_URL: BASE,
        }),
        ...(row.profile && { CARDWRIGHT_PROFILE: 'prod' }),
      },
      interactive: row.interactive,
      store: async () => {
        opened += 1;
        return store;
      },
      readKeyFile: async () => `${LIVE_KEY}\n`,
    };
    const winner =
      row.flag ?? row.key ?? row.profile ?? row.current ?? (row.interactive ? 'default on a terminal' : undefined);
    if (winner === undefined) {
      const error = await failure(() => resolveProfile(input));
      expect(error.exitCode).toBe(4);
      for (const way of ['--sandbox', 'CARDWRIGHT_API_KEY', 'CARDWRIGHT_BASE_URL', 'cardwright login', '--profile']) {
        expect(error.message).toContain(way);
      }
      return;
    }
    const resolved = await resolveProfile(input);
    const expected = {
      '--sandbox': ['sandbox', 'sandbox', 'embedded', undefined],
      '--profile': ['work', 'test', 'stored', 'sk_test_key_of_work'],
      CARDWRIGHT_API_KEY: ['env', 'test', 'environment', TEST_KEY],
      CARDWRIGHT_API_KEY_FILE: ['env', 'live', 'key_file', LIVE_KEY],
      CARDWRIGHT_PROFILE: ['prod', 'live', 'stored', 'sk_live_key_of_prod'],
      'current profile': ['prod', 'live', 'stored', 'sk_live_key_of_prod'],
      'default on a terminal': ['sandbox', 'sandbox', 'embedded', undefined],
    }[winner];
    const [, mode, , key] = expected;
    const shownKey = mode === 'sandbox' ? undefined : (await resolved.key()).expose();
    expect([resolved.profile, resolved.mode, resolved.keySource, shownKey]).toEqual(expected);
    expect(resolved.chosenBy).toBe(winner);
    expect(resolved.baseUrl).toBe(mode === 'sandbox' ? 'embedded' : BASE);
    expect(resolved.keyHint).toBe(key && `${key.slice(0, 8)}…${key.slice(-4)}`);
    // The file behind the store costs a package: what decides before it must not open it.
    expect(opened > 0).toBe(winner === '--profile' || !(row.flag || row.key));
    const contradicted = (row.flag && row.key) || (row.key && row.profile && !row.flag);
    expect(resolved.warnings.some(text => text.includes(row.key ?? '-'))).toBe(Boolean(contradicted));
    expect(JSON.stringify(resolved)).not.toMatch(/CANARY|of_work|of_prod/);
  });
});

describe('contradictions', () => {
  test.each([
    ['two flags', { flags: { sandbox: true, profile: 'work' } }, 'usage', '--sandbox'],
    ['two keys', { env: { ...KEY, CARDWRIGHT_API_KEY_FILE: '/run/key' } }, 'usage', 'CARDWRIGHT_API_KEY_FILE'],
    ['a key without an address', { env: { CARDWRIGHT_API_KEY: TEST_KEY } }, 'not_authenticated', 'CARDWRIGHT_BASE_URL'],
    [
      'a bad key',
      { env: { ...KEY, CARDWRIGHT_API_KEY: `${TEST_KEY} x` } },
      'usage',
      'CARDWRIGHT_API_KEY: not an API key',
    ],
    ['a bad address', { env: { ...KEY, CARDWRIGHT_BASE_URL: 'http://127.1' } }, 'usage', 'CARDWRIGHT_BASE_URL'],
    [
      'a live key to this machine',
      { env: { CARDWRIGHT_API_KEY: LIVE_KEY, CARDWRIGHT_BASE_URL: 'http://127.0.0.1:1' } },
      'guarded',
      'live key',
    ],
    [
      'a live key in a test',
      { env: { ...KEY, CARDWRIGHT_API_KEY: LIVE_KEY, CARDWRIGHT_TEST_ONLY: '1' } },
      'guarded',
      'CARDWRIGHT_TEST_ONLY',
    ],
    ['env without a key', { flags: { profile: 'env' } }, 'not_authenticated', 'CARDWRIGHT_API_KEY'],
    ['a key as profile name', { flags: { profile: LIVE_KEY } }, 'usage', 'API key'],
    ['a key as profile variable', { env: { CARDWRIGHT_PROFILE: LIVE_KEY } }, 'usage', 'CARDWRIGHT_PROFILE'],
    ['an empty profile', { flags: { profile: '' } }, 'usage', 'profile name'],
    ['an empty contract', { flags: { sandbox: true, contract: '' } }, 'usage', '--contract'],
  ])('%s', async (_, more: Partial<ResolveInput>, kind, says) => {
    const error = await failure(() => resolveProfile(asked(more)));
    expect([error.kind, error.message]).toEqual([kind, expect.stringContaining(says)]);
    expect(wholeText(error)).not.toContain('CANARY');
  });

  test.each([
    ['another host', 'https://evil.example.com/v1', 'guarded'],
    ['another port', 'https://api.example.com:8443/v1', 'guarded'],
    ['this machine', 'http://127.0.0.1:4010', 'guarded'],
    ['another scheme', 'http://api.example.com/v1', 'usage'],
  ])('a stored key with an address variable naming %s', async (_, baseUrl, kind) => {
    await using fresh = await freshFolder();
    const store = await storeWith(fresh.path, 'work');
    for (const env of [{}, { CARDWRIGHT_PROFILE: 'work' }]) {
      const input = asked({ env: { ...env, CARDWRIGHT_BASE_URL: baseUrl }, store: async () => store });
      expect((await failure(() => resolveProfile(input))).kind).toBe(kind);
    }
    // Who names a profile means its own address.
    for (const profile of ['work', 'prod']) {
      const input = asked({ flags: { profile }, env: { CARDWRIGHT_BASE_URL: baseUrl }, store: async () => store });
      const { baseUrl: used, warnings } = await resolveProfile(input);
      const says = `CARDWRIGHT_BASE_URL is not used: profile ${profile} has its own address ${BASE}`;
      expect([used, warnings]).toEqual([BASE, [says]]);
    }
  });

  test('a test-only environment refuses stored live keys and lets test keys and the sandbox pass', async () => {
    await using fresh = await freshFolder();
    const opened = await storeWith(fresh.path);
    const ask = (profile: string, value: string | undefined) =>
      resolveProfile(asked({ flags: { profile }, env: { CARDWRIGHT_TEST_ONLY: value }, store: async () => opened }));
    for (const value of ['1', 'true', 'yes']) expect((await failure(() => ask('prod', value))).kind).toBe('guarded');
    for (const value of [undefined, '0', 'false']) expect((await ask('prod', value)).mode).toBe('live');
    expect([(await ask('work', '1')).mode, (await ask('sandbox', '1')).mode]).toEqual(['test', 'sandbox']);
  });
});
