/** The books of an account with a shared journal: what other machines have done is no other spender, and a kill is explained. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended, type Home, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { skippingClock } from '../support/clocks.ts';
import { words } from '../support/words.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';

describe.skipIf(missing())('reconcile over a shared journal', () => {
  let here: Database;
  let place: Home;
  beforeAll(async () => {
    [here, place] = await Promise.all([database(), home()]);
  });
  afterAll(async () => {
    await place?.[Symbol.asyncDispose]();
    await here.close();
  });

  async function books({ run }: World) {
    const { code, out, err } = await run('books reconcile --sole-operator --json', { clock: skippingClock() });
    const { verdict, residual, findings } = out === '' ? { verdict: err } : JSON.parse(out);
    return { code, verdict, residual, classes: (findings ?? []).map((each: { class: string }) => each.class) };
  }
  const balanced = { code: 0, verdict: 'balanced', residual: 0, classes: [] };

  it('three machines and one that is killed: the sums are right on each, and twice the same', {
    timeout: 120_000,
  }, async () => {
    await using t = await team(here, { wallet: 500, delayMs: 60_000 });
    const [ana, laptop, ben] = [await t.machine('ana'), await t.machine('ana'), await t.machine('ben')];
    const machines = [ana, laptop, ben];
    expect((await ana.run('cards create --bin bin_1 --amount 10')).code).toBe(0);
    for (const each of machines) expect((await books(each)).verdict).toBe('baseline');
    expect((await laptop.run('cards fund card_1 --amount 20')).code).toBe(0);
    expect((await ben.run('cards create --bin bin_1 --amount 30')).code).toBe(0);
    expect((await ana.run('cards withdraw card_1 --amount 5 --yes')).code).toBe(0);
    for (const each of machines) expect(await books(each)).toEqual(balanced);

    t.proxy.fail('POST', /\/fund$/, 'late-answer');
    const child = place.start(words('cards fund card_1 --amount 7'), {
      env: t.processEnv('ana', ana),
      cwd: ana.folder,
    });
    const end = ended(child);
    await Promise.race([t.proxy.posted(t.proxy.posts().length + 1), end]);
    await t.proxy.answered();
    child.kill('SIGKILL');
    expect((await end).signal).toBe('SIGKILL');
    for (const each of machines) expect({ ...(await books(each)), classes: [] }).toEqual(balanced);
    await t.at.endLeases();
    const [left] = await t.at.ana.heads(t.at.account, { unfinished: true });
    const taken = await ben.run(`ops takeover ${left?.op} --reason "it was killed"`, { clock: skippingClock() });
    expect([0, 11], taken.err).toContain(taken.code);
    if (taken.code === 11) {
      const resolved = await ben.run(`ops resolve ${left?.op} --as done --note "the card shows it"`);
      expect(resolved.code, resolved.err).toBe(0);
    }
    expect((await ben.run('cards fund card_2 --amount 1')).code).toBe(0);
    for (const each of [...machines, ...machines]) expect(await books(each)).toEqual(balanced);
  });
});
