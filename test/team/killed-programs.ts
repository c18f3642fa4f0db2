/**
 * Programs with `cardwright/client` and a shared journal, killed around each message to the database and the service. The same
 * call again, of the program or of one on another machine, gets the one card or is refused; it never makes a second one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ended, ROOT } from '../package/built.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database, type Person } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { CARD, type KillingStage, killingStage, later, type Seen } from './killing-stage.ts';

const LIBRARY = join(ROOT, 'dist', 'library-client.cjs');
/** Says what one named call came to. */
const PROGRAM = `
const { createClient } = require(${JSON.stringify(LIBRARY)});
(async () => {
  const { operation, input, ...options } = JSON.parse(process.env.CALL);
  const client = createClient(options);
  const said = await client.send(operation, input, { intent: 'po-1' }).then(
    result => ({ done: result.id ?? result.card_id ?? true }),
    ({ kind, outcome, op, message }) => ({ kind, outcome, op, message }),
  );
  await client.close();
  process.stdout.write(JSON.stringify(said));
})();
`;

interface Call {
  readonly operation: string;
  readonly input: Readonly<Record<string, string | number>>;
  /** How often it was carried out. */
  readonly times: (seen: Seen) => number;
}

const CALLS = {
  create: {
    operation: 'cards.create',
    input: { bin_id: 'bin_1', amount: 3 },
    times: ({ cards }) => cards.length - 1,
  },
  fund: {
    operation: 'cards.fund',
    input: { card_id: 'card_1', amount: 3 },
    times: ({ cards }) => ((cards.at(-1)?.balance ?? 0) - CARD) / 3,
  },
} as const satisfies Readonly<Record<string, Call>>;

type Said =
  | { readonly done: string | true }
  | { readonly kind: string; readonly outcome: string; readonly op?: string };

export interface ProgramSweep {
  readonly call: keyof typeof CALLS;
  /** Messages around which it is killed; each of them in turn when left out. */
  readonly at?: readonly number[];
}

export function killedPrograms(sweeps: readonly ProgramSweep[]): void {
  describe.skipIf(missing())('a program that was killed', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    test.each(sweeps)('$call', { timeout: 600_000 }, async ({ call, at }) => {
      for (const message of at ?? []) expect(await strike(call, message), `message ${message}`).toBe(true);
      if (at !== undefined) return;
      let [next, kills, isOver] = [1, 0, false];
      // Much of a call is patience with a lease.
      const worker = async () => {
        while (!isOver) {
          if (await strike(call, next++)) kills += 1;
          else isOver = true;
        }
      };
      await Promise.all([worker(), worker(), worker(), worker()]);
      expect(kills).toBeGreaterThan(8);
    });

    /** False where it had ended before. */
    async function strike(name: keyof typeof CALLS, message: number): Promise<boolean> {
      const call: Call = CALLS[name];
      await using t = await killingStage(here);
      const child = start(t, 'ana', t.ana, call);
      t.way.arm(message, () => child.kill('SIGKILL'));
      const { signal, code, err } = await ended(child);
      t.way.disarm();
      expect(signal === 'SIGKILL' || code === 0, `message ${message}: ${code} ${err}`).toBe(true);
      const says = `${name}, message ${message}`;
      // At once, on the machine where it died and on another one.
      const byOwner = message % 2 === 0;
      const machines = [['ana', t.ana] as const, ['ben', t.ben] as const];
      const before = call.times(await t.seen());
      for (const [role, machine] of byOwner ? machines : machines.toReversed()) {
        const said = await again(t, role, machine, call);
        const now = call.times(await t.seen());
        expect(now, `${says}, ${role}: ${JSON.stringify(said)}`).toBe('done' in said ? 1 : before);
        if (!('done' in said)) expect(['not_sent', 'unknown'], says).toContain(said.outcome);
        if ('done' in said) break;
      }
      await t.endLeases();
      await settled(t, byOwner);
      for (const [role, machine] of machines)
        expect(await again(t, role, machine, call), says).toMatchObject({ done: expect.anything() });
      expect(call.times(await t.seen()), says).toBe(1);
      expect(await t.flaws(t.ben), says).toEqual([]);
      return signal === 'SIGKILL';
    }

    /** What nobody knows an operator of the command line takes up; where it cannot be seen, a person looks. */
    async function settled(t: KillingStage, byOwner: boolean): Promise<void> {
      const machine = byOwner ? t.ana : t.ben;
      for (const { op, holder } of await t.at.ana.heads(t.at.account, { unfinished: true })) {
        const isOwn = holder === (byOwner ? 'ana' : 'ben');
        const takeUp = isOwn ? `ops resume ${op}` : `ops takeover ${op} --reason "the program was killed"`;
        const { code, err } = await machine.run(`${takeUp} --resend-absent --yes`, { clock: later() });
        expect([0, 11], err).toContain(code);
        if (code === 0) continue;
        const seen = await t.seen();
        const as = seen.wallet < 100 - CARD ? 'done' : 'not-done';
        const closed = await machine.run(`ops resolve ${op} --as ${as} --note "looked" --yes`, { clock: later() });
        expect(closed.code, closed.err).toBe(0);
      }
    }

    async function again(t: KillingStage, role: Person, machine: World, call: Call): Promise<Said> {
      const { code, out, err } = await ended(start(t, role, machine, call));
      expect({ code, err }).toEqual({ code: 0, err: '' });
      return JSON.parse(out) as Said;
    }

    function start(t: KillingStage, role: Person, machine: World, { operation, input }: Call): ChildProcess {
      const env = t.env(role, machine);
      const options = {
        operation,
        input,
        baseUrl: env.CARDWRIGHT_BASE_URL,
        apiKey: env.CARDWRIGHT_API_KEY,
        journal: env.CARDWRIGHT_JOURNAL_URL,
        journalAccount: env.CARDWRIGHT_JOURNAL_ACCOUNT,
        journalFolder: join(machine.folder, 'state'),
      };
      return spawn(process.execPath, ['-e', PROGRAM], {
        env: { PATH: process.env['PATH'], CALL: JSON.stringify(options) },
      });
    }
  });
}
