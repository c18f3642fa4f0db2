/**
 * Where a key may not go: along a redirect, to an address that only looks right (docs/design/security.md, E4 to E6).
 */
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen, type Served, serve } from '../client/served.ts';
import { LOOK_ALIKES } from '../profile/look-alikes.ts';
import { isWhole } from '../support/whole.ts';
import { world } from '../support/world.ts';

const KEY = 'sk_test_CANARY9c1e77aa03d2';

/** Somebody else: counts who comes, and what they bring. */
let stranger: Awaited<ReturnType<typeof listen>>;
const came: string[] = [];
let service: Served;
let place = '';
let status = 302;

beforeAll(async () => {
  stranger = await listen(socket => {
    came.push('');
    socket.on('data', data => came.push(String(data)));
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  service = await serve((_, response) => response.writeHead(status, { location: place }).end());
});
afterAll(async () => {
  stranger.close();
  await service.close();
});

const places = (): readonly string[] => [
  `http://127.0.0.1:${stranger.port}/v1/wallet`,
  `https://127.0.0.1:${stranger.port}/v1/wallet`,
  `//127.0.0.1:${stranger.port}/v1`,
  `http://user:pass@127.0.0.1:${stranger.port}/`,
  `${service.baseUrl}/elsewhere`,
  '/v1/elsewhere',
  'file:///etc/passwd',
  '\x9b2J\x9d0;title\x9c',
];
const LINES = [
  ['wallet', 12],
  // The wallet is read first.
  ['cards create --bin bin_1 --amount 5', 12],
  ['cards freeze card_1', 11],
  ['cards details card_1 --reveal --print', 12],
] as const;

describe.each(isWhole ? [301, 302, 303, 307, 308] : [308])('a redirect %i', code => {
  test.each(LINES)('is not followed by %s', async (line, exit) => {
    status = code;
    await using here = await world();
    // How an address is read does not depend on the command: one is led to each of them.
    const tried = isWhole || line === 'wallet' ? places() : places().slice(0, 2);
    for (const [nth, each] of tried.entries()) {
      place = each;
      const env = {
        CARDWRIGHT_PROFILE: '',
        CARDWRIGHT_API_KEY: KEY,
        CARDWRIGHT_BASE_URL: service.baseUrl,
        // Nothing is known of the one before.
        CARDWRIGHT_CONFIG_DIR: join(here.folder, `${nth}`),
      };
      const before = service.seen.length;
      const ran = await here.run(`${line} --debug`, { env, onPause: () => undefined });
      expect({ place, code: ran.code, err: ran.err }).toMatchObject({ code: exit });
      expect(ran.all).not.toContain(KEY);
      expect(ran.all).not.toMatch(/[\x1b\x80-\x9f]/);
      const paths = service.seen.slice(before).map(({ url }) => url);
      expect(paths.filter(url => url.includes('elsewhere'))).toEqual([]);
      expect(service.seen.slice(before).filter(({ method }) => method !== 'GET').length).toBeLessThanOrEqual(
        exit === 11 ? 4 : 0,
      );
    }
    expect(came).toEqual([]);
  });
});

test('the stranger can be reached by those who try', async () => {
  await new Promise(done => connect(stranger.port, '127.0.0.1').on('close', done).resume());
  expect(came.splice(0)).toHaveLength(1);
});

test('a key is given to no look-alike, saved or from the environment', async () => {
  await using here = await world({ env: { CARDWRIGHT_PROFILE: '' } });
  for (const address of LOOK_ALIKES.filter(each => each !== '' && !each.includes('\0'))) {
    const env = { CARDWRIGHT_API_KEY: KEY, CARDWRIGHT_BASE_URL: address };
    const told = await here.run('wallet --timeout 2s', { env });
    const saved = await here.run(`login --profile team --base-url '${address}' --key-stdin`, { stdin: KEY });
    expect([address, told.code, saved.code]).toEqual([address, 2, 2]);
    expect(`${told.all}${saved.all}`).not.toContain(KEY);
  }
  expect((await here.run('profiles list -o id')).out).toBe('');
});
