/** The attacks on approvals of docs/design/approvals.md, each over a shared journal: nothing is sent, and a line says why. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/journal/approvals/canonical-json.ts';
import { type PlannedItem, planDigest } from '../../src/journal/approvals/payload.ts';
import { decodeLines, encodeLines } from '../../src/journal/wal/codec.ts';
import { attemptKey } from '../../src/journal/wal/op-id.ts';
import type { ItemRecord, JournalRecord, PlanRecord } from '../../src/journal/wal/records.ts';
import { type Statements, statementsOver } from '../../src/team/statements.ts';
import { missing } from '../postgres/server.ts';
import { type Database, database } from '../postgres/shared.ts';
import { firstOf } from '../support/first-of.ts';
import type { World } from '../support/world.ts';
import { addApproverRoles, signer } from './approver.ts';
import { team } from './team.ts';
import { freshOp, hex, wanted } from './test-account.ts';

const RULE = 10_000;

interface Flaw {
  readonly op?: string;
}

/** `isWhole` adds variations: more members that are changed, other keys, other spellings. */
export function approvalAttacks({ isWhole }: { readonly isWhole: boolean }): void {
  describe.skipIf(missing())('an attack on an approval', () => {
    let here: Database;
    let t: Awaited<ReturnType<typeof team>>;
    let [asks, runs]: World[] = [];
    let approver: Statements;
    const [bob, second, cyd, own, stranger] = [
      signer('bob'),
      signer('bob'),
      signer('cyd'),
      signer('ana'),
      signer('eve'),
    ];
    let posts = 0;
    let amount = RULE / 100;
    beforeAll(async () => {
      here = await database();
      t = await team(here, { wallet: 100_000 });
      await addApproverRoles(t.at);
      [asks, runs] = [await t.machine('ana'), await t.machine('ben')];
      approver = statementsOver(await here.as('bob'));
      await done(asks, 'cards create --bin bin_1 --amount 50 -q');
      await done(asks, 'cards create --bin bin_1 --amount 50 --label "аds: \u202Esearch" -q');
      await t.at.admin(`add_approver('${own.line}', '{ana}')`);
      await t.at.admin(`add_approver('${cyd.line}', '{cyd}')`);
    });
    beforeEach(async () => {
      for (const rule of ['approve_day', 'approve_irreversible', 'approvals_needed'])
        await t.at.admin(`set_rule('${rule}', null)`);
      await t.at.admin(`set_rule('approve_above', ${RULE})`);
      for (const { line } of [bob, second]) await t.at.admin(`add_approver('${line}', '{bob}')`);
      posts = t.proxy.posts().length;
    });
    afterAll(async () => {
      await t[Symbol.asyncDispose]();
      await here.close();
    });

    async function done(machine: World | undefined, line: string): Promise<string> {
      const ran = await machine?.run(line);
      expect({ line, code: ran?.code, err: ran?.err }).toMatchObject({ code: 0 });
      return ran?.out.trim() ?? '';
    }
    const refusal = (err: string) => JSON.parse(err.trim().split('\n').at(-1) ?? '{}').error;
    /** Asks for a fund, or what is told, and is held. */
    async function held(line?: string) {
      amount += 1;
      const ran = await asks?.run(`${line ?? `cards fund card_1 --amount ${amount}`} --json`);
      expect({ code: ran?.code, err: ran?.err }).toMatchObject({ code: 17 });
      const { op, approval } = refusal(ran?.err ?? '');
      posts = t.proxy.posts().length;
      return { op: String(op), id: String(approval.id), bytes: Buffer.from(approval.payload, 'base64'), approval };
    }
    const keep = (op: string, envelope: string, keyid = bob.keyid) =>
      approver.approve({ account: t.at.account, op, host: 'laptop', keyid, envelope }, { event: 'approved', op });
    const changed = (bytes: Buffer, change: Readonly<Record<string, unknown>>) =>
      Buffer.from(canonicalJson({ ...JSON.parse(bytes.toString()), ...change }));
    /** Resumes it as the runner, with approvals as files; it is refused, nothing is sent, and the log says why. */
    async function refused(
      op: string,
      approvals: readonly string[],
      { code, reason }: { readonly code: number; readonly reason?: string | undefined },
      line = `ops resume ${op}`,
    ) {
      const files = approvals.map((_, index) => `${op}-${index}.json`);
      for (const [index, text] of approvals.entries())
        await writeFile(join(runs?.folder ?? '', files[index] ?? ''), text);
      const ran = await runs?.run(`${line}${files.length === 0 ? '' : ` --approval ${files.join(',')}`} --json`);
      expect({ code: ran?.code, err: ran?.err }).toMatchObject({ code });
      const error = refusal(ran?.err ?? '');
      expect(error.outcome).toBe('not_sent');
      expect(t.proxy.posts()).toHaveLength(posts);
      if (reason === undefined) return;
      const lines = JSON.parse(await done(runs, 'audit list --json')).data;
      expect(lines.at(-1)).toMatchObject({ outcome: 'not_sent', reason });
    }
    /** Changes records of an op behind the back of everybody. */
    async function edited(op: string, change: (record: JournalRecord) => JournalRecord) {
      for (const { n, bytes } of await t.at.ana.readOp(t.at.account, op, 1)) {
        const { written } = decodeLines(bytes, op);
        const [{ by = '' } = {}] = written;
        const text = encodeLines(
          by,
          0,
          written.map(({ record }) => change(record)),
        );
        await t.at.root.call('update cardwright.segment set bytes = $1 where op = $2 and n = $3', [text, op, n]);
      }
    }

    it('1: the same approval a second time', async () => {
      const { op, bytes } = await held();
      const approval = bob.approves(bytes);
      expect((await keep(op, approval)).verdict).toBe('approved');
      await done(runs, `ops resume ${op}`);
      expect(t.proxy.posts()).toHaveLength(posts + 1);
      await done(runs, `ops resume ${op}`);
      expect(t.proxy.posts()).toHaveLength(posts + 1);
      expect((await keep(op, `${approval} `)).verdict).toBe('over');
      // Who asked has not seen yet that it was sent.
      await done(asks, `ops resume ${op}`);
      const again = await held(`cards fund card_1 --amount ${amount}`);
      expect((await keep(again.op, approval)).verdict).toBe('other');
      await refused(again.op, [approval], { code: 15, reason: 'approval_other' });
    });

    it('2: two runners at once', async () => {
      const { op, bytes } = await held();
      expect((await keep(op, bob.approves(bytes))).verdict).toBe('approved');
      const ran = await Promise.all([runs?.run(`ops resume ${op}`), asks?.run(`ops resume ${op}`)]);
      expect(ran.map(each => each?.code)).toContain(0);
      for (const each of ran) expect([0, 14], each?.err).toContain(each?.code);
      expect(t.proxy.posts()).toHaveLength(posts + 1);
    });

    it('3: killed between use and send: settled like any other, and nobody approves it again', async () => {
      const { op, bytes } = await held();
      const envelopes = [bob.approves(bytes)];
      const by = hex(4);
      const record = { t: 'APPROVED', persons: ['bob'], envelopes, at: 1 } as const;
      const call = { account: t.at.account, op, by, host: 'laptop', ttl_ms: 180_000, keys: [bob.keyid] };
      const release = () => t.at.ben.release(call, encodeLines(by, 0, [record]), { event: 'released', op });
      expect([(await release()).verdict, (await release()).verdict]).toEqual(['taken', 'taken']);
      await refused(op, [], { code: 14 });
      await t.at.endLeases();
      await t.at.admin(`remove_approver('bob')`);
      expect((await keep(op, envelopes[0] ?? '')).verdict).toBe('over');
      await done(runs, `ops resume ${op}`);
      expect(t.proxy.posts()).toHaveLength(posts + 1);
    });

    it('3: released once more, by any runner, while it is in hand, behind its lease and at its end', async () => {
      const { op, bytes } = await held();
      const envelopes = [bob.approves(bytes)];
      const record = { t: 'APPROVED', persons: ['bob'], envelopes, at: 1 } as const;
      const release = (runner: Statements) => {
        const by = hex(4);
        const call = {
          account: t.at.account,
          op,
          by,
          host: 'laptop',
          ttl_ms: 180_000,
          keys: [bob.keyid],
          resume: true,
        };
        return runner.release(call, encodeLines(by, 0, [record]), { event: 'released', op });
      };
      expect((await keep(op, envelopes[0] ?? '')).verdict).toBe('approved');
      const { used } = await t.at.ana.status(t.at.account);
      const lease = (until: string) =>
        t.at.root.call(`update cardwright.op set lease_until = clock_timestamp() + interval '${until}' where op = $1`, [
          op,
        ]);
      // The process that asked for it was killed before it let it go.
      await lease('1 minute');
      for (const each of [t.at.ana, t.at.ben])
        expect(await release(each)).toMatchObject({ verdict: 'held', holder: 'ana', left_ms: expect.any(Number) });
      await lease('0');
      expect((await release(t.at.ben)).verdict).toBe('taken');
      for (const each of [t.at.ana, t.at.ben])
        expect(await release(each)).toMatchObject({ verdict: 'held', holder: 'ben', left_ms: expect.any(Number) });
      await t.at.endLeases();
      for (const each of [t.at.ana, t.at.ben]) expect(await release(each)).toMatchObject({ verdict: 'used' });
      await done(runs, `ops resume ${op}`);
      for (const each of [t.at.ana, t.at.ben]) expect(await release(each)).toMatchObject({ verdict: 'finished' });
      expect((await t.at.ana.status(t.at.account)).used).toBe(used + amount * 100);
      expect(t.proxy.posts()).toHaveLength(posts + 1);
    });

    it.each(
      firstOf(
        [
          ['4: the amount', 'approval_plan', { body: '{"amount":999}' }],
          ['5: the card', 'approval_plan', { path: '/cards/card_2/fund' }],
        ],
        { isWhole },
      ),
    )('%s of the plan in the database', async (_, reason, change) => {
      const { op, bytes, id } = await held();
      expect((await keep(op, bob.approves(bytes))).verdict).toBe('approved');
      await edited(op, record => (record.t === 'ITEM' ? { ...record, ...change } : record));
      await refused(op, [], { code: 15, reason });
      expect((await runs?.run(`approvals show ${id}`))?.code).toBe(15);
    });

    it.each(
      firstOf(
        [
          ['4: another amount', { cents: 1 }],
          ['10: another account', { account: 'other' }],
          ['10: another journal', { journal: 'jrn_other' }],
          ['10: live in place of test', { mode: 'live' }],
          ['9: a later end', { expires_at: '2036-01-01T00:00:00Z' }],
          ['11: another operation', { op: `op_${'0'.repeat(26)}` }],
        ],
        { isWhole },
      ),
    )('%s in what was signed', async (_, change) => {
      const { op, bytes } = await held();
      const approval = bob.approves(changed(bytes, change));
      expect((await keep(op, approval)).verdict).toBe('other');
      await refused(op, [approval], { code: 15, reason: 'approval_other' });
    });

    it('6: the requester approves, with each key of his', async () => {
      const { op, bytes } = await held();
      await refused(op, [own.approves(bytes)], { code: 14, reason: 'approval_own' });
      await refused(op, [], { code: 17 });
      // Whoever lies about signatures is not believed about persons.
      const by = hex(4);
      const call = { account: t.at.account, op, by, host: 'laptop', ttl_ms: 180_000, keys: [own.keyid] };
      const record = { t: 'APPROVED', persons: ['bob'], envelopes: [], at: 1 } as const;
      const answer = await t.at.ben.release(call, encodeLines(by, 0, [record]), { event: 'released', op });
      expect(answer).toMatchObject({ verdict: 'unapproved', have: 0, needed: 1 });
    });

    it('7: two keys of one person, where two persons are asked for', async () => {
      await t.at.admin(`set_rule('approvals_needed', 2)`);
      const { op, bytes } = await held();
      for (const each of [bob, second])
        expect((await keep(op, each.approves(bytes), each.keyid)).verdict).toBe('approved');
      await refused(op, [], { code: 17 });
      // The database counts persons too, whatever the runner says.
      const by = hex(4);
      const call = { account: t.at.account, op, by, host: 'laptop', ttl_ms: 180_000, keys: [bob.keyid, second.keyid] };
      const record = { t: 'APPROVED', persons: ['bob', 'cyd'], envelopes: [], at: 1 } as const;
      const answer = await t.at.ben.release(call, encodeLines(by, 0, [record]), { event: 'released', op });
      expect(answer).toMatchObject({ verdict: 'unapproved', have: 1, needed: 2 });
    });

    it.runIf(isWhole)('8: a key that nobody knows, and one that was removed', async () => {
      const { op, bytes } = await held();
      expect((await keep(op, stranger.approves(bytes), stranger.keyid)).verdict).toBe('untrusted');
      await refused(op, [stranger.approves(bytes)], { code: 14, reason: 'approval_untrusted' });
      expect((await keep(op, bob.approves(bytes))).verdict).toBe('approved');
      await t.at.admin(`remove_approver('${bob.keyid}')`);
      // It was one of an approver when it came: nobody has approved now.
      await refused(op, [], { code: 17, reason: 'approval' });
      await refused(op, [bob.approves(bytes)], { code: 14, reason: 'approval_untrusted' });
      expect((await keep(op, `${bob.approves(bytes)} `)).verdict).toBe('untrusted');
    });

    it('9: expired, by the clock of the database', async () => {
      const { op, bytes } = await held();
      expect((await keep(op, bob.approves(bytes))).verdict).toBe('approved');
      await t.at.root.call(`update cardwright.approval_request set expires_at = now() where op = $1`, [op]);
      await refused(op, [], { code: 14, reason: 'approval_expired' });
      expect((await keep(op, `${bob.approves(bytes)} `)).verdict).toBe('expired');
    });

    it('11: an approval of the attempt before', async () => {
      const { op, id, bytes } = await held();
      await done(asks, `approvals reject ${id} --reason "wrong month" --yes`);
      await refused(op, [bob.approves(bytes)], { code: 14, reason: 'approval_rejected' });
      const again = await held(`cards fund card_1 --amount ${amount}`);
      await refused(again.op, [bob.approves(bytes)], { code: 15, reason: 'approval_other' });
    });

    it('12: split into parts, one after the other and at once', async () => {
      const { left_today } = await t.at.ana.approvalStanding(t.at.account);
      await t.at.admin(`set_rule('approve_day', ${left_today + 9_000})`);
      const parts = [71, 72].map(part => asks?.run(`cards fund card_1 --amount ${part}`));
      expect((await Promise.all(parts)).map(each => each?.code).sort()).toEqual([0, 17]);
      expect((await asks?.run('cards fund card_1 --amount 73'))?.code).toBe(17);
      expect(t.proxy.posts()).toHaveLength(posts + 1);
    });

    it('13: a rule that its requester lowers, and one that was made stricter since', async () => {
      const ana = await here.as('ana');
      const lower = ana.call(`select cardwright.set_rule($1, 'approve_above', 999999)`, [t.at.account]);
      await expect(lower).rejects.toMatchObject({ code: '42501' });
      const { op, bytes } = await held();
      expect((await keep(op, bob.approves(bytes))).verdict).toBe('approved');
      await t.at.admin(`set_rule('approvals_needed', 2)`);
      await refused(op, [], { code: 17 });
    });

    it.runIf(isWhole)('14: a program in place of a person', async () => {
      const { id } = await held();
      const at = { terminal: 200, typed: ['correct horse', 'correct horse'] };
      expect((await runs?.run('approvals key create', at))?.code).toBe(0);
      expect((await runs?.run(`approvals approve ${id}`, { stdin: 'yes\n' }))?.code).toBe(3);
      expect((await runs?.run(`approvals approve ${id} --yes`))?.code).toBe(2);
    });

    it.runIf(isWhole)('15: a label that looks like another', async () => {
      const { approval } = await held('cards fund card_2 --amount 150');
      const facts = Object.fromEntries(approval.render);
      expect(facts.Target).toMatch(/^…\d{4} card_2 "\\u\{430\}ds: \\u\{202e\}search"$/u);
    });

    it('16: something else signed than asked for', async () => {
      const { op, bytes } = await held();
      const other = changed(bytes, { rule: 'nothing holds it' });
      await t.at.root.call(`update cardwright.approval_request set payload = $1 where op = $2`, [other.toString(), op]);
      expect((await keep(op, bob.approves(bytes))).verdict).toBe('other');
      expect((await keep(op, bob.approves(other))).verdict).toBe('approved');
      await refused(op, [], { code: 15, reason: 'approval_other' });
    });

    it.runIf(isWhole)('17: another spelling of the same', async () => {
      const { op, bytes } = await held();
      const text = bytes.toString().replace('"cents":', '"cents":1,"cents":');
      await edited(op, record => (record.t === 'PLAN' ? { ...record, approval: text } : record));
      await refused(op, [bob.approves(Buffer.from(text))], { code: 15, reason: 'approval_form' });
    });

    it('18: a card that has changed since', async () => {
      await t.at.admin(`set_rule('approve_irreversible', 1)`);
      const { op, bytes } = await held('cards terminate card_2 --yes');
      expect((await keep(op, bob.approves(bytes))).verdict).toBe('approved');
      await done(asks, 'cards fund card_2 --amount 5 -q');
      posts = t.proxy.posts().length;
      await refused(op, [], { code: 14, reason: 'approval_stale' });
      const [head] = await t.at.ana.heads(t.at.account, { op });
      expect(head).toMatchObject({ state: 'finished', spent: 0 });
    });

    it('19: a file that its author has signed with a key of his own', async () => {
      const { op, bytes } = await held();
      await writeFile(join(runs?.folder ?? '', 'approvers'), `${stranger.line}\n`);
      await refused(op, [stranger.approves(bytes)], { code: 14, reason: 'approval_untrusted' });
    });

    it('20: an operator who writes the approval himself', async () => {
      const ana = await here.as('ana');
      const { op, bytes } = await held();
      const call = { account: t.at.account, op, host: 'laptop', keyid: bob.keyid, envelope: bob.approves(bytes) };
      await expect(t.at.ana.approve(call, { event: 'approved', op })).rejects.toMatchObject({ code: '42501' });
      await expect(ana.call('insert into cardwright.approval default values', [])).rejects.toMatchObject({
        code: '42501',
      });
      // Records that say so: the database counts persons by their keys, and the runner looks at the signatures.
      const by = hex(4);
      const record = { t: 'APPROVED', persons: ['bob'], envelopes: [stranger.approves(bytes)], at: 1 } as const;
      const release = { account: t.at.account, op, by, host: 'laptop', ttl_ms: 180_000, keys: [bob.keyid] };
      const taken = await t.at.ana.release(release, encodeLines(by, 0, [record]), { event: 'released', op });
      expect(taken.verdict).toBe('taken');
      await t.at.endLeases();
      await refused(op, [], { code: 15, reason: 'approval_forged' }, `ops takeover ${op} --reason "ana is away"`);
    });

    it('and a release with a signature that is none is told by the check, and by a dry run of whoever goes on', async () => {
      const { op, bytes } = await held();
      const by = hex(4);
      const record = { t: 'APPROVED', persons: ['bob'], envelopes: [stranger.approves(bytes)], at: 1 } as const;
      const release = { account: t.at.account, op, by, host: 'laptop', ttl_ms: 180_000, keys: [bob.keyid] };
      await t.at.ana.release(release, encodeLines(by, 0, [record]), { event: 'released', op });
      await t.at.endLeases();
      const foreseen = await runs?.run(`ops takeover ${op} --reason "ana is away" --dry-run`);
      expect([foreseen?.code, foreseen?.err]).toEqual([15, expect.stringContaining('hold no approval that counts')]);
      const { flaws } = JSON.parse((await asks?.run('journal check --json'))?.out ?? '{}');
      expect(flaws).toContainEqual(
        expect.objectContaining({ op, text: expect.stringContaining('no approval that counts') }),
      );
    });

    const LITTLE = 100;
    /** A claim of an operator who writes it himself, made of a plan that was asked for. */
    async function forged(change: {
      readonly plan?: Partial<PlanRecord>;
      readonly item?: Partial<ItemRecord>;
      readonly spent?: number;
      readonly largest?: number;
    }) {
      const { op: asked } = await held();
      const [segment] = await t.at.ana.readOp(t.at.account, asked, 1);
      const records = decodeLines(segment?.bytes ?? new Uint8Array(), asked).written.map(({ record }) => record);
      await t.at.admin(`set_rule('approve_above', null)`);
      const [op, by] = [freshOp(), hex(4)];
      const written = records.map(record => {
        if (record.t === 'ITEM') return { ...record, key: attemptKey(op, { row: 1 }, 1), ...change.item };
        if (record.t !== 'PLAN') return record;
        const { approval: _, ...rest } = record;
        return { ...rest, op, version: 1, digest: hex(32), ...change.plan };
      });
      const [plan] = written;
      if (plan?.t !== 'PLAN') throw new Error('there is no plan');
      const { command, digest, key_print, total_cents: total } = plan;
      const spent = change.spent ?? total;
      const spending = { largest: change.largest ?? spent, total: spent, cards: 0, bins: [] };
      const claim = wanted(t.at.account, total, {
        op,
        by,
        command,
        digest,
        key_print,
        spending,
        counts: { unknown: 0, open: 1 },
      });
      return { op, claim, bytes: encodeLines(by, 0, written) };
    }

    it('and a claim of another amount than its plan', async () => {
      const { claim, bytes, op } = await forged({});
      const other = { ...claim, cents: LITTLE, spending: { ...claim.spending, largest: LITTLE, total: LITTLE } };
      await expect(t.at.ana.claim(other, bytes, { event: 'begun', op })).rejects.toMatchObject({ code: 'CW007' });
    });

    it.each(
      firstOf(
        [
          [
            'a request of another amount',
            { plan: { total_cents: LITTLE }, item: { amount: LITTLE } },
            'row 1 says $1.00',
          ],
          ['rows of another sum', { plan: { total_cents: LITTLE } }, 'it was begun for $1.00, and its rows are'],
          [
            'a request of another amount than its input too',
            { plan: { total_cents: LITTLE }, item: { amount: LITTLE, input: { card_id: 'card_1', amount: LITTLE } } },
            'row 1 says $1.00, and its request $',
          ],
          [
            'a key of another operation',
            { item: { key: 'cw_0123456789abcdef' } },
            'the idempotency key of another one',
          ],
          ['a row that is not its own', { item: { row: 7 } }, 'it has a row 7'],
          ['an amount twice', { item: { body: '{"amount":1,"amount":102}' } }, 'the request of row 1 is no cards.fund'],
          ['another command', { plan: { command: 'cards freeze' } }, 'its command is cards freeze, and it does'],
          ['a smaller largest amount', { largest: LITTLE }, 'the caps count $1.00 at most, and a row spends'],
          [
            'a request for another card',
            { item: { path: '/cards/card_2/fund' }, spent: LITTLE },
            'asks for other things',
          ],
          [
            'a request of another kind',
            { item: { operation: 'cards.withdraw' }, spent: LITTLE },
            'is no cards.withdraw',
          ],
          ['less for the caps than it spends', { spent: LITTLE }, 'the caps count $1.00 for it, and its rows spend'],
        ],
        { isWhole },
      ),
    )('and a claim with %s: whoever goes on sends nothing, and the check tells', async (_, change, words) => {
      const { op, claim, bytes } = await forged(change);
      expect((await t.at.ana.claim(claim, bytes, { event: 'begun', op })).verdict).toBe('claimed');
      await t.at.endLeases();
      const line = `ops takeover ${op} --reason "ana is away"`;
      const { flaws } = JSON.parse((await asks?.run('journal check --json'))?.out ?? '{}');
      expect(flaws).toContainEqual(expect.objectContaining({ op, text: expect.stringContaining(words) }));
      await refused(op, [], { code: 15, reason: 'plan_misstated' }, line);
      const holder = (await t.at.ana.heads(t.at.account, { op }))[0]?.holder;
      await done(holder === 'ana' ? asks : runs, `ops resolve ${op} --as not-done --note "records do not fit"`);
    });

    it.each(
      firstOf(
        [
          ['an amount that is no number', { item: { amount: '1000' as unknown as number } }],
          ['half a cent', { item: { amount: 1000.5 } }],
          ['no input', { item: { input: undefined as never } }],
          ['an operation that nobody knows', { item: { operation: 'cards.zap' as 'cards.fund' } }],
          ['a plan of a newer cardwright', { plan: { version: 3 } }],
        ] as const,
        { isWhole },
      ),
    )('and a claim with %s is damaged for everybody, and an admin sets it aside', async (_, change) => {
      const { op, claim, bytes } = await forged({ ...change, spent: LITTLE });
      expect((await t.at.ana.claim(claim, bytes, { event: 'begun', op })).verdict).toBe('claimed');
      await t.at.endLeases();
      const found = async () =>
        JSON.parse((await asks?.run('journal check --json'))?.out ?? '{}').flaws.find((each: Flaw) => each.op === op);
      const { sql } = await found();
      await refused(op, [], { code: 15 }, `ops takeover ${op} --reason "ana is away"`);
      await (await here.as('ada')).call(sql.replace('true', 'false'), []);
      expect(await found()).toBeUndefined();
    });

    it('and a request that says less than its rows is neither shown nor signed, from the journal or a file', async () => {
      const { op, bytes, id } = await held();
      await done(asks, `approvals show ${id} --out ${op}-whole.json`);
      const file = join(asks?.folder ?? '', `${op}-whole.json`);
      const whole = JSON.parse(await readFile(file, 'utf8'));
      for (const change of [
        { cents: LITTLE },
        { largest_cents: LITTLE },
        { irreversible: true },
        { targets: [] },
        { command: 'cards freeze' },
      ]) {
        const payload = changed(bytes, change);
        await writeFile(file, JSON.stringify({ ...whole, payload: payload.toString('base64') }));
        for (const verb of ['show', 'approve']) {
          const ran = await asks?.run(`approvals ${verb} --file ${op}-whole.json`);
          expect([ran?.code, ran?.err]).toEqual([15, expect.stringContaining('does not say what its rows would do')]);
        }
        await edited(op, record => (record.t === 'PLAN' ? { ...record, approval: payload.toString() } : record));
        expect((await runs?.run(`approvals show ${id}`))?.code).toBe(15);
      }
      // A part of a cent is no amount, whatever is said of it.
      const items = whole.items.map((item: PlannedItem) => ({ ...item, body: '{"amount":1.005}' }));
      const payload = changed(bytes, { plan_sha256: planDigest(items) });
      await writeFile(file, JSON.stringify({ ...whole, items, payload: payload.toString('base64') }));
      const ran = await asks?.run(`approvals show --file ${op}-whole.json`);
      expect([ran?.code, ran?.err]).toEqual([15, expect.stringContaining('row 1 asks for no amount in cents')]);
    });
  });
}
