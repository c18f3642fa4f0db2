/** What several machines do with one journal besides single operations and files: fleets, and what is removed at last. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '../../src/core/durations.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { realClock } from '../support/clocks.ts';
import { team } from './team.ts';
import { hex } from './test-account.ts';

const FLEET = `version: 1
fleet: ads
caps: {per_apply: 300.00, cards: 9}
defaults: {bin: bin_1, amount: 30.00}
cards:
  event: {label: "event {n}", count: 3}
`;

describe.skipIf(missing())('a shared journal', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it('a fleet is applied by one machine at a time, and a plan of it once on all of them', async () => {
    await using t = await team(here, { wallet: 500 });
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    for (const { folder } of [ana, ben]) await writeFile(join(folder, 'cards.fleet.yaml'), FLEET);
    expect((await ana.run('fleet plan --out plan.json')).code).toBe(0);
    await writeFile(join(ben.folder, 'plan.json'), await readFile(join(ana.folder, 'plan.json')));
    // A third machine is at work on it.
    const mine = { account: t.at.account, name: 'fleet/ads', by: hex(4) };
    const held = await t.at.ben.holdName({ ...mine, host: 'runner', ttl_ms: 60_000 });
    expect(held).toMatchObject({ verdict: 'holding' });
    const refused = await ana.run('fleet apply --plan plan.json --yes');
    expect(refused).toMatchObject({
      code: 14,
      err: expect.stringContaining('the fleet ads is under way, by ben on runner'),
    });
    expect(await t.cards()).toEqual([]);
    await t.at.ben.releaseName(mine);
    const both = await Promise.all([ana, ben].map(each => each.run('fleet apply --plan plan.json --yes --json')));
    expect(both.map(({ code }) => code).every(code => code === 0 || code === 14)).toBe(true);
    expect(both.some(({ code }) => code === 0)).toBe(true);
    expect([(await t.cards()).length, await t.balance()]).toEqual([3, 410]);
    const late = await ben.run('fleet apply --plan plan.json --yes');
    expect(late.code).not.toBe(11);
    expect([(await t.cards()).length, await t.balance()]).toEqual([3, 410]);
    expect((await ana.run('journal check --json --jq .ok')).out).toBe('true\n');
  });

  it('a name that a machine holds is free when it has shown no sign of life for a lease', async () => {
    await using t = await team(here);
    const call = (by: string) => ({ account: t.at.account, name: 'fleet/x', by, host: 'runner', ttl_ms: 1_000 });
    const [one, other] = [hex(4), hex(4)];
    expect(await t.at.ana.holdName(call(one))).toMatchObject({ verdict: 'holding' });
    expect(await t.at.ana.holdName(call(one))).toMatchObject({ verdict: 'holding' });
    expect(await t.at.ben.holdName(call(other))).toMatchObject({ verdict: 'held', holder: 'ana', host: 'runner' });
    await t.at.root.call(`update cardwright.name_hold set lease_until = clock_timestamp()`, []);
    expect(await t.at.ben.holdName(call(other))).toMatchObject({ verdict: 'holding' });
    // Who has lost it lets nothing go.
    await t.at.ana.releaseName(call(one));
    expect(await t.at.ana.holdName(call(one))).toMatchObject({ verdict: 'held', holder: 'ben' });
    await expect(t.at.ana.holdName({ ...call('me'), name: 'y' })).rejects.toMatchObject({ code: 'CW007' });
  });

  it('ops prune removes what was finished 90 days ago by the clock of the database; names of done rows stay', async () => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    const create = 'cards create --bin bin_1 --amount 10 --intent po-1 --json';
    expect((await ana.run(create)).code).toBe(0);
    expect((await ana.run('cards fund card_1 --amount 1 -q')).code).toBe(0);
    const clock = { ...realClock, now: () => Date.now() + 100 * DAY };
    // A machine whose clock is wrong removes nothing.
    expect((await ana.run('ops prune --json --jq .page.total', { clock })).out).toBe('0\n');
    await t.at.root.call(`update cardwright.op set ended_at = ended_at - interval '91 days'`, []);
    expect((await ana.run('ops prune --dry-run --json --jq .page.total', { clock })).out).toBe('2\n');
    expect((await ana.run('ops prune --json --jq .page.total', { clock })).out).toBe('2\n');
    expect((await ben.run('ops list --json --jq .page.total')).out).toBe('0\n');
    const again = await ben.run(create);
    expect(JSON.parse(again.out)).toMatchObject({ id: 'card_1', intent: { repeated: true } });
    expect((await ben.run(create.replace('10', '11'))).code).toBe(2);
    expect(t.proxy.posts()).toHaveLength(2);
    const checked = await ben.run('journal check --json');
    expect({ code: checked.code, flaws: JSON.parse(checked.out).flaws }).toEqual({ code: 0, flaws: [] });
  });
});
