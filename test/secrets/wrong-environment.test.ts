/**
 * Key x address x where the key comes from (docs/design/security.md, C7): what does not fit is not sent.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, type Served, serve, WALLET } from '../client/served.ts';
import { type World, world } from '../support/world.ts';

const KEYS = {
  live: 'sk_live_51f0c2d89ab34e67',
  test: 'sk_test_9c1e77aa03d24bfe',
  neither: 'pk_live_51f0c2d89ab34e67',
} as const;
type Key = keyof typeof KEYS;
type Address = 'https elsewhere' | 'this machine' | 'http elsewhere';

const [OK, USAGE, UNREACHABLE, GUARDED] = [0, 2, 12, 14] as const;
const TABLE: readonly (readonly [Key, Address, number])[] = [
  ['live', 'https elsewhere', UNREACHABLE],
  ['live', 'this machine', GUARDED],
  ['live', 'http elsewhere', USAGE],
  ['test', 'https elsewhere', UNREACHABLE],
  ['test', 'this machine', OK],
  ['test', 'http elsewhere', USAGE],
  ['neither', 'https elsewhere', USAGE],
  ['neither', 'this machine', USAGE],
  ['neither', 'http elsewhere', USAGE],
];

let service: Served;
const addressOf = (address: Address) =>
  ({
    'https elsewhere': 'https://service.invalid/v1',
    'this machine': service.baseUrl,
    'http elsewhere': 'http://service.invalid/v1',
  })[address];
beforeAll(async () => {
  service = await serve((_, response) => json(response, 200, WALLET));
});
afterAll(() => service.close());

/** The name cannot be resolved, and no proxy is asked for it: this far a request comes that nothing refused. */
const DIRECT = { HTTPS_PROXY: '', https_proxy: '', ALL_PROXY: '', all_proxy: '' };

async function asEnvironment(place: World, key: Key, address: Address) {
  const env = { ...DIRECT, CARDWRIGHT_API_KEY: KEYS[key], CARDWRIGHT_BASE_URL: addressOf(address) };
  return place.run('wallet --timeout 5s', { env });
}

async function asProfile(place: World, key: Key, address: Address) {
  const saved = await place.run(`login --profile shop --base-url ${addressOf(address)} --key-stdin`, {
    stdin: KEYS[key],
  });
  if (saved.code !== 0) {
    expect((await place.run('profiles list -o id')).out).toBe('');
    return saved;
  }
  // Nor does it follow somebody to another address.
  for (const other of ['https://other.invalid/v1', 'http://127.0.0.1:9/v1', 'https://service.invalid:444/v1']) {
    const env = { ...DIRECT, CARDWRIGHT_BASE_URL: other };
    const moved = await place.run('wallet --timeout 5s', { env });
    expect({ other, code: moved.code, err: moved.err }).toMatchObject({ other, code: GUARDED });
  }
  return place.run('wallet --timeout 5s', { env: DIRECT });
}

describe.each(TABLE)('a key that is %s, with %s', (key, address, code) => {
  it.each([
    ['from the environment', asEnvironment, 'env'],
    ['from a profile', asProfile, 'shop'],
  ] as const)(`is exit ${code}, %s`, async (_, act, name) => {
    await using place = await world({ env: { CARDWRIGHT_PROFILE: '' } });
    const before = service.seen.length;
    const { code: ended, out, err } = await act(place, key, address);
    expect({ code: ended, err }).toMatchObject({ code });
    expect(service.seen.length - before).toBe(code === OK ? 1 : 0);
    // The banner stands wherever a live key may go, and nowhere else.
    expect(err.includes(`LIVE · ${name}`)).toBe(key === 'live' && code === UNREACHABLE);
    expect(`${out}${err}`).not.toContain(KEYS[key]);
  });
});
