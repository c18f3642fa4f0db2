/** A machine goes on alone, and its profile or a variable still names the journal that it came from. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { team, urlOf } from './team.ts';

describe.skipIf(missing())('a journal that was moved back, and is still named', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  const CREATE = 'cards create --bin bin_1 --amount 1 -q';

  async function movedBack(
    ana: World,
    env: Readonly<Record<string, string>>,
    at: { admin: (text: string) => unknown },
  ) {
    expect(await ana.run(CREATE, { env })).toMatchObject({ code: 0 });
    await at.admin(`freeze_account('moved to one machine')`);
    return ana.run('journal move --to local', { env });
  }

  async function told(ana: World, env: Readonly<Record<string, string>>, step: string) {
    const { code, err } = await ana.run('cards create --bin bin_1 --amount 2', { env });
    expect({ code, err }).toMatchObject({ code: 14 });
    expect(err).toContain('were moved back to this machine from the account');
    expect(err).toContain(`To go on with this machine alone: ${step}\n`);
    expect(err).toContain(`  try: ${step.split('; ')[0]}\n`);
    const { data } = JSON.parse((await ana.run('doctor --json', { env })).out);
    expect(data).toContainEqual({
      check: 'journal',
      status: 'fail',
      says: expect.stringContaining('were moved back to this machine from the account'),
      hint: step.split('; ')[0],
    });
  }

  it('by a variable', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    const moved = await movedBack(ana, {}, t.at);
    expect(moved).toMatchObject({ code: 0, err: expect.stringContaining('alone: unset CARDWRIGHT_JOURNAL_URL\n') });
    await told(ana, {}, 'unset CARDWRIGHT_JOURNAL_URL');
    const alone = { env: { CARDWRIGHT_JOURNAL_URL: '', CARDWRIGHT_JOURNAL_ACCOUNT: '' } };
    expect((await ana.run(CREATE, alone)).code).toBe(0);
    // It is in the shared journal again, by its own wish.
    await t.at.admin(`accept_failover('it goes on')`);
    expect((await ana.run('journal move --to shared')).code).toBe(0);
    expect((await ana.run('cards create --bin bin_1 --amount 2 -q')).code).toBe(0);
  });

  it('by a profile', async () => {
    await using t = await team(here);
    const ana = await t.machine('ana');
    const env = {
      CARDWRIGHT_API_KEY: '',
      CARDWRIGHT_BASE_URL: '',
      CARDWRIGHT_JOURNAL_URL: '',
      CARDWRIGHT_JOURNAL_ACCOUNT: '',
      CARDWRIGHT_PROFILE: 'main',
    };
    const step = 'cardwright profiles set main journal none';
    await ana.run(`login --profile main --base-url ${t.proxy.url} --key-stdin`, { env, stdin: t.key });
    for (const [name, value] of [
      ['journal', urlOf(here, 'ana')],
      ['journal_account', t.at.account],
    ])
      expect(await ana.run(`profiles set main ${name} ${value}`, { env })).toMatchObject({ code: 0 });
    const moved = await movedBack(ana, env, t.at);
    expect(moved).toMatchObject({ code: 0, err: expect.stringContaining(`alone: ${step}\n`) });
    await told(ana, env, step);
    expect((await ana.run(step.replace('cardwright ', ''), { env })).code).toBe(0);
    expect(await ana.run('cards create --bin bin_1 --amount 2 -q', { env })).toMatchObject({ code: 0, err: '' });
  });
});
