/**
 * Commands that take up an op which is there already, one that was approved or one that was left, are killed. On the machine
 * where they died the same command and `ops resume` go on at once, as behind a command that has begun its op itself.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ended, type Home, home } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { skippingClock } from '../support/clocks.ts';
import { words } from '../support/words.ts';
import { addApproverRoles } from './approver.ts';
import { CARD, type KillingStage, killingStage, later, type Seen } from './killing-stage.ts';

const made = (amount: number) => (seen: Seen) =>
  seen.cards.filter(card => card.id !== 'card_1' && card.balance === amount).length;

const APPROVED = {
  create: { line: 'cards create --bin bin_1 --amount 3 --intent po-1', typed: '3.00', times: made(3) },
  api: {
    line: 'api POST /cards -f bin_id=bin_1 -F amount:=3 --marker --intent po-1 --yes',
    typed: '3.00',
    times: made(3),
  },
  fund: {
    line: 'cards fund card_1 --amount 2 --intent po-1',
    typed: '2.00',
    times: ({ cards }: Seen) => ((cards.at(-1)?.balance ?? 0) - CARD) / 2,
  },
  file: {
    line: 'cards create --file cards.csv --yes',
    typed: '7.00',
    times: (seen: Seen) => made(3)(seen) * made(4)(seen),
    // Without an intent the same command asks anew: its resume sends it.
    isResumed: true,
  },
} as const;

export interface Kills {
  readonly approved: keyof typeof APPROVED;
  /** Messages around which it is killed; each of them in turn when left out. Funds and files wait for the end of their quiet period. */
  readonly at?: readonly number[];
}

export function killedAgain(sweeps: readonly Kills[]): void {
  describe.skipIf(missing())('on the machine where it died', () => {
    let here: Database;
    let place: Home;
    beforeAll(async () => {
      [here, place] = await Promise.all([database(), home()]);
    });
    afterAll(async () => {
      await place?.[Symbol.asyncDispose]();
      await here.close();
    });

    /** Whether it was killed before it had ended. */
    async function killed(t: KillingStage, line: string, message: number): Promise<boolean> {
      const child = place.start(words(line), { env: t.env('ana', t.ana), cwd: t.ana.folder });
      t.way.arm(message, () => child.kill('SIGKILL'));
      const { signal, code, err } = await ended(child);
      t.way.disarm();
      expect(signal === 'SIGKILL' || code === 0, `message ${message}: ${code} ${err}`).toBe(true);
      return signal === 'SIGKILL';
    }

    /** Nothing waits for a lease, and the change is made once in the end. */
    async function goesOn(t: KillingStage, { line, times }: (typeof APPROVED)[keyof typeof APPROVED], says: string) {
      const { ana, at } = t;
      const [left] = await at.ana.heads(at.account, { unfinished: true });
      if (left === undefined) return;
      const again = await ana.run(line, { clock: skippingClock() });
      expect([0, 11, 14, 17], `${says}: ${again.err}`).toContain(again.code);
      expect(again.err, says).not.toMatch(/can be taken up in/);
      const [now] = await at.ana.heads(at.account, { op: left.op });
      if (now?.state === 'finished') return expect(times(await t.seen()), says).toBe(1);
      const resumed = await ana.run(`ops resume ${left.op} --resend-absent --yes`, { clock: later() });
      expect(resumed.err, says).not.toMatch(/can be taken up in/);
      expect([0, 11], `${says}: ${resumed.err}`).toContain(resumed.code);
      if (resumed.code === 0) expect(times(await t.seen()), says).toBe(1);
    }

    test.each(sweeps)(
      'what was approved goes on at once: $approved',
      { timeout: 600_000 },
      async ({ approved, at }) => {
        const strike = async (message: number) => {
          await using t = await killingStage(here);
          await writeFile(join(t.ana.folder, 'cards.csv'), 'bin_id,amount\nbin_1,3\nbin_1,4\n');
          const { line, typed } = APPROVED[approved];
          await approvedBy(t, line, typed);
          const [held] = await t.at.ana.heads(t.at.account, { unfinished: true });
          const struck = await killed(
            t,
            'isResumed' in APPROVED[approved] ? `ops resume ${held?.op} --yes` : line,
            message,
          );
          await goesOn(t, APPROVED[approved], `${approved}, message ${message}`);
          return struck;
        };
        for (const message of at ?? []) expect(await strike(message), `message ${message}`).toBe(true);
        let kills = 0;
        if (at === undefined) while (await strike(kills + 1)) kills += 1;
        if (at === undefined) expect(kills).toBeGreaterThan(12);
      },
    );

    test.each([22, 28])('a resume that was killed is resumed at once: message %i', async message => {
      await using t = await killingStage(here);
      const { ana, at } = t;
      expect(await killed(t, APPROVED.create.line, 12)).toBe(true);
      const [left] = await at.ana.heads(at.account, { unfinished: true });
      expect(await killed(t, `ops resume ${left?.op}`, message)).toBe(true);
      expect(await at.ana.heads(at.account, { unfinished: true })).toMatchObject([{ epoch: 2 }]);
      await goesOn(t, APPROVED.create, `message ${message}`);
      expect((await ana.run('ops locks --json --jq .page.total')).out).toBe('0\n');
    });
  });
}

/** What the line asks for is held, and bob agrees to it. */
async function approvedBy(t: KillingStage, line: string, typed: string): Promise<void> {
  const { ana, at } = t;
  await addApproverRoles(at);
  const bob = await t.machine('bob');
  const terminal = (last: string) => ({ terminal: 200, typed: [last, 'correct horse'] });
  expect((await bob.run('approvals key create', terminal('correct horse'))).code).toBe(0);
  const key = (await bob.run('approvals key show -q')).out.trim().replace(/^\S+/, 'bob');
  await at.admin(`add_approver('${key}', '{bob}')`);
  await at.admin(`set_rule('approve_above', 100)`);
  expect((await ana.run(line, { clock: skippingClock() })).code).toBe(17);
  const [held] = await at.ana.heads(at.account, { unfinished: true });
  const agreed = await bob.run(`approvals approve ${held?.op.replace(/^op/, 'apr')}`, terminal(typed));
  expect({ code: agreed.code, err: agreed.err }).toMatchObject({ code: 0 });
}
