/** What a colleague is told of an operation that is in other hands: whose, until when, and the command that goes on with it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { skippingClock } from '../support/clocks.ts';
import { LEASE_S, secondsLeft } from '../support/seconds-left.ts';
import type { World } from '../support/world.ts';
import { team } from './team.ts';

type Team = Awaited<ReturnType<typeof team>>;

/** Done at the service; no answer came, and nothing could be looked at. Resolves to the op. */
async function lost(t: Team, machine: World, line: string): Promise<string> {
  t.proxy.fail('POST', /./, ...Array<'drop-after'>(10).fill('drop-after'));
  // A fund is read before it is sent, and is not settled by what its card holds alone.
  if (line.startsWith('cards create')) t.proxy.fail('GET', /./, ...Array<'drop-before'>(60).fill('drop-before'));
  const { code, err } = await machine.run(`${line} --json`);
  t.proxy.mend();
  expect(code, err).toBe(11);
  return String(JSON.parse(err.trim().split('\n').at(-1) ?? '').error.op);
}

describe.skipIf(missing())('an operation in other hands', () => {
  let here: Database;
  beforeAll(async () => {
    here = await database();
  });
  afterAll(() => here.close());

  it('a dry run says whose it is, and of a row that it has found that it is found', async () => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    const op = await lost(t, ana, 'cards create --bin bin_1 --amount 5');
    const takeover = `cardwright ops takeover ${op} --reason "why"`;
    const found = 'record 1 row ($5.00) that this look has found done.';
    const own = await ana.run(`ops resume ${op} --dry-run --json`);
    expect([own.code, own.err], own.err).toEqual([
      0,
      expect.stringContaining(`Dry run: nothing was sent. A resume would: ${found}`),
    ]);
    expect(JSON.parse(own.out).data).toMatchObject([{ outcome: 'done', card_id: 'card_1', error: null, next: null }]);
    const other = await ben.run(`ops resume ${op} --dry-run --json`);
    expect(JSON.parse(other.out).data).toMatchObject([{ outcome: 'done', error: null }]);
    expect(other.err).toContain(`note: ${op} is in the hands of ana on desk. To go on with it: ${takeover}\n`);
    expect(other.err).toContain(`A takeover would: ${found}`);

    // Somebody has it.
    const [ttl_ms, by] = [180_000, 'a0b1c2d3'];
    const call = { account: t.at.account, known: undefined, machine: '0'.repeat(16), host: 'desk', resume: true };
    const expectLeft = secondsLeft(LEASE_S);
    await t.at.ana.take({ ...call, op, by, ttl_ms }, { event: 'taken', op });
    const held = await ben.run(`ops resume ${op} --dry-run`);
    const hands = `note: ${op} is in the hands of ana on desk`;
    expectLeft(held.err, new RegExp(`${hands}; without a sign of life it can be taken up in (\\d+) s\n`));
    expect(held.err).toContain(`note: When that process has stopped and its lease is over: ${takeover}\n`);
  });

  it('a row that stays unknown is taken over before anything else', async () => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    expect((await ben.run('cards create --bin bin_1 --amount 20')).code).toBe(0);
    const op = await lost(t, ana, 'cards fund card_1 --amount 5');
    const takeover = `cardwright ops takeover ${op} --reason "why"`;
    const own = await ana.run(`ops resume ${op} --dry-run`, { clock: skippingClock() });
    expect(own.code).toBe(11);
    expect(own.err).not.toContain('takeover');
    const seen = await ben.run(`ops resume ${op} --dry-run`, { clock: skippingClock() });
    expect(seen.code).toBe(11);
    expect(seen.err).toContain(`Take it over first: ${takeover}`);
    expect(seen.err.indexOf('Take it over first')).toBeLessThan(seen.err.indexOf('When you know that it happened'));
    expect(seen.err).toContain(`try: ${takeover}\n`);
    expect(seen.err).not.toMatch(/cardwright ops resume \S+(?! --dry-run)\n/);
  });

  it('a takeover that was killed: its operator is told how he gets it back', async () => {
    await using t = await team(here);
    const [ana, ben] = [await t.machine('ana'), await t.machine('ben')];
    const op = await lost(t, ana, 'cards create --bin bin_1 --amount 5');
    const call = { account: t.at.account, known: undefined, machine: '0'.repeat(16), host: 'desk', resume: false };
    const expectLeft = secondsLeft(LEASE_S);
    await t.at.ben.take(
      { ...call, op, by: 'a0b1c2d3', ttl_ms: 180_000 },
      { event: 'taken', op, reason: 'ana is away' },
    );
    const held = await ana.run(`ops resume ${op}`);
    expect(held.code).toBe(14);
    expectLeft(held.err, /ben on desk has it; without a sign of life it can be taken up in (\d+) s/);
    expect(held.err).toContain(`its lease is over: cardwright ops takeover ${op} --reason "why"`);
    await t.at.endLeases();
    const back = await ana.run(`ops resume ${op}`);
    expect(back.code).toBe(14);
    expect(back.err).toContain(`${op} was taken up last by ben on desk, who is another operator`);
    expect(back.err).toContain('Who began it takes it back in the same way.');
    const [, command = ''] = /try: cardwright (.*)\n/.exec(back.err) ?? [];
    const ended = await ana.run(command.replace('"why"', '"ben was killed"'));
    expect([ended.code, ended.err], ended.err).toEqual([0, expect.anything()]);
    expect((await ben.run(`ops list --json`)).out).toContain('"finished"');
  });
});
