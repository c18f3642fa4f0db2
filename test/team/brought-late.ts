/**
 * An outcome that a machine brings late stands apart from the records of its op. A failover behind that, and what people do in
 * between, in many orders: the op stays whole, everybody can go on with it, and each row is done once.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { type AccountBackup, backupOf, promoted } from './account-backup.ts';
import { later } from './killing-stage.ts';
import { cableTo, team } from './team.ts';

export const SINGLE = 'cards create --bin bin_1 --amount 2 --label rep1 --yes';
export const FILE = 'cards create --file team.csv --yes --concurrency 2';
const ROWS = [2, 3, 4, 5];

export type Step =
  | 'ana pushes'
  | 'her laptop pushes'
  | 'ben pushes'
  | 'ana repeats it'
  | 'ana resumes'
  | 'her laptop resumes'
  | 'ben takes it over'
  /** What is written from here on is lost with the next failover. */
  | 'the standby is cut off'
  | 'failover';

export interface Order {
  readonly line: typeof SINGLE | typeof FILE;
  readonly steps: readonly Step[];
}

export const PUSHED: readonly Step[] = ['ana pushes', 'her laptop pushes', 'ben pushes'];

export function broughtLate(orders: readonly Order[]): void {
  describe.skipIf(missing())('an outcome that is brought late', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    for (const order of orders)
      it(`${order.line}: ${order.steps.join(', ')}`, async () => {
        await using s = await stage(here, order);
        await s.struck();
        for (const step of order.steps) await s.take(step);
        await s.accept();
        await s.wholeAgain();
      });
  });
}

async function stage(here: Database, { line }: Order) {
  const cable = await cableTo(here.server);
  const t = await team(here, { wallet: 500, delayMs: 200 });
  const { root } = t.at;
  const url = `postgres://ana@${encodeURIComponent(cable.folder)}:${cable.port}/${here.name}`;
  const [ana, laptop, ben] = [
    await t.machine('ana', { CARDWRIGHT_JOURNAL_URL: url }),
    await t.machine('ana'),
    await t.machine('ben'),
  ];
  const csv = `bin_id,amount\n${ROWS.map(amount => `bin_1,${amount}\n`).join('')}`;
  for (const { folder } of [ana, laptop, ben]) await writeFile(join(folder, 'team.csv'), csv);
  const amounts = line === SINGLE ? [2] : ROWS;
  let op = '';
  let backup: AccountBackup | undefined;
  const run = async ({ run: type }: World, typed: string) => {
    const ran = await type(typed, { clock: later() });
    expect(ran.err, typed).not.toContain('damaged');
    return ran;
  };
  const is = async (machine: World, typed: string, code = 0) => {
    const ran = await run(machine, typed);
    expect(ran.code, `${typed}: ${ran.err}`).toBe(code);
    return ran;
  };

  const steps: Readonly<Record<Step, () => Promise<unknown>>> = {
    'ana pushes': () => is(ana, 'journal push'),
    'her laptop pushes': () => is(laptop, 'journal push'),
    'ben pushes': () => is(ben, 'journal push'),
    'ana repeats it': () => is(ana, line, 14),
    'ana resumes': () => is(ana, `ops resume ${op} --yes`),
    'her laptop resumes': async () => {
      await endLeases();
      return is(laptop, `ops resume ${op} --yes`);
    },
    'ben takes it over': async () => {
      await endLeases();
      return is(ben, `ops takeover ${op} --reason "the database was away" --yes`);
    },
    'the standby is cut off': async () => {
      backup = await backupOf(root, t.at.account);
    },
    failover: async () => {
      await backup?.restore();
      backup = undefined;
      await promoted(root, t.at.account);
    },
  };

  async function endLeases(): Promise<void> {
    const over = `clock_timestamp() - interval '200 seconds'`;
    await root.call(`update cardwright.op set lease_until = ${over} where op = '${op}' and state = 'running'`, []);
  }

  return {
    take: (step: Step) => steps[step](),
    accept: () => t.at.admin(`accept_failover('promoted again')`),
    /** The service says yes, and nothing of that reaches the database. */
    async struck() {
      t.proxy.fail('POST', /\/cards$/, 'late-answer', 'late-answer');
      const cut = t.proxy.posted(Math.min(2, amounts.length)).then(() => cable.cut());
      const { code, err } = await run(ana, line);
      await cut;
      expect(code, err).toBe(11);
      await t.proxy.answered();
      await cable.mend();
      const [head] = await t.at.ana.heads(t.at.account, { unfinished: true });
      op = head?.op ?? '';
    },
    async wholeAgain() {
      await endLeases();
      await is(ben, `ops show ${op}`);
      for (const machine of [ana, ben]) {
        const resumed = await run(machine, `ops resume ${op} --yes`);
        expect([0, 14], resumed.err).toContain(resumed.code);
        await run(machine, `ops takeover ${op} --reason "to see it whole" --yes`);
      }
      await is(ben, `ops show ${op}`);
      const cards = (await t.cards()).map(({ balance }) => balance).sort();
      expect([cards, await t.balance()]).toEqual([amounts, 500 - amounts.reduce((sum, amount) => sum + amount, 0)]);
      const checked = await is(ben, 'journal check --json');
      expect(JSON.parse(checked.out).flaws).toEqual([]);
      const listed = JSON.parse((await is(ana, 'ops list --json')).out).data;
      expect(listed).toMatchObject([{ op, state: 'finished', done: amounts.length }]);
    },
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]();
      await cable[Symbol.asyncDispose]();
    },
  };
}
