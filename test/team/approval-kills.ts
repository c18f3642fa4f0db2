/**
 * A command that asks for approval, and one that sends what was approved, are killed around every call of the database and
 * every request. What was asked is asked once, and what was approved is done once, whoever goes on with it.
 */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliError } from '../../src/core/errors.ts';
import { startSandbox } from '../../src/sandbox/serving/start.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { journalFor, performAll, planOf } from '../crash/driver.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { type Program, program } from '../support/child.ts';
import { waitingClock } from '../support/clocks.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { ask } from '../support/sandbox-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { addApproverRoles, signer } from './approver.ts';
import { holdingGate, type SharedOrder, storeAt } from './shared-driver.ts';
import { KEY_PRINT, testAccount } from './test-account.ts';

const SOURCE = `
import { driveShared } from './test/team/shared-driver.ts';
await driveShared(JSON.parse(process.argv[2]));
`;

export interface ApprovalSweep {
  readonly killed: 'asks' | 'sends';
  readonly rows: number;
  /** Killed behind that call alone; around every effect when left out. */
  readonly behind?: SharedOrder['dieBehind'];
}

export function approvalKills(sweeps: readonly ApprovalSweep[]): void {
  describe.skipIf(missing())('an approval over a shared journal', () => {
    let here: Database;
    let child: Program;
    beforeAll(async () => {
      [here, child] = await Promise.all([database(), program(SOURCE)]);
    });
    afterAll(async () => {
      await child?.[Symbol.asyncDispose]();
      await here.close();
    });

    test.each(sweeps)('survives a kill: %j', { timeout: 300_000 }, async sweep => {
      const broken: string[] = [];
      let kills = 0;
      for (let dieAt = 1; ; dieAt += 1) {
        const struck = await strike(sweep, dieAt);
        broken.push(...struck.broken.map(what => `effect ${dieAt}: ${what}`));
        if (struck.killed) kills += 1;
        if (!struck.killed || sweep.behind !== undefined) break;
      }
      expect(broken).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(sweep.behind === undefined ? 8 : 1);
    });

    async function strike({ killed: which, rows, behind }: ApprovalSweep, dieAt: number) {
      await using sandbox = await startSandbox({ wallet: 100, ids: 'counted', rateLimits: false });
      await using proxy = await startFaultProxy({ target: sandbox.url, stripKeys: true });
      await using folder = await temporaryFolder();
      const at = await testAccount(here, { origin: proxy.url, keyPrint: () => KEY_PRINT });
      const bob = signer('bob');
      await addApproverRoles(at);
      await at.admin(`add_approver('${bob.line}', '{bob}')`);
      const { json: bins } = await ask(sandbox, { path: '/bins' });
      const order: SharedOrder = {
        url: proxy.url,
        key: sandbox.key.expose(),
        folder: `${folder.path}/one`,
        bin: bins.data[0].id,
        rows,
        named: true,
        dieAt: 0,
        account: at.account,
        role: 'ana',
        socket: here.server.socket,
        port: here.server.port,
        database: here.name,
        held: 'asks',
      };
      const broken: string[] = [];
      const busy = async () => {
        const active = `select count(*) from pg_stat_activity
          where usename = 'ana' and datname = current_database() and state = 'active'`;
        return (await at.root.call(active, []))[0]?.[0];
      };
      const die = async (more: Partial<SharedOrder>) => {
        const dying = { ...order, ...more, dieAt, dieBehind: behind };
        const [code, signal] = await once(child.start(JSON.stringify(dying)), 'close');
        if (code !== 0 && signal !== 'SIGKILL') broken.push(`the driver ended with ${code ?? signal}`);
        // What was on its way when it died may still renew a lease.
        while ((await busy()) !== '0');
        await at.endLeases();
        return signal === 'SIGKILL';
      };
      let killed = which === 'asks' && (await die({}));
      await asked(order);
      if (proxy.posts().length > 0) broken.push('something was sent before anybody approved');
      const pending = await at.ana.heads(at.account, { unfinished: true });
      if (pending.length !== 1) broken.push(`asked for ${pending.length} times`);
      const op = pending[0]?.op ?? '';
      await approve(op);
      if (which === 'sends') killed = await die({ held: { op } });
      const other = { ...order, role: 'ben', folder: `${folder.path}/other` };
      await sent(other, op);
      await sent(other, op);
      const { json: list } = await ask(sandbox, { path: '/cards?per_page=100' });
      if (list.data.length !== rows) broken.push(`${list.data.length} cards`);
      const { used } = await at.ana.status(at.account);
      if (used !== rows * 150) broken.push(`${used} cents are held or spent`);
      const left = await at.ana.heads(at.account, { unfinished: true });
      broken.push(...left.map(each => `${each.op} is ${each.state}`));
      const releases = (await at.eve.auditPage(at.account, 1)).filter(line => line.includes('"event":"released"'));
      if (releases.length !== 1) broken.push(`released ${releases.length} times`);
      return { killed, broken };

      async function approve(id: string) {
        const payload = await at.root.call('select payload from cardwright.approval_request where op = $1', [id]);
        const envelope = bob.approves(Buffer.from(payload[0]?.[0] ?? ''));
        const statements = statementsOver(await here.as('bob'));
        const call = { account: at.account, op: id, host: 'bob', keyid: bob.keyid, envelope };
        const { verdict } = await statements.approve(call, { event: 'approved', op: id });
        if (verdict !== 'approved') broken.push(`the approval is ${verdict}`);
      }
    }

    /** Asks until it is held; a plan that was never whole is taken back first. */
    async function asked(order: SharedOrder): Promise<void> {
      const { store, end } = await storeAt(order);
      try {
        for await (const { op } of store.heads({ unfinished: true })) {
          const pending = await (await journalOf(store, order)).show(op).then(({ state }) => state === 'pending');
          if (!pending) await (await store.take(op)).release(true);
        }
        const thrown = await (await journalOf(store, order)).begin(planOf(order)).catch((error: unknown) => error);
        if (!(thrown instanceof CliError) || thrown.kind !== 'pending_approval') throw thrown;
      } finally {
        await end();
      }
    }

    async function sent(order: SharedOrder, op: string): Promise<void> {
      const { store, end } = await storeAt(order);
      try {
        const journal = await journalOf(store, order);
        await performAll(await journal.resume(op, { resendAbsent: true, reason: 'the machine was switched off' }));
        // It was told: the driver of the child does so when its answer is written.
        if (await isUnfinished(store, op)) await (await store.take(op, { reason: 'told' })).release(true);
      } finally {
        await end();
      }
    }

    async function isUnfinished(store: Awaited<ReturnType<typeof storeAt>>['store'], op: string): Promise<boolean> {
      for await (const head of store.heads({ unfinished: true })) if (head.op === op) return true;
      return false;
    }

    async function journalOf(store: Awaited<ReturnType<typeof storeAt>>['store'], order: SharedOrder) {
      const approvals = holdingGate(store, order);
      return journalFor(order, undefined, waitingClock(Date.now() + 1_000), { store, approvals });
    }
  });
}
