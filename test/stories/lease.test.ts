/** A card for the length of a program: its environment, its end, and what a crash leaves to the reaper. */
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { processName } from '../../src/files/processes.ts';
import { type World, world } from '../support/world.ts';

const cards = async (here: World) =>
  JSON.parse((await here.run('cards list --all --json')).out).data as { id: string; status: string; balance: number }[];
const LEASE = 'cards lease --bin bin_1 --amount 25 --reveal --yes';

/** Nothing arrives, and nothing can be looked up. */
const AWAY = JSON.stringify(
  ['cards.create', 'cards.list'].map(operation => ({
    match: { operation },
    phase: 'before',
    times: 99,
    action: { kind: 'reset' },
  })),
);

describe('cards lease', () => {
  it('with an intent is one purchase: a second one neither pays nor runs its program', async () => {
    await using here = await world({ wallet: 100 });
    const lease = `${LEASE} --intent checkout-7 -- true`;
    expect((await here.run(lease)).code).toBe(0);
    const again = await here.run(lease);
    expect({ code: again.code, out: again.out }).toEqual({ code: 14, out: '' });
    expect(again.err).toContain('the program was not run');
    expect((await here.run(`${LEASE.replace('25', '20')} --intent checkout-7 -- true`)).code).toBe(2);
    expect(JSON.parse((await here.run('cards list --json')).out).data).toHaveLength(1);
    expect((await here.run('cards lease --reap --yes --json')).out).toContain('"terminated": []');
  });

  it('that told nothing has one card when it is typed again, and no program runs with it', async () => {
    await using here = await world({ wallet: 100 });
    const lease = `${LEASE} --intent checkout-7 -- sh -c 'exit 9'`;
    await here.run('sandbox faults add -', { stdin: AWAY });
    expect((await here.run(lease, { onPause: () => undefined })).code).toBe(11);
    await here.run('sandbox faults clear --yes');
    // This one makes the card: "nothing was sent" would be a lie.
    const again = await here.run(`${lease.replace('cards', '--json cards')}`, { onPause: () => undefined });
    expect([again.code, again.out, JSON.parse(again.err).error]).toMatchObject([15, '', { outcome: 'done' }]);
    expect(again.err).toContain('the program was not run');
    const [op] = /op_\w+/.exec(again.err) ?? [];
    expect((await here.run(`ops resume ${op}`)).out).toContain('card_1');
    const told = await here.run(lease);
    expect([told.code, told.out, told.err]).toEqual([14, '', expect.stringContaining('No change was sent.')]);
    await here.run('sandbox clock advance --by 30m');
    const reaped = await here.run('cards lease --reap --yes');
    expect([reaped.code, reaped.out]).toEqual([0, 'card_1\n']);
    expect(await cards(here)).toMatchObject([{ id: 'card_1', status: 'terminated' }]);
  });

  it('gives the program the card, ends with its exit code, and leaves nothing', async () => {
    await using here = await world();
    const script = 'test $(printf %s $CARD_NUMBER | wc -c) = 16 && test $CARD_ID = card_1 && exit 7';
    const { code, out, err } = await here.run(`${LEASE} -- sh -c '${script}'`);
    expect({ code, out, err }).toEqual({ code: 7, out: '', err: '' });
    expect(await cards(here)).toMatchObject([{ id: 'card_1', status: 'terminated', balance: 0 }]);
    expect(JSON.parse((await here.run('wallet --json')).out).balance).toBe(1000);
  });

  it('makes no card where it may not be revealed or nobody said yes', async () => {
    await using here = await world();
    for (const line of [
      'cards lease --amount 25 --yes -- true',
      'cards lease --amount 25 --reveal -- true',
      'cards lease --amount 25 --reveal --yes -- no-such-program-anywhere',
      'cards lease --amount 25 --reveal --yes',
      'cards lease --reveal --yes -- true',
      'cards lease --amount 0.5 --reveal --yes -- true',
    ]) {
      expect([2, 3], line).toContain((await here.run(line)).code);
    }
    expect(await cards(here)).toEqual([]);
  });
  it('says which card still holds money when it cannot be ended, and the reaper ends it', async () => {
    await using here = await world();
    const rule = '{"match":{"operation":"cards.terminate"},"times":9,"action":{"kind":"status","code":422}}';
    const added = await here.run('sandbox faults add -', { stdin: rule });
    expect(added.code, added.err).toBe(0);
    const { code, err } = await here.run(`${LEASE} -- true`);
    expect(code).not.toBe(0);
    expect(err).toContain('card_1');
    expect(err).toContain('cards lease --reap --yes');
    await here.run('sandbox faults clear --yes');
    await here.run('sandbox clock advance --by 30m');
    const reaped = await here.run('cards lease --reap --yes --json');
    expect(reaped.err).toBe('');
    expect(JSON.parse(reaped.out)).toEqual({ terminated: ['card_1'] });
    expect(await cards(here)).toMatchObject([{ status: 'terminated', balance: 0 }]);
  });

  it('whatever keeps its card from being terminated, its program may have paid: no code that a script repeats on', async () => {
    await using here = await world();
    const rule = '{"match":{"operation":"cards.terminate"},"times":9,"action":{"kind":"status","code":401}}';
    await here.run('sandbox faults add -', { stdin: rule });
    const { code, err } = await here.run(`${LEASE} --intent a --json -- sh -c 'exit 3'`);
    expect([code, JSON.parse(err).error]).toMatchObject([
      15,
      {
        outcome: 'done',
        retryable: false,
        message: expect.stringMatching(/^cards.create is done, but card_1 could not/),
      },
    ]);
    expect(err).toContain('; the program ended with 3');
    const again = await here.run(`${LEASE} --intent a -- true`);
    expect([again.code, again.out]).toEqual([14, '']);
    expect(await cards(here)).toHaveLength(1);
  });

  it('of which it is not known whether its card is ended, is not to be run again: that would be another purchase', async () => {
    await using here = await world();
    const rule = '{"match":{"operation":"cards.terminate"},"times":99,"action":{"kind":"status","code":503}}';
    await here.run('sandbox faults add -', { stdin: rule });
    const { code, err } = await here.run(`${LEASE} -- true`, { onPause: () => undefined });
    expect(code).toBe(11);
    expect(err).toContain('Do not run the command again: its card was made, and may have paid.');
    expect(err).not.toContain('Running the command again does no harm');
  });

  it.each(['', ' --intent po-1'])('does not forget a lease%s while its operation may still make a card', async name => {
    await using here = await world({ wallet: 100 });
    await here.run('sandbox faults add -', { stdin: AWAY });
    const lease = `${LEASE}${name} -- true`;
    expect((await here.run(lease, { onPause: () => undefined })).code).toBe(11);
    await here.run('sandbox faults clear --yes');
    const [{ op }] = JSON.parse((await here.run('ops list --json')).out).data;
    for (let times = 0; times < 2; times += 1) {
      const early = await here.run('cards lease --reap --yes --json');
      expect([early.code, JSON.parse(early.out)]).toEqual([0, { terminated: [] }]);
      expect(early.err).toContain(`${op} is not settled, and may still make the card of a lease`);
      expect(early.err).toContain(`cardwright ops resume ${op}`);
    }
    // The same lease again settles it as well where it has a name.
    const settled = await here.run(name === '' ? `ops resume ${op}` : lease);
    expect([settled.code, settled.err], settled.err).toEqual([name === '' ? 0 : 15, expect.anything()]);
    expect(await cards(here)).toMatchObject([{ id: 'card_1', status: 'active' }]);
    await here.run('sandbox clock advance --by 30m');
    const reaped = await here.run('cards lease --reap --yes --json');
    expect([reaped.code, JSON.parse(reaped.out), reaped.err]).toEqual([0, { terminated: ['card_1'] }, '']);
  });

  it('reaps by the mark on the card once its time is over, without any note', async () => {
    await using here = await world();
    const mark = 'lease_0011 until 2026-11-20T14:10:00Z';
    await here.run(`cards create --bin bin_1 --amount 25 --metadata 'cardwright_lease=${mark}'`);
    await here.run('cards create --bin bin_1 --amount 5');
    expect((await here.run('cards lease --reap --yes --json')).out).toContain('"terminated": []');
    await here.run('sandbox clock advance --by 10m');
    const refused = await here.run('cards lease --reap');
    expect(refused.code).toBe(3);
    expect(refused.err).toContain('card_1');
    const { code, out } = await here.run('cards lease --reap --yes --json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ terminated: ['card_1'] });
    expect((await cards(here)).map(({ status }) => status).toSorted()).toEqual(['active', 'terminated']);
  });

  it('reaps at once what a process of this machine has left, and nothing of one that runs', async () => {
    await using here = await world();
    const own = processName(process.pid);
    const [pid, , ...place] = own.split('_');
    const earlier = [pid, 'h', ...place].join('_');
    for (const mark of [earlier, own, 'another-machine']) {
      const value = `lease_0011 until 2026-11-21T14:10:00Z by ${mark}`;
      await here.run(`cards create --bin bin_1 --amount 25 --metadata 'cardwright_lease=${value}'`);
    }
    expect(JSON.parse((await here.run('cards lease --reap --yes --json')).out)).toEqual({ terminated: ['card_1'] });
  });

  it('terminates the card at the end of its time, whatever the program does', async () => {
    await using here = await world();
    const { code, err } = await here.run(`${LEASE} --ttl 1s -- sleep 2.5`);
    expect(code).toBe(8);
    expect(err).toContain('the 1s of the lease are over: card_1 is terminated');
    expect(await cards(here)).toMatchObject([{ status: 'terminated' }]);
  });

  it('a signal before the program begins makes it end without it', async () => {
    await using here = await world();
    const stopping = new AbortController();
    stopping.abort(new CliError('interrupted', { message: 'stopped by Ctrl-C' }));
    const { code } = await here.run(`${LEASE} -- true`, { signal: stopping.signal });
    expect(code).toBe(130);
    expect((await cards(here)).filter(({ status }) => status !== 'terminated')).toEqual([]);
  });
  it.each([
    [2, 0, ''],
    [3, 15, 'cards.create is done, and card_1 is terminated; the program was not run'],
  ])('whose %ith reading does not show the card yet ends with %i, and leaves nothing', async (nth, ends, says) => {
    await using here = await world();
    const late = { match: { operation: 'cards.get', nth }, phase: 'before', action: { kind: 'status', code: 404 } };
    await here.run('sandbox faults add -', { stdin: JSON.stringify([{ ...late, times: 1 }]) });
    const { code, err } = await here.run(`${LEASE} -- true`, { onPause: () => undefined });
    expect([code, err]).toEqual([ends, expect.stringContaining(says)]);
    expect(await cards(here)).toMatchObject([{ id: 'card_1', status: 'terminated', balance: 0 }]);
  });

  it('hides number and CVV in the log of GitHub Actions when asked', async () => {
    await using here = await world();
    const env = { GITHUB_ACTIONS: 'true' };
    const { err } = await here.run(`${LEASE} --mask -- true`, { env });
    expect(err).toMatch(/^::add-mask::\d{16}\n::add-mask::(?:\d{4} ){3}\d{4}\n::add-mask::\d{3}\n$/);
    expect((await here.run(`${LEASE} -- true`, { env })).err).toBe('');
  });
});
