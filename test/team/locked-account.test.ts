/** A session of the database that locks an account, as anybody may who logs in with psql: who it is, and what ends it. */
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectJournal } from '../../src/team/connect.ts';
import { parseJournalUrl } from '../../src/team/journal-url.ts';
import { lockOf } from '../../src/team/locked-account.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { random, skippingClock, waitingClock } from '../support/clocks.ts';
import { team, urlOf } from './team.ts';
import { hex } from './test-account.ts';

describe.skipIf(missing())('an account that another session locks', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  /** A transaction of ben's that stands still behind a call. */
  async function locked(account: string) {
    const session = await here.as('ben', 'another');
    await session.call('begin', []);
    const call = { account, name: 'fleet', by: hex(4), host: 'laptop', ttl_ms: 5_000 };
    await session.call('select cardwright.hold_name($1)', [JSON.stringify(call)]);
    const [[pid] = []] = await session.call('select pg_backend_pid()', []);
    return { pid: Number(pid), free: () => session.call('rollback', []) };
  }

  it('is told with pid and role, also to whoever only reads, and to nobody when it is free', async () => {
    await using t = await team(here);
    const other = await team(here);
    const [ana, eve] = [await here.as('ana'), await here.as('eve')];
    expect(await lockOf(ana, t.at.account)).toBe(undefined);
    const { pid, free } = await locked(t.at.account);
    for (const asks of [ana, eve])
      expect(await lockOf(asks, t.at.account)).toMatchObject({ pid, role: 'ben', since: null });
    expect(await lockOf(await here.as('ben'), t.at.account)).toMatchObject({ since: expect.stringMatching(/Z$/) });
    // Another account of the same database is nobody's matter.
    expect(await lockOf(ana, other.at.account)).toBe(undefined);
    await free();
    expect(await lockOf(ana, t.at.account)).toBe(undefined);
    // Who looks locks nothing, also in a transaction of his own.
    await eve.call('begin', []);
    await lockOf(eve, t.at.account);
    expect(await lockOf(ana, t.at.account)).toBe(undefined);
    await eve.call('rollback', []);
    await other[Symbol.asyncDispose]();
  });

  it('is named by a change that has waited for it, with what an admin runs', async () => {
    await using t = await team(here);
    await t.at.admin(`add_member('postgres', '{read}')`);
    const { pid, free } = await locked(t.at.account);
    const around = { clock: waitingClock(), random, platform: process.platform, signal: new AbortController().signal };
    await using journal = connectJournal(parseJournalUrl(urlOf(here, 'postgres'), 'flag'), around);
    const asked = `select 1 from cardwright.account where name = $1 for no key update nowait`;
    await expect(journal.call(asked, [t.at.account])).rejects.toMatchObject({
      kind: 'guarded',
      facts: {
        message: expect.stringMatching(
          new RegExp(`another session of its database locks the account: pid ${pid}, role ben, since \\S+Z$`),
        ),
        notes: expect.arrayContaining([expect.stringContaining(`select pg_terminate_backend(${pid});`)]),
        outcome: 'not_sent',
      },
    });
    await free();
  });

  it('is told by doctor and journal status when it lasts', async () => {
    await using t = await team(here);
    const machine = await t.machine('ana');
    const shared = async () => {
      const { data } = JSON.parse((await machine.run('doctor --json', { clock: skippingClock() })).out);
      return data.find(({ check }: { readonly check: string }) => check === 'shared journal');
    };
    const status = async () =>
      JSON.parse((await machine.run('journal status --json', { clock: skippingClock() })).out).locked_by;
    expect([(await shared()).status, await status()]).toEqual(['ok', null]);
    const { pid, free } = await locked(t.at.account);
    expect(await shared()).toMatchObject({
      status: 'fail',
      says: expect.stringContaining(`select pg_terminate_backend(${pid});`),
    });
    expect(await status()).toBe(`pid ${pid}, role ben`);
    const words = await machine.run('journal status', { clock: skippingClock(), terminal: 200 });
    expect(words.out).toMatch(new RegExp(`^Locked by +pid ${pid}, role ben; every change waits and is refused$`, 'm'));
    await free();
    expect([(await shared()).status, await status()]).toEqual(['ok', null]);
  });
});
