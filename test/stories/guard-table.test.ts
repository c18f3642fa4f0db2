/**
 * What each key may do, said and unsaid, on a terminal and off it (docs/design/cli.md, "Guards";
 * docs/design/security.md, C7).
 */
import { describe, expect, test } from 'vitest';
import { type World, type WorldOptions, world } from '../support/world.ts';

const NO_PROFILE = { CARDWRIGHT_PROFILE: '' };
const LIVE_KEY = 'sk_live_51f0c2d89ab34e67';
const TEST_KEY = 'sk_test_9c1e77aa03d24bfe';
const ADDRESS = 'https://service.invalid/v1';
/** The name cannot be resolved: this far a request comes that nothing refused. */
const [SENT, GUARDED, NOT_CONFIRMED] = [12, 14, 3];

const LINES = {
  read: 'wallet',
  freeze: 'cards freeze card_1',
  write: 'cards create --bin bin_1 --amount 5',
} as const;

type Said = 'nothing' | 'yes' | 'live' | 'yes and live' | 'another';
const FLAGS: Readonly<Record<Said, (name: string) => string>> = {
  nothing: () => '',
  yes: () => '--yes',
  live: name => `--live ${name}`,
  'yes and live': name => `--yes --live ${name}`,
  another: () => '--yes --live other',
};

/** What cannot be reached is tried again at once, until its time is over. */
async function hurriedWorld(options: WorldOptions = {}): Promise<World> {
  const here = await world(options);
  return { ...here, run: (line, how) => here.run(line, { onPause: () => undefined, ...how }) };
}

async function login(here: World, name: string, key: string) {
  const ran = await here.run(`login --profile ${name} --base-url ${ADDRESS} --key-stdin`, { stdin: key });
  expect(ran.code).toBe(0);
}

const OFF_A_TERMINAL: readonly (readonly ['test' | 'live', keyof typeof LINES, Said, number])[] = [
  ['test', 'read', 'nothing', SENT],
  ['test', 'freeze', 'nothing', SENT],
  ['test', 'write', 'nothing', SENT],
  ['test', 'write', 'another', GUARDED],
  ['live', 'read', 'nothing', SENT],
  ['live', 'read', 'another', SENT],
  ['live', 'freeze', 'nothing', GUARDED],
  ['live', 'freeze', 'yes', GUARDED],
  ['live', 'freeze', 'live', SENT],
  ['live', 'freeze', 'another', GUARDED],
  ['live', 'write', 'nothing', GUARDED],
  ['live', 'write', 'yes', GUARDED],
  ['live', 'write', 'live', GUARDED],
  ['live', 'write', 'another', GUARDED],
  ['live', 'write', 'yes and live', SENT],
];

describe('off a terminal', () => {
  test.each(['test', 'live'] as const)('with a %s key', async mode => {
    await using here = await hurriedWorld({ env: NO_PROFILE });
    const key = mode === 'live' ? LIVE_KEY : TEST_KEY;
    await login(here, 'shop', key);
    for (const [, what, said, code] of OFF_A_TERMINAL.filter(([of]) => of === mode)) {
      const saved = await here.run(`${LINES[what]} ${FLAGS[said]('shop')} --timeout 2s`);
      expect({ what, said, code: saved.code, err: saved.err }).toMatchObject({ what, said, code });
      expect(saved.err.includes('LIVE · shop')).toBe(mode === 'live');
      // The same key from the environment is called `env`.
      const env = { CARDWRIGHT_API_KEY: key, CARDWRIGHT_BASE_URL: ADDRESS };
      const told = await here.run(`${LINES[what]} ${FLAGS[said]('env')} --timeout 2s`, { env });
      expect({ what, said, code: told.code, err: told.err }).toMatchObject({ what, said, code });
      const only = await here.run(`${LINES[what]} ${FLAGS[said]('shop')}  --timeout 2s`, {
        env: { CARDWRIGHT_TEST_ONLY: '1' },
      });
      expect({ what, said, code: only.code }).toEqual({ what, said, code: mode === 'live' ? GUARDED : code });
      expect(`${saved.all}${told.all}${only.all}`).not.toContain(LIVE_KEY);
    }
  });

  test('no way of naming the profile stands for --yes, and a piped y answers nothing', async () => {
    await using here = await hurriedWorld({ env: NO_PROFILE });
    await login(here, 'shop', LIVE_KEY);
    const line = `${LINES.write} --live shop --timeout 2s`;
    expect((await here.run(line, { stdin: 'y\n'.repeat(100) })).code).toBe(GUARDED);
    expect((await here.run(`${LINES.write} --yes --timeout 2s`, { env: { CARDWRIGHT_LIVE: 'shop' } })).code).toBe(SENT);
    expect((await here.run(`${LINES.write} --timeout 2s`, { env: { CARDWRIGHT_LIVE: 'shop' } })).code).toBe(GUARDED);
  });
});

describe('on a terminal', () => {
  test.each<readonly [keyof typeof LINES, readonly string[], number]>([
    ['read', [], SENT],
    ['freeze', [], SENT],
    ['write', ['n'], NOT_CONFIRMED],
    ['write', [''], NOT_CONFIRMED],
    ['write', ['y'], SENT],
  ])('a live key, %s, typed %j: %i', async (what, typed, code) => {
    await using here = await hurriedWorld({ env: NO_PROFILE });
    await login(here, 'shop', LIVE_KEY);
    const ran = await here.run(`${LINES[what]} --timeout 2s`, { terminal: 80, typed });
    expect({ code: ran.code, err: ran.err }).toMatchObject({ code });
    expect(ran.err).toContain('LIVE · shop');
  });
});

describe('freezing, the safe direction', () => {
  /** A row each: none was refused here, and none arrived. */
  const EACH_SENT = 9;
  const live = { CARDWRIGHT_PROFILE: '', CARDWRIGHT_API_KEY: LIVE_KEY, CARDWRIGHT_BASE_URL: ADDRESS };

  test.each([
    ['cards freeze card_1', SENT, false],
    ['cards freeze card_1 card_2 card_3', EACH_SENT, false],
    ['cards unfreeze card_1', NOT_CONFIRMED, true],
    ['cards unfreeze card_1 card_2', NOT_CONFIRMED, true],
    ['cards fund card_1 --amount 5', NOT_CONFIRMED, true],
    ['cards terminate card_1 card_2', NOT_CONFIRMED, true],
  ] as const)('%s on a terminal', async (line, code, asks) => {
    await using here = await hurriedWorld();
    const ran = await here.run(`${line} --timeout 2s`, { env: live, terminal: 80, typed: ['n'] });
    expect({ code: ran.code, asked: /\? .*/.test(ran.err), err: ran.err }).toMatchObject({ code, asked: asks });
  });

  test('several need --live alone off a terminal', async () => {
    await using here = await hurriedWorld();
    const line = 'cards freeze card_1 card_2 --timeout 2s';
    expect((await here.run(line, { env: live })).code).toBe(GUARDED);
    expect((await here.run(`${line} --live env`, { env: live })).code).toBe(EACH_SENT);
  });
});

describe('key, address and profile must agree', () => {
  test.each([
    ['another origin', { CARDWRIGHT_BASE_URL: 'https://evil.invalid/v1' }, GUARDED],
    ['another port', { CARDWRIGHT_BASE_URL: 'https://service.invalid:8443/v1' }, GUARDED],
    ['no TLS', { CARDWRIGHT_BASE_URL: 'http://service.invalid/v1' }, 2],
    ['a look-alike of loopback', { CARDWRIGHT_BASE_URL: 'http://localhost.evil/v1' }, 2],
    ['a user name in front', { CARDWRIGHT_BASE_URL: 'https://service.invalid@evil.invalid/v1' }, 2],
    ['its own', { CARDWRIGHT_BASE_URL: ADDRESS }, SENT],
  ])('%s', async (_, env, code) => {
    await using here = await hurriedWorld({ env: NO_PROFILE });
    await login(here, 'shop', TEST_KEY);
    const ran = await here.run('wallet --timeout 2s', { env });
    expect({ code: ran.code, err: ran.err }).toMatchObject({ code });
  });
});

test('a live write that cannot be recorded is not sent; a test write goes on and says so', async () => {
  for (const [key, code] of [
    [LIVE_KEY, GUARDED],
    [TEST_KEY, SENT],
  ] as const) {
    await using here = await hurriedWorld({ env: NO_PROFILE });
    await login(here, 'shop', key);
    await here.spoil('state/journal.db');
    const { code: ended, err } = await here.run('cards freeze card_1 --live shop --timeout 2s');
    expect({ ended, err }).toMatchObject({ ended: code });
    expect(err).toContain(code === GUARDED ? 'journal.db' : 'cards.freeze is not in the audit log');
  }
});
