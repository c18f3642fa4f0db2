/** A database that is away: a person at a terminal reads what is waited for, and what only looks goes on sooner. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { skippingClock } from '../support/clocks.ts';
import { team } from './team.ts';

describe.skipIf(missing())('a journal that cannot be reached', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  const AWAY = { CARDWRIGHT_JOURNAL_URL: 'postgres://ana@127.0.0.1:1/journal' };
  const FUND = 'cards fund card_1 --amount 1';
  const SIGN = /waiting for the shared journal at 127\.0\.0\.1: \d+ s, at most (\d+)/;

  it.each([
    [FUND, '15'],
    ['cards create --bin bin_1 --amount 5', '15'],
    ['journal push', '5'],
    ['ops list', '5'],
    ['journal status', '5'],
    ['audit list --shared', '5'],
    ['cards freeze --file stolen.csv --yes', '5'],
  ])('%s: a person reads that it is waited for, %s seconds at most', async (line, seconds) => {
    await using t = await team(here);
    const machine = await t.machine('ana', AWAY);
    await writeFile(join(machine.folder, 'stolen.csv'), 'card_id\ncard_1\n');
    const { code, err } = await machine.run(line, { terminal: 100, clock: skippingClock() });
    expect([code, SIGN.exec(err)?.[1]]).toEqual([14, seconds]);
    expect(err).toContain('cannot be reached');
  });

  it('a program, a pipe and whoever wants no words read nothing of it', async () => {
    await using t = await team(here);
    const machine = await t.machine('ana', AWAY);
    for (const [line, how] of [
      [`${FUND} --json`, { terminal: 100 }],
      [`${FUND} -q`, { terminal: 100 }],
      [FUND, { terminal: 100, stdoutPiped: true }],
      [FUND, {}],
    ] as const) {
      const { code, err } = await machine.run(line, { ...how, clock: skippingClock() });
      expect([line, code, SIGN.exec(err)]).toEqual([line, 14, null]);
    }
    expect(t.proxy.posts()).toEqual([]);
  });
});
