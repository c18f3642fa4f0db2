/**
 * A command is killed, and the same change is asked for while the lease of the dead process still runs: it is in the way,
 * whatever it has done and whoever asks.
 */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cents } from '../../src/core/money.ts';
import type { PlannedRow, RunPlan } from '../../src/journal/types.ts';
import { inputDigest } from '../../src/journal/wal/op-id.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { thrown } from '../client/served.ts';
import { AMOUNT, journalFor, performAll, planOf, rowsOf } from '../crash/driver.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { type Program, program } from '../support/child.ts';
import { waitingClock } from '../support/clocks.ts';
import { ask } from '../support/sandbox-http.ts';
import { LEASE_S, secondsLeft } from '../support/seconds-left.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type SharedOrder, storeAt } from './shared-driver.ts';
import { testAccount } from './test-account.ts';

const SOURCE = `
import { driveShared } from './test/team/shared-driver.ts';
await driveShared(JSON.parse(process.argv[2]));
`;

/** A change that somebody asks for after the kill. */
interface Asked {
  readonly by: 'ana' | 'ben';
  readonly plan: (order: SharedOrder) => RunPlan;
  /** Other amounts are refused before anything is begun, where nobody said that they are meant. */
  readonly isLook?: true;
}

/** Effects at which a process is killed; every one of them in turn when left out. */
export interface Sweep {
  readonly single?: readonly number[];
  readonly named?: readonly number[];
  readonly file: readonly number[];
}

const planWith = (rows: readonly PlannedRow[], bulk = false): RunPlan => ({
  command: 'cards create',
  rows,
  digest: inputDigest(rows),
  bulk,
  marker: true,
});
const other = (row: PlannedRow): PlannedRow => ({ ...row, intent: `other/${row.row}` });
const edited = (row: PlannedRow): PlannedRow => {
  const amount = cents(AMOUNT + 50);
  return { ...row, amount, input: { ...row.input, amount } };
};

export function killedHolder({ single, named, file }: Sweep): void {
  describe.skipIf(missing())('behind a process that was killed', () => {
    let here: Database;
    let child: Program;
    beforeAll(async () => {
      [here, child] = await Promise.all([database(), program(SOURCE)]);
    });
    afterAll(async () => {
      await child?.[Symbol.asyncDispose]();
      await here.close();
    });

    /** Kills at one effect; resolves to false where it had nothing more to do. */
    async function strike(killed: Pick<SharedOrder, 'rows' | 'named'>, dieAt: number, asks: readonly Asked[]) {
      await using sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
      await using folder = await temporaryFolder();
      const at = await testAccount(here);
      const { json: bins } = await ask(sandbox, { path: '/bins' });
      const order: SharedOrder = {
        url: sandbox.url,
        key: sandbox.key.expose(),
        folder: `${folder.path}/killed`,
        bin: bins.data[0].id,
        ...killed,
        dieAt,
        account: at.account,
        role: 'ana',
        socket: here.server.socket,
        port: here.server.port,
        database: here.name,
      };
      const expectLeft = secondsLeft(LEASE_S);
      const [code, signal] = (await once(child.start(JSON.stringify(order)), 'close')) as [
        number | null,
        string | null,
      ];
      expect(signal === 'SIGKILL' || code === 0, `effect ${dieAt} ended with ${code ?? signal}`).toBe(true);
      const left = await at.ana.heads(at.account, { unfinished: true });
      const cards = async () => (await ask(sandbox, { path: '/cards?per_page=100' })).json.data.length as number;
      const before = await cards();
      if (left.length === 0) return signal === 'SIGKILL';
      const [one] = left;
      for (const [index, { by, plan, isLook }] of asks.entries()) {
        const clock = waitingClock(Date.now());
        const who = { ...order, role: by, folder: `${folder.path}/${index}` };
        const { store, end } = await storeAt(who, undefined, clock);
        try {
          const journal = journalFor(who, undefined, clock, { store });
          const wanted = plan(order);
          const look = () => journal.refuseTwin(wanted);
          const begin = async () => performAll(await journal.begin(wanted));
          for (const asking of isLook ? [look] : [look, begin]) {
            const refused = await thrown(asking());
            expect(refused, `effect ${dieAt}, ${index} by ${by}`).toMatchObject({
              kind: 'guarded',
              facts: { op: one?.op, outcome: 'not_sent' },
            });
            expectLeft(refused.message, /without a sign of life it can be taken up in (\d+) s/);
          }
        } finally {
          await end();
        }
      }
      expect(await cards(), `effect ${dieAt}`).toBe(before);
      return signal === 'SIGKILL';
    }

    async function sweep(
      killed: Pick<SharedOrder, 'rows' | 'named'>,
      effects: readonly number[] | undefined,
      asks: readonly Asked[],
    ) {
      if (effects !== undefined) {
        for (const dieAt of effects) expect(await strike(killed, dieAt, asks), `effect ${dieAt}`).toBe(true);
        return;
      }
      let kills = 0;
      while (await strike(killed, kills + 1, asks)) kills += 1;
      expect(kills).toBeGreaterThan(8);
    }

    test('a single create is in the way of the same one, wherever it was killed', { timeout: 120_000 }, () =>
      sweep({ rows: 1, named: false }, single, [
        { by: 'ana', plan: planOf },
        { by: 'ben', plan: planOf },
        { by: 'ben', plan: order => planWith(rowsOf(order).map(other)) },
      ]),
    );

    test('a create with a name is in the way of one without', { timeout: 120_000 }, () =>
      sweep({ rows: 1, named: true }, named, [
        { by: 'ben', plan: order => planOf({ ...order, named: false }) },
        { by: 'ana', plan: order => planWith(rowsOf({ ...order, named: false })) },
      ]),
    );

    test('rows of a file are in the way, alone, in a file, and with other amounts', { timeout: 120_000 }, async () => {
      const third = (order: SharedOrder) => rowsOf(order).slice(2);
      const asks: readonly Asked[] = [
        { by: 'ben', plan: order => planWith(third(order)) },
        { by: 'ana', plan: order => planWith(third(order), true) },
        { by: 'ben', plan: order => planWith(rowsOf(order).map(edited), true), isLook: true },
      ];
      await sweep({ rows: 3, named: false }, file, asks);
    });
  });
}
