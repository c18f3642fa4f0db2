/** Two machines and two persons: what the rule of an account holds, who may agree to it, and that it is done once. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READ_LAG } from '../../src/contract/spans.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database, statementsOf } from '../postgres/shared.ts';
import type { World } from '../support/world.ts';
import { addApproverRoles, signer } from './approver.ts';
import { team } from './team.ts';
import { FACTS, linesOf, sent, testAccount, wanted } from './test-account.ts';

const QUICK = { onPause: () => undefined, longestPause: READ_LAG };

/** The machine of bob, whose key the account knows. */
async function approver(t: Awaited<ReturnType<typeof team>>) {
  const bob = await t.machine('bob', { CARDWRIGHT_API_KEY: '' });
  const at = { terminal: 200, typed: ['correct horse', 'correct horse'] };
  expect(await bob.run('approvals key create', at)).toMatchObject({ code: 0 });
  const line = (await bob.run('approvals key show -q')).out.trim().replace(/^\S+/, 'bob');
  await t.at.admin(`add_approver('${line}', '{bob}')`);
  return bob;
}

/** Of a command that is held for approval. */
async function pendingOp(machine: World, line: string): Promise<string> {
  const { code, err } = await machine.run(line);
  expect({ line, code, err }).toMatchObject({
    code: 17,
    err: expect.stringMatching(/op_\w{26} is held until .* approves it/),
  });
  return /op_\w{26}/.exec(err)?.[0] ?? '';
}

const requestOf = (op: string) => op.replace(/^op/, 'apr');

/** `isWhole` adds what is said on narrow screens, to those who ask, and to admins. */
export function sharedApprovals({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('approvals over a shared journal', () => {
    let here: Database;
    beforeAll(async () => {
      here = await database();
    });
    afterAll(() => here.close());

    it.runIf(isWhole)(
      'a narrow screen shows what is asked for, how much, by whom, under which name and until when; the id may be short',
      async () => {
        await using t = await team(here, { wallet: 500 });
        await addApproverRoles(t.at);
        const [asks, approves] = [await t.machine('ana'), await approver(t)];
        await t.at.admin(`set_rule('approve_above', 10000)`);
        expect((await asks.run('cards create --bin bin_1 --amount 50 -q')).code).toBe(0);
        expect((await asks.run('cards fund card_1 --amount 250 --intent ads-nov-2026')).code).toBe(17);
        const { out } = await approves.run('approvals list', { terminal: 80 });
        const [head = '', first = ''] = out.replaceAll(/\x1b\[\d+m/g, '').split('\n');
        for (const title of ['ID', 'COMMAND', 'AMOUNT', 'ASKED BY', 'EXPIRES', 'INTENT']) expect(head).toContain(title);
        expect(`${head}\n${first}`).not.toContain('NEEDED');
        expect(out).toMatch(/^apr_\S+… .*cards fund .*\$250\.00 .*ana@desk .*in .* ads-nov-2026/m);
        const [short = ''] = /apr_\S+…/.exec(out) ?? [];
        const shown = await approves.run(`approvals show ${short} --json`);
        expect(JSON.parse(shown.out).id).toMatch(new RegExp(`^${short.replace('…', '')}`));
        expect((await asks.run('cards fund card_1 --amount 120 --intent flights')).code).toBe(17);
        const several = await approves.run('approvals show apr_0');
        expect([several.code, several.err]).toEqual([2, expect.stringContaining('"apr_0" fits 2 requests')]);
        expect((await approves.run('approvals show apr_z')).err).toContain('"apr_z" is no request for approval');
        const wide = await approves.run('approvals list -o wide', { terminal: 200 });
        expect(wide.out).toContain('NEEDED');
      },
    );

    it('a request of one machine is approved on another, and its command goes on', async () => {
      await using t = await team(here, { wallet: 500 });
      await addApproverRoles(t.at);
      const [asks, approves] = [await t.machine('ana'), await approver(t)];
      await t.at.admin(`set_rule('approve_above', 10000)`);
      const create = await asks.run('cards create --bin bin_1 --amount 50 -q');
      expect(create).toMatchObject({ code: 0 });
      const fund = 'cards fund card_1 --amount 250 --intent ads-nov';
      const held = await asks.run(`${fund} --json`);
      expect({ code: held.code, err: held.err }).toMatchObject({ code: 17 });
      const { error } = JSON.parse(held.err.trim().split('\n').at(-1) ?? '');
      expect(error).toMatchObject({ kind: 'pending_approval', outcome: 'not_sent', approval: { needed: 1, have: 0 } });
      expect((await t.at.ana.status(t.at.account)).used).toBe(5000);
      expect(await t.at.ana.heads(t.at.account, { unfinished: true })).toMatchObject([
        { op: error.op, state: 'pending', reserved: 0, lease_ms: 0 },
      ]);
      expect((await asks.run(fund)).code).toBe(17);
      expect((await asks.run(`ops resume ${error.op}`)).code).toBe(17);
      const listed = await approves.run('approvals list --json');
      expect(listed.code).toBe(0);
      expect(JSON.parse(listed.out).data).toMatchObject([
        { id: error.approval.id, state: 'pending', requested_by: 'ana@desk', have: 0, needed: 1 },
      ]);
      const approved = await approves.run(`approvals approve ${error.approval.id}`, {
        terminal: 200,
        typed: ['250.00', 'correct horse'],
      });
      expect({ code: approved.code, err: approved.err }).toMatchObject({ code: 0 });
      expect(JSON.parse((await asks.run('approvals list --json')).out).data).toMatchObject([
        { id: error.approval.id, state: 'approved', have: 1 },
      ]);
      const done = await asks.run(`${fund} --json`);
      expect({ code: done.code, err: done.err }).toMatchObject({ code: 0 });
      // What was held had not been begun: this command has moved the money.
      expect(JSON.parse(done.out)).toMatchObject({ card_balance: 300, intent: { name: 'ads-nov', repeated: false } });
      const again = await asks.run(`${fund} --json`);
      expect([again.code, JSON.parse(again.out).intent.repeated]).toEqual([0, true]);
      expect(await t.balance()).toBe(200);
      expect(t.proxy.posts()).toHaveLength(2);
      expect((await t.at.ana.status(t.at.account)).used).toBe(30_000);
      const chain = (await t.at.eve.auditPage(t.at.account, 1)).map(text => JSON.parse(text));
      expect(
        chain.filter(({ op }) => op === error.op).map(({ event, who, approved_by: by }) => ({ event, who, by })),
      ).toEqual([
        { event: 'begun', who: 'ana@desk', by: undefined },
        { event: 'approved', who: 'bob@desk', by: undefined },
        { event: 'released', who: 'ana@desk', by: 'bob' },
        { event: 'outcome', who: 'ana@desk', by: undefined },
      ]);
      expect(JSON.parse((await asks.run('journal check --json')).out)).toMatchObject({ flaws: [] });
    });

    it.runIf(isWhole)(
      'approved a second time by the same person it is said that it was, and nothing is written',
      async () => {
        await using t = await team(here, { wallet: 500 });
        await addApproverRoles(t.at);
        const [asks, approves] = [await t.machine('ana'), await approver(t)];
        await t.at.admin(`set_rule('approve_above', 100)`);
        await t.at.admin(`set_rule('approvals_needed', 2)`);
        await t.at.admin(`add_approver('${signer('cyd').line}', '{cyd}')`);
        const op =
          /op_\w{26}/.exec((await asks.run('cards create --bin bin_1 --amount 50 --intent po-1')).err)?.[0] ?? '';
        const id = op.replace(/^op/, 'apr');
        const first = await approves.run(`approvals approve ${id}`, {
          terminal: 200,
          typed: ['50.00', 'correct horse'],
        });
        expect({ code: first.code, out: first.out }).toEqual({
          code: 0,
          out: expect.stringContaining(`Approved ${id}. 1 of 2.`),
        });
        const lines = async () => (await t.at.eve.auditPage(t.at.account, 1)).length;
        const [before, own] = [await lines(), (await approves.run('audit list --json')).out];
        const second = await approves.run(`approvals approve ${id}`, { terminal: 200, typed: [] });
        expect({ code: second.code, out: second.out }).toEqual({
          code: 0,
          out: expect.stringContaining(`${id} was approved by you before. 1 of 2.`),
        });
        const data = JSON.parse((await approves.run(`approvals approve ${id} --json`)).out);
        expect(data).toMatchObject({ id, kept: 'journal', have: 1, needed: 2, repeated: true });
        expect([await lines(), (await approves.run('audit list --json')).out]).toEqual([before, own]);
      },
    );

    it('a new key leads to the admin of the journal, and to no file', async () => {
      await using t = await team(here);
      const machine = await t.machine('bob');
      const typed = ['correct horse', 'correct horse'];
      const { code, out } = await machine.run('approvals key create', { terminal: 300, typed });
      expect(code).toBe(0);
      expect(out).toContain('Its line for an admin of the journal:');
      expect(out).toContain(`select cardwright.add_approver('${t.at.account}', '<line>', '{<role>}');`);
      expect(out).not.toContain('file.');
    });

    it('is held again where the approver was removed, and says who is asked now', async () => {
      await using t = await team(here, { wallet: 500 });
      await addApproverRoles(t.at);
      const [asks, approves] = [await t.machine('ana'), await approver(t)];
      await t.at.admin(`add_approver('${signer('cyd').line}', '{cyd}')`);
      await t.at.admin(`set_rule('approve_above', 10000)`);
      const create = 'cards create --bin bin_1 --amount 250 --intent ads-nov';
      const op = await pendingOp(asks, create);
      const approved = await approves.run(`approvals approve ${requestOf(op)}`, {
        terminal: 200,
        typed: ['250.00', 'correct horse'],
      });
      expect({ code: approved.code, err: approved.err }).toMatchObject({ code: 0 });
      await t.at.admin(`remove_approver('bob')`);
      for (const line of [create, `ops resume ${op}`]) {
        const held = await asks.run(line);
        expect({ line, code: held.code, err: held.err }).toMatchObject({
          code: 17,
          err: expect.stringContaining(`${op} is held until somebody other than ana@desk approves it; nobody has`),
        });
        expect(held.err).toContain('The approval of bob counts no longer: an admin has removed that approver.');
        expect(held.err).toContain(`cardwright approvals approve ${requestOf(op)}`);
      }
      expect(t.proxy.posts()).toEqual([]);
    });

    it.runIf(isWhole)('who has asked is not told to make a key first', async () => {
      await using t = await team(here, { wallet: 500 });
      await addApproverRoles(t.at);
      await approver(t);
      const asks = await t.machine('ana');
      await t.at.admin(`set_rule('approve_above', 100)`);
      const op = /op_\w{26}/.exec((await asks.run('cards create --bin bin_1 --amount 50')).err)?.[0] ?? '';
      const refused = await asks.run(`approvals approve ${op.replace(/^op/, 'apr')}`, { terminal: 200 });
      expect(refused.code).toBe(14);
      expect(refused.err).toContain('nobody approves his own request');
    });

    it('without an intent the same command says what is approved, and its resume sends it', async () => {
      await using t = await team(here, { wallet: 500 });
      await addApproverRoles(t.at);
      const [asks, approves] = [await t.machine('ana'), await approver(t)];
      await t.at.admin(`set_rule('approve_above', 100)`);
      await writeFile(join(asks.folder, 'two.csv'), 'bin_id,amount\nbin_1,2\nbin_1,3\n');
      for (const line of ['cards create --bin bin_1 --amount 50', 'cards create --file two.csv --yes']) {
        const held = await asks.run(line);
        const [op = ''] = /op_\w{26}/.exec(held.err) ?? [];
        expect(held.code, held.err).toBe(17);
        const waits = await asks.run(line);
        expect([waits.code, waits.err]).toEqual([
          17,
          expect.stringContaining('is held until other persons have approved it'),
        ]);
        const typed = [line.includes('file') ? '5.00' : '50.00', 'correct horse'];
        const at = { terminal: 200, typed };
        expect((await approves.run(`approvals approve ${op.replace(/^op/, 'apr')}`, at)).code).toBe(0);
        const again = await asks.run(line);
        expect([again.code, again.err]).toEqual([
          17,
          expect.stringContaining(`the same operation is approved, and was not sent yet: ${op}`),
        ]);
        expect(again.err).toContain(`try: cardwright ops resume ${op}`);
        expect((await asks.run(`ops resume ${op} -q`)).code).toBe(0);
      }
      expect(await t.cards()).toHaveLength(3);
    });

    it.runIf(isWhole)('another purchase, told apart by its intent, gets a request of its own', async () => {
      await using t = await team(here, { wallet: 500 });
      await addApproverRoles(t.at);
      const [ana, ben, bob] = [await t.machine('ana'), await t.machine('ben'), await approver(t)];
      await t.at.admin(`set_rule('approve_above', 100)`);
      const line = 'cards create --bin bin_1 --amount 50';
      const [first, second, third] = [
        await pendingOp(ana, `${line} --intent hs-1`),
        await pendingOp(ben, `${line} --intent hs-2`),
        await pendingOp(ana, `${line} --intent hs-3`),
      ];
      expect(new Set([first, second, third]).size).toBe(3);
      expect(await pendingOp(ana, `${line} --intent hs-1`)).toBe(first);
      for (const machine of [ana, ben]) {
        const unnamed = await machine.run(line);
        expect([unnamed.code, unnamed.err]).toEqual([
          17,
          expect.stringMatching(/the same operation is held until .*: op_/),
        ]);
        expect(unnamed.err).toContain('Another purchase needs an --intent of its own');
        expect(unnamed.err).toMatch(/try: cardwright approvals show apr_/);
      }
      const at = { terminal: 200, typed: ['50.00', 'correct horse'] };
      expect((await bob.run(`approvals approve ${requestOf(second)}`, at)).code).toBe(0);
      expect((await ben.run(`${line} --intent hs-2`)).code).toBe(0);
      expect((await ana.run(`approvals reject ${requestOf(third)} --reason "one too many" --yes`)).code).toBe(0);
      expect((await bob.run(`approvals approve ${requestOf(first)}`, at)).code).toBe(0);
      expect((await ana.run(`${line} --intent hs-1`)).code).toBe(0);
      expect(await t.cards()).toHaveLength(2);
      // One of the two has no intent: nobody can say that they are two purchases.
      const unnamed = await pendingOp(ana, `${line} --label x`);
      const named = await ben.run(`${line} --label x --intent hs-4`);
      expect([named.code, named.err]).toEqual([17, expect.stringContaining(`: ${unnamed}\n`)]);
      expect(named.err).toContain('It has no intent');
      expect(JSON.parse((await ana.run('journal check --json')).out)).toMatchObject({ flaws: [] });
    });

    it('a row of a file that waits: it is said that it is held, and what goes on', async () => {
      await using t = await team(here, { wallet: 500 });
      await addApproverRoles(t.at);
      const [ana, ben, bob] = [await t.machine('ana'), await t.machine('ben'), await approver(t)];
      await t.at.admin(`set_rule('approve_above', 100)`);
      const one = 'cards create --bin bin_1 --amount 2';
      const isHeld = async (machine: World, line: string, op: string) => {
        const { code, err } = await machine.run(line);
        expect([code, err]).toEqual([
          17,
          expect.stringContaining(`in a run that is held until other persons have approved it: ${op}\n`),
        ]);
        expect(err).toContain(`try: cardwright approvals show ${requestOf(op)}\n`);
        expect(err).toContain(`cardwright approvals reject ${requestOf(op)} --reason "why"`);
        expect(err).not.toMatch(/takeover|ops resolve/);
      };
      const file = 'cards create --file two.csv --yes';
      await writeFile(join(ana.folder, 'two.csv'), 'bin_id,amount,intent\nbin_1,2,f-1\nbin_1,3,f-2\n');
      const named = await pendingOp(ana, file);
      for (const machine of [ana, ben]) await isHeld(machine, one, named);
      for (const [machine, intent] of [
        [ana, 'hs-1'],
        [ben, 'hs-2'],
      ] as const) {
        const another = await pendingOp(machine, `${one} --intent ${intent}`);
        expect(another).not.toBe(named);
        const rejected = await bob.run(`approvals reject ${requestOf(another)} --reason no --yes`);
        expect(rejected.code, rejected.err).toBe(0);
      }
      const own = await ben.run(`${one} --intent f-1`);
      expect([own.code, own.err]).toEqual([17, expect.stringContaining(`: ${named}\n`)]);
      expect(own.err).toContain(`try: cardwright approvals show ${requestOf(named)}\n`);
      const at = { terminal: 200, typed: ['5.00', 'correct horse'] };
      expect((await bob.run(`approvals approve ${requestOf(named)}`, at)).code).toBe(0);
      const approved = await ben.run(one);
      expect([approved.code, approved.err]).toEqual([
        17,
        expect.stringContaining(`is approved, and was not sent yet: ${named}\n`),
      ]);
      expect(approved.err).toContain(`try: cardwright ops resume ${named}\n`);
      expect((await ben.run(`ops resume ${named} --yes`)).code).toBe(0);
      await writeFile(join(ana.folder, 'two.csv'), 'bin_id,amount\nbin_1,4\nbin_1,5\n');
      const unnamed = await pendingOp(ana, file);
      for (const way of ['', ' --intent hs-3']) await isHeld(ben, `${one.replace('2', '4')}${way}`, unnamed);
      await writeFile(join(ben.folder, 'three.csv'), 'bin_id,amount\nbin_1,4\nbin_1,5\nbin_1,6\n');
      await isHeld(ben, 'cards create --file three.csv --yes', unnamed);
      expect(t.proxy.posts()).toHaveLength(2);
    });

    it('a rule that is made while a file is under way: what may be done is looked for, and only the rest is asked for', async () => {
      await using t = await team(here, { wallet: 500 });
      await addApproverRoles(t.at);
      const [asks, other] = [await t.machine('ana'), await t.machine('ben')];
      await approver(t);
      const file = async (name: string, labels: readonly string[]) =>
        writeFile(
          join(asks.folder, name),
          ['bin_id,amount,label', ...labels.map(each => `bin_1,5,${each}`)].join('\n'),
        );
      await file('all.csv', ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
      t.proxy.fail('POST', /\/cards$/, 'none', 'drop-after', 'unauthorized');
      t.proxy.fail('GET', /\/cards\?/, ...Array<'drop-before'>(30).fill('drop-before'));
      const stopped = await asks.run('cards create --file all.csv --concurrency 1 --yes', QUICK);
      expect(stopped.code, stopped.err).toBe(11);
      t.proxy.mend();
      const [op = ''] = /op_\w{26}/.exec(stopped.err) ?? [];
      await t.at.admin(`set_rule('approve_above', 100)`);
      const seen = await other.run(`ops takeover ${op} --reason "ana is away" --dry-run`, QUICK);
      expect(seen.err).not.toContain('cardwright ops resume');
      const refused = await asks.run(`ops resume ${op} --yes`, QUICK);
      expect(refused.code).toBe(14);
      expect(refused.err).toContain(`Row 2 may be done. Then look: cardwright ops resume ${op}`);
      const [, given = ''] = /try: cardwright (ops resolve .*)/.exec(refused.err) ?? [];
      expect(given).toBe(`ops resolve ${op} 4..7 --as not-done --note "needs approval"`);
      expect(await asks.run(given)).toMatchObject({ code: 0, err: expect.stringContaining('Row 2 is still unknown') });
      const looked = await asks.run(`ops resume ${op} --yes`, QUICK);
      expect(looked.err).not.toContain('needs it now');
      expect(t.proxy.posts().map(({ body }) => JSON.parse(body).label)).toEqual(['a', 'b', 'c']);
      expect(await t.cards()).toHaveLength(2);
      const again = await asks.run('cards create --file all.csv --yes');
      expect([again.code, again.err]).toEqual([14, expect.stringContaining('2 of 7 rows done')]);
      expect(again.err).toContain('Run the other 5 rows in a file of their own. --again is no retry: it makes 2 cards');
      await file('rest.csv', ['c', 'd', 'e', 'f', 'g']);
      expect((await asks.run('cards create --file rest.csv --yes')).code).toBe(17);
      expect(await t.cards()).toHaveLength(2);
    });

    it.runIf(isWhole)('the guide says what an admin runs', async () => {
      const at = await testAccount(here);
      const guide = await readFile(join(import.meta.dirname, '../../docs/guide/teams.md'), 'utf8');
      const [, sql = ''] = /```sql\n(select cardwright\.set_rule[\s\S]*?)```/.exec(guide) ?? [];
      const statements = [...statementsOf(sql), /`(select cardwright\.remove_approver[^`]*)`/.exec(guide)?.[1] ?? ''];
      expect(statements).toHaveLength(4);
      const ada = await here.as('ada');
      for (const statement of statements) await ada.call(statement.replace("'main'", `'${at.account}'`), []);
      expect(await at.eve.approvalStanding(at.account)).toMatchObject({
        rule: { approve_above: 100_000 },
        approvers: [{ person: 'bo', roles: ['bo'], removed_ms: expect.any(Number) }],
      });
    });

    it.runIf(isWhole)('names all that wait, where the only operator takes the journal back', async () => {
      await using t = await team(here, { wallet: 500 });
      await addApproverRoles(t.at);
      const ana = await t.machine('ana');
      await approver(t);
      await t.at.admin(`set_rule('approve_above', 10000)`);
      await t.at.admin(`add_member('ben', '{}')`);
      const mine = async () => {
        const { code, err } = await ana.run('journal move --to local --mine');
        expect({ code, err }).toMatchObject({
          code: 14,
          err: expect.stringContaining('waits for approval in the shared'),
        });
        return err;
      };
      expect((await ana.run('cards create --bin bin_1 --amount 150 -q')).code).toBe(17);
      expect(await mine()).not.toContain('waiting for approval:');
      expect((await ana.run('cards create --bin bin_1 --amount 160 -q')).code).toBe(17);
      const waiting = (await t.at.ana.heads(t.at.account, { unfinished: true })).map(({ op }) => op);
      expect(waiting).toHaveLength(2);
      expect(await mine()).toContain(`  2 waiting for approval: ${waiting.join(', ')}. cardwright approvals list\n`);
    });

    it('a claim that asks nobody is pending, and leaves nothing behind', async () => {
      const at = await testAccount(here);
      await at.admin(`set_rule('approve_above', 1000)`);
      const claim = wanted(at.account, 1001);
      const lines = linesOf(claim.by, sent(1));
      expect(await at.ana.claim(claim, lines, FACTS)).toMatchObject({ verdict: 'pending', rule: 'approve_above' });
      expect(await at.ana.heads(at.account, {})).toEqual([]);
      expect((await at.ana.status(at.account)).used).toBe(0);
      expect(await at.ana.claim(wanted(at.account, 1000), lines, FACTS)).toMatchObject({ verdict: 'claimed' });
      const untold = { largest: 0, total: 0, cards: 0, bins: [], untold: true };
      const raw = { ...wanted(at.account, 0), spending: untold };
      expect(await at.ana.claim(raw, lines, FACTS)).toMatchObject({ verdict: 'pending' });
      await at.admin(`set_rule('approve_above', null)`);
      await at.admin(`set_rule('approve_rows', 1)`);
      expect(await at.ana.claim({ ...wanted(at.account, 1), judged_rows: 2 }, lines, FACTS)).toMatchObject({
        verdict: 'pending',
        rule: 'approve_rows',
      });
    });
  });
}
