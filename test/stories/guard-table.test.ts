/**
 * What stands for no leave with a live key (docs/design/cli.md, "Guards"); `secrets/confirmations` walks every command through
 * every situation.
 */
import { describe, expect, test } from 'vitest';
import { type World, type WorldOptions, world } from '../support/world.ts';

const NO_PROFILE = { CARDWRIGHT_PROFILE: '' };
const LIVE_KEY = 'sk_live_51f0c2d89ab34e67';
const TEST_KEY = 'sk_test_9c1e77aa03d24bfe';
const ADDRESS = 'https://service.invalid/v1';
/** The name cannot be resolved: this far a request comes that nothing refused. */
const [SENT, GUARDED] = [12, 14];

const CREATE = 'cards create --bin bin_1 --amount 5';

/** What cannot be reached is tried again at once, until its time is over. */
async function hurriedWorld(options: WorldOptions = {}): Promise<World> {
  const here = await world(options);
  return { ...here, run: (line, how) => here.run(line, { onPause: () => undefined, ...how }) };
}

async function login(here: World, name: string, key: string) {
  const ran = await here.run(`login --profile ${name} --base-url ${ADDRESS} --key-stdin`, { stdin: key });
  expect(ran.code).toBe(0);
}

describe('off a terminal', () => {
  test('no way of naming the profile stands for --yes, and a piped y answers nothing', async () => {
    await using here = await hurriedWorld({ env: NO_PROFILE });
    await login(here, 'shop', LIVE_KEY);
    const line = `${CREATE} --live shop --timeout 2s`;
    expect((await here.run(line, { stdin: 'y\n'.repeat(100) })).code).toBe(GUARDED);
    expect((await here.run(`${CREATE} --yes --timeout 2s`, { env: { CARDWRIGHT_LIVE: 'shop' } })).code).toBe(SENT);
    expect((await here.run(`${CREATE} --timeout 2s`, { env: { CARDWRIGHT_LIVE: 'shop' } })).code).toBe(GUARDED);
    // A machine that is for tests alone takes no live key, whatever is said.
    const only = { env: { CARDWRIGHT_TEST_ONLY: '1' } };
    expect((await here.run(`${CREATE} --yes --live shop --timeout 2s`, only)).code).toBe(GUARDED);
    expect((await here.run('wallet --timeout 2s', only)).code).toBe(GUARDED);
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
