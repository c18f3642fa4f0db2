/** What must not count as an approval: each is refused before anything is sent (docs/design/approvals.md). */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { approverLine, keyIdOf } from '../../src/journal/approvals/approvers.ts';
import { canonicalJson } from '../../src/journal/approvals/canonical-json.ts';
import { publicBytes, signEnvelope } from '../../src/journal/approvals/envelope.ts';
import { localStore } from '../../src/journal/store/local-store.ts';
import { createDisk } from '../../src/journal/wal/storage.ts';
import { random, realClock } from '../support/clocks.ts';
import { ask } from '../support/sandbox-http.ts';
import { WORLD_TIME, world } from '../support/world.ts';

interface Person {
  readonly name: string;
  readonly key: KeyObject;
  readonly line: string;
  approves(bytes: Uint8Array): string;
}

function person(name: string, more = ''): Person {
  const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
  const bytes = publicBytes(publicKey);
  const line = `${approverLine(name, bytes)}${more}`;
  return { name, key, line, approves: payload => signEnvelope(payload, { keyid: keyIdOf(bytes), key }) };
}

const HOUR = 3_600_000;

/** A runner with a profile that holds what is above $20, and a card with $10. */
async function team(
  approvers: readonly Person[],
  settings: Readonly<Record<string, string>> = { approve_above: '20' },
) {
  const here = await world({ served: true, wallet: 500, env: { CARDWRIGHT_PROFILE: 'team' } });
  const write = (name: string, text: string) => writeFile(join(here.folder, name), text, { mode: 0o600 });
  const read = (name: string) => readFile(join(here.folder, name), 'utf8');
  await write('key.txt', here.sandbox.key.expose());
  await write('approvers', approvers.map(({ line }) => `${line}\n`).join(''));
  const done = async (line: string) => {
    const ran = await here.run(line);
    expect({ line, code: ran.code, err: ran.err }).toMatchObject({ code: 0 });
    return ran.out.trim();
  };
  await done(`login --profile team --base-url ${here.sandbox.url} --key-file key.txt`);
  await done('profiles set team approvers_file ./approvers');
  await done('cards create --bin bin_1 --amount 10 -q');
  for (const [name, value] of Object.entries(settings)) await done(`profiles set team ${name} ${value}`);
  const error = (err: string) => JSON.parse(err.trim().split('\n').at(-1) ?? '{}').error;
  let requests = 0;
  return {
    here,
    write,
    done,
    error,
    balance: async () => (await ask(here.sandbox, { path: '/cards/card_1' })).json.balance as number,
    /** Asks, and is held: the op and the bytes to be signed. */
    async held(line: string) {
      requests += 1;
      const ran = await here.run(`${line} --json --approval-out request-${requests}.json`);
      expect({ line, code: ran.code, err: ran.err }).toMatchObject({ code: 17 });
      const { op, approval } = error(ran.err);
      expect(JSON.parse(await read(`request-${requests}.json`)).payload).toBe(approval.payload);
      return { op: String(op), id: String(approval.id), bytes: Buffer.from(approval.payload, 'base64') };
    },
    async resume(op: string, files: readonly string[]) {
      const ran = await here.run(`ops resume ${op} --approval ${files.join(',')} --json`);
      return { ...ran, error: ran.code === 0 ? undefined : error(ran.err) };
    },
    [Symbol.asyncDispose]: () => here[Symbol.asyncDispose](),
  };
}

const FUND = 'cards fund card_1 --amount 25';

/** Attacks that change what is signed in another place than the amount, and what is no approval at all. */
const VARIED: ReadonlySet<string> = new Set([
  'another account',
  'another journal',
  'a later end',
  'the same with other spaces',
  'no approval at all',
]);

/** `isWhole` adds what differs from the others in a word. */
export function notAnApproval({ isWhole }: { readonly isWhole: boolean }): void {
  describe('an approval counts', () => {
    test('once: what it was given for is done once, whoever asks again', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const { op, bytes } = await t.held(FUND);
      await t.write('bo.json', bo.approves(bytes));
      expect((await t.resume(op, ['bo.json'])).code).toBe(0);
      expect(await t.balance()).toBe(35);
      expect((await t.resume(op, ['bo.json'])).code).toBe(0);
      expect(await t.balance()).toBe(35);
      // The same change anew is another request, and the approval of the first is not one of it.
      const again = await t.held(FUND);
      expect(again.op).not.toBe(op);
      expect(await t.resume(again.op, ['bo.json'])).toMatchObject({ code: 15 });
      expect(await t.balance()).toBe(35);
    });

    test('for each purchase of its own, told apart by intents', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const [nov, dec] = [await t.held(`${FUND} --intent ads-nov`), await t.held(`${FUND} --intent ads-dec`)];
      expect(dec.op).not.toBe(nov.op);
      const unnamed = await t.here.run(FUND);
      expect([unnamed.code, unnamed.err]).toEqual([
        17,
        expect.stringContaining('Another purchase needs an --intent of its own'),
      ]);
      await t.write('bo.json', bo.approves(dec.bytes));
      expect(await t.resume(nov.op, ['bo.json'])).toMatchObject({ code: 15 });
      expect((await t.here.run(`${FUND} --intent ads-dec --approval bo.json`)).code).toBe(0);
      expect(await t.balance()).toBe(35);
      await t.write('bo-nov.json', bo.approves(nov.bytes));
      expect((await t.resume(nov.op, ['bo-nov.json'])).code).toBe(0);
      expect(await t.balance()).toBe(60);
    });

    test.runIf(isWhole)('or asks for nothing where its file cannot be read', async () => {
      await using t = await team([person('bo')]);
      const ran = await t.here.run(`${FUND} --intent ads --approval nosuch.json`);
      expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('nosuch.json')]);
      expect(JSON.parse((await t.here.run('approvals list --json')).out).data).toEqual([]);
    });

    test('for its own change alone: given to another one, it is told, and the new request with it', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const { op, bytes } = await t.held(FUND);
      await t.write('bo.json', bo.approves(bytes));
      expect((await t.resume(op, ['bo.json'])).code).toBe(0);
      const other = await t.here.run('cards fund card_1 --amount 26 --approval bo.json --approval-out next.json');
      expect(other).toMatchObject({
        code: 15,
        err: expect.stringContaining('bo.json approves something else than apr_'),
      });
      expect(other.err).toMatch(/is held until .*; nobody has\./);
      expect(other.err).toContain('try: cardwright approvals approve --file next.json');
      expect(await t.balance()).toBe(35);
    });

    test('never for a request that was rejected, and the list of operations says that it was', async () => {
      await using t = await team([person('bo')]);
      const { op, id } = await t.held(FUND);
      await t.done(`approvals reject ${id} --reason "not this month" --yes`);
      expect(JSON.parse(await t.done('ops list --state rejected --json')).data).toMatchObject([
        { op, state: 'rejected' },
      ]);
      expect(
        JSON.parse(await t.done('ops list --state finished --json')).data.map((each: { op: string }) => each.op),
      ).not.toContain(op);
      expect((await t.here.run(`ops resume ${op}`)).code).toBe(14);
    });

    test('never by the key that lies in the configuration of the requester', async () => {
      await using t = await team([]);
      const bo = { USER: 'bo', CARDWRIGHT_CONFIG_DIR: t.here.folder };
      const at = { terminal: 200, env: bo } as const;
      expect(
        (await t.here.run('approvals key create', { ...at, typed: ['correct horse', 'correct horse'] })).code,
      ).toBe(0);
      await t.write('approvers', `${(await t.here.run('approvals key show -q', { env: bo })).out}`);
      expect((await t.here.run(FUND)).code).toBe(14);
    });

    test('from the journal, where the approver shares it', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const { op, id, bytes } = await t.held(FUND);
      const kept = `${JSON.stringify(JSON.parse(bo.approves(bytes)))}`;
      const folder = join(t.here.folder, 'state');
      const lock = { pid: process.pid, clock: realClock, random };
      const disk = createDisk({ platform: 'linux', random, warn: () => undefined, lock });
      const store = localStore({
        stateFolder: folder,
        disk,
        random,
        pid: process.pid,
        keyPrint: async () => '',
        accountPrint: async () => '',
      });
      await store.requests?.keep(op, { t: 'APPROVAL', envelope: kept, at: Date.parse(WORLD_TIME) });
      expect(JSON.parse(await t.done('approvals list --json')).data).toMatchObject([
        { id, state: 'approved', have: 1, approved_by: ['bo'] },
      ]);
      await t.done(`ops resume ${op}`);
      expect(await t.balance()).toBe(35);
      await expect(store.requests?.keep(op, { t: 'APPROVAL', envelope: kept, at: 0 })).rejects.toMatchObject({
        kind: 'guarded',
      });
    });

    test('of two runners at once, one sends', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const { op, bytes } = await t.held(FUND);
      await t.write('bo.json', bo.approves(bytes));
      const codes = (await Promise.all([t.resume(op, ['bo.json']), t.resume(op, ['bo.json'])])).map(({ code }) => code);
      expect(codes).toContain(0);
      expect(await t.balance()).toBe(35);
    });

    test('by persons, not by keys, and as many as the rule asks for', async () => {
      const [bo, second, cy] = [person('bo'), person('bo'), person('cy')];
      await using t = await team([bo, second, cy], { approve_above: '20', approvals_needed: '2' });
      const { op, bytes } = await t.held(FUND);
      await t.write('bo.json', bo.approves(bytes));
      await t.write('second.json', second.approves(bytes));
      await t.write('cy.json', cy.approves(bytes));
      expect(await t.resume(op, ['bo.json', 'second.json'])).toMatchObject({
        code: 17,
        error: { approval: { have: 1, needed: 2 } },
      });
      expect(await t.balance()).toBe(10);
      const one = await t.here.run(`ops resume ${op} --approval bo.json`);
      expect([one.code, one.err]).toEqual([
        17,
        expect.stringContaining('--approval ana.approval.json,bo.approval.json'),
      ]);
      // One list, however it is typed.
      expect((await t.here.run(`ops resume ${op} --approval bo.json --approval cy.json`)).code).toBe(0);
      expect(await t.balance()).toBe(35);
      const lines = JSON.parse(await t.done('audit list --json')).data;
      expect(lines.at(-1)).toMatchObject({ outcome: 'done', approved_by: 'bo, cy', user: 'tester', host: 'desk', op });
    });

    test('under the rule of now, when that asks for more than the rule of then', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const { op, bytes } = await t.held(FUND);
      await t.write('bo.json', bo.approves(bytes));
      await t.done('profiles set team approvals_needed 2');
      expect((await t.resume(op, ['bo.json'])).code).toBe(17);
      expect(await t.balance()).toBe(10);
    });

    test('and does not pass a limit of the profile', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const { op, bytes } = await t.held(FUND);
      await t.write('bo.json', bo.approves(bytes));
      await t.done('profiles set team max_per_call 24');
      expect(await t.resume(op, ['bo.json'])).toMatchObject({ code: 14, error: { message: /max_per_call/ } });
      expect(await t.balance()).toBe(10);
    });
  });

  describe('what is held is told', () => {
    test.runIf(isWhole)(
      'whole to a reader behind a pipe: rule, card, intent, and with --rows each request',
      async () => {
        await using t = await team([person('bo')]);
        const { id } = await t.held(`${FUND} --intent ads-nov`);
        for (const named of [id, '--file request-1.json']) {
          const lines = (await t.done(`approvals show ${named} --rows`)).split('\n');
          expect(lines).toContain(`id\t${id}`);
          expect(lines).toContain('rule\tapprove_above is $20.00, and $25.00 are asked for');
          expect(lines).toContain('intent\tads-nov');
          expect(lines).toContainEqual(expect.stringMatching(/^target\t.*card_1/));
          expect(lines).toContain('request\tPOST /cards/card_1/fund {"amount":25}');
        }
        await t.write(
          'cards.csv',
          ['card_id,amount', ...Array.from({ length: 7 }, (_, at) => `card_1,${30 + at}`)].join('\n'),
        );
        const many = await t.held('cards fund --file cards.csv --yes');
        const requests = async (more: string) =>
          (await t.done(`approvals show ${many.id}${more}`)).split('\n').filter(line => line.startsWith('request_'));
        expect(await requests(' --rows')).toHaveLength(7);
        expect(await requests('')).toHaveLength(5);
        expect(await t.done(`approvals show ${many.id}`)).toMatch(/^more_requests\t2 rows: approvals show --rows$/m);
      },
    );

    test.runIf(isWhole)(
      'with the command that writes the request, where approvers have no share in the journal',
      async () => {
        await using t = await team([person('bo')]);
        const held = await t.here.run(`${FUND} --intent ads-nov`);
        expect(held.code).toBe(17);
        const [, write = ''] = /try: cardwright (.*)/.exec(held.err) ?? [];
        expect(write).toMatch(/^approvals show (apr_\w+) --out \1\.request\.json$/);
        await t.done(write);
        const [, approve = ''] = /Then an approver: cardwright (.*)/.exec(held.err) ?? [];
        expect(await t.done(approve.replace('approvals approve', 'approvals show'))).toContain('intent\tads-nov');
        await t.write('request.json', '');
        const again = await t.here.run(`${FUND} --intent ads-nov --approval-out request.json`);
        expect(again).toMatchObject({ code: 17, err: expect.stringContaining('there is a file of that name') });
        expect(again.err).toContain(`try: cardwright ${write}`);
      },
    );

    test('by a person without a profile, who is not told that nothing is real', async () => {
      await using t = await team([person('bo')]);
      const { id } = await t.held(FUND);
      const env = { USER: 'bo', CARDWRIGHT_PROFILE: '', CARDWRIGHT_CONFIG_DIR: join(t.here.folder, 'bo') };
      const at = { terminal: 200, env } as const;
      const passphrase = 'correct horse';
      const created = await t.here.run('approvals key create', { ...at, typed: [passphrase, passphrase] });
      const line = 'approvals approve --file request-1.json';
      const approved = await t.here.run(line, { ...at, typed: ['25', passphrase] });
      expect([approved.code, approved.all]).toEqual([0, expect.stringContaining(`Approved ${id}`)]);
      const own = { terminal: 200, env: { CARDWRIGHT_PROFILE: '' } } as const;
      const listed = await t.here.run('approvals list', own);
      expect([listed.code, listed.out]).toEqual([0, expect.stringContaining(id)]);
      for (const { all } of [created, approved, listed]) expect(all).not.toContain('real money');
      expect((await t.here.run('wallet', at)).err).toContain('nothing here is real money');
    });

    test('with the files of all, where two persons are needed', async () => {
      await using t = await team([person('bo'), person('cy')], { approve_above: '20', approvals_needed: '2' });
      const { op, id } = await t.held(FUND);
      const env = { USER: 'bo', CARDWRIGHT_PROFILE: '', CARDWRIGHT_CONFIG_DIR: join(t.here.folder, 'bo') };
      const at = { terminal: 300, env } as const;
      await t.here.run('approvals key create', { ...at, typed: ['correct horse', 'correct horse'] });
      const line = 'approvals approve --file request-1.json';
      const approved = await t.here.run(line, { ...at, typed: ['25', 'correct horse'] });
      const files = `--approval ${id}.approval.json,other.approval.json`;
      expect(approved.all).toContain(`the file of each, separated by commas: cardwright ops resume ${op} ${files}`);
    });

    test('as refused, where no other person may approve it', async () => {
      const own = person('ana', ' users=tester');
      await using t = await team([own]);
      const alone = await t.here.run(FUND);
      expect(alone.code).toBe(14);
      expect(alone.err).toContain('no other person may approve what tester@desk asks for: only ana is an approver');
      await t.write('approvers', '# nobody yet\n');
      const nobody = await t.here.run(FUND);
      expect(nobody.code).toBe(14);
      expect(nobody.err).toContain('nobody may approve what tester@desk asks for: there are no approvers');
      await t.write('approvers', `${own.line}\n${person('bo').line}\n`);
      await t.done('profiles set team approvals_needed 2');
      const tooFew = await t.here.run(FUND);
      expect(tooFew.code).toBe(14);
      expect(tooFew.err).toContain(
        'what tester@desk asks for needs the approval of 2 other persons, and only bo may give it',
      );
    });
  });

  describe('refused, with nothing sent', () => {
    type Attack = (facts: {
      bo: Person;
      own: Person;
      stranger: Person;
      bytes: Buffer;
      t: Awaited<ReturnType<typeof team>>;
    }) => Promise<string> | string;
    const changed = (bytes: Buffer, change: Readonly<Record<string, unknown>>) =>
      Buffer.from(canonicalJson({ ...JSON.parse(bytes.toString()), ...change }));
    const ATTACKS: Readonly<Record<string, readonly [code: number, reason: string, attack: Attack]>> = {
      'another amount': [15, 'approval_other', ({ bo, bytes }) => bo.approves(changed(bytes, { cents: 999 }))],
      'another account': [15, 'approval_other', ({ bo, bytes }) => bo.approves(changed(bytes, { account: 'other' }))],
      'another journal': [15, 'approval_other', ({ bo, bytes }) => bo.approves(changed(bytes, { journal: 'jrn_x' }))],
      'a later end': [
        15,
        'approval_other',
        ({ bo, bytes }) => bo.approves(changed(bytes, { expires_at: '2036-01-01T00:00:00Z' })),
      ],
      'the same with other spaces': [
        15,
        'approval_other',
        ({ bo, bytes }) => bo.approves(Buffer.concat([bytes, Buffer.from(' ')])),
      ],
      'a signature of other bytes': [
        15,
        'approval_signature',
        ({ bo, bytes }) => {
          const good = JSON.parse(bo.approves(bytes));
          const other = JSON.parse(bo.approves(Buffer.from('other')));
          return JSON.stringify({ ...good, signatures: other.signatures });
        },
      ],
      'a key of a stranger': [14, 'approval_untrusted', ({ stranger, bytes }) => stranger.approves(bytes)],
      'a key of a stranger under the id of an approver': [
        15,
        'approval_signature',
        ({ bo, stranger, bytes }) => {
          const good = JSON.parse(bo.approves(bytes));
          const [{ sig }] = JSON.parse(stranger.approves(bytes)).signatures;
          return JSON.stringify({ ...good, signatures: [{ keyid: good.signatures[0].keyid, sig }] });
        },
      ],
      'his own': [14, 'approval_own', ({ own, bytes }) => own.approves(bytes)],
      'a key that was revoked': [
        14,
        'approval_untrusted',
        async ({ bo, own, stranger, bytes, t }) => {
          await t.write('approvers', `${own.line}\n${stranger.line}\n`);
          return bo.approves(bytes);
        },
      ],
      'no approval at all': [15, 'approval_form', () => '{"payload":"aaaa"}'],
    };
    const isSharp = (what: string) => isWhole || !VARIED.has(what);
    test.each(Object.entries(ATTACKS).filter(([what]) => isSharp(what)))('%s', async (_, [code, reason, attack]) => {
      const [bo, own, stranger] = [person('bo'), person('ana', ' users=tester'), person('eve')];
      await using t = await team([bo, own]);
      const { op, bytes } = await t.held(FUND);
      await t.write('file.json', await attack({ bo, own, stranger, bytes, t }));
      const refused = await t.resume(op, ['file.json']);
      expect({ code: refused.code, outcome: refused.error.outcome }).toEqual({ code, outcome: 'not_sent' });
      expect(await t.balance()).toBe(10);
      const lines = JSON.parse(await t.done('audit list --json')).data;
      expect(lines.at(-1)).toMatchObject({ outcome: 'not_sent', reason, op });
      // What was an approval before still is one.
      await t.write('approvers', `${bo.line}\n`);
      await t.write('bo.json', bo.approves(bytes));
      expect((await t.resume(op, ['bo.json'])).code).toBe(0);
      expect(await t.balance()).toBe(35);
    });

    test('expired, also when the clock is set back', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const { op, bytes } = await t.held(FUND);
      await t.write('bo.json', bo.approves(bytes));
      const late = Date.parse(WORLD_TIME) + 25 * HOUR;
      const sleep = (ms: number, signal?: AbortSignal) =>
        wait(ms, undefined, { ref: false, ...(signal && { signal }) });
      const clock = { now: () => late, monotonic: () => performance.now(), sleep };
      expect((await t.here.run('cards fund card_1 --amount 1', { clock })).code).toBe(0);
      expect(await t.resume(op, ['bo.json'])).toMatchObject({ code: 14 });
      expect(await t.resume(op, ['bo.json'])).toMatchObject({ code: 14 });
      expect(await t.balance()).toBe(11);
      const shown = JSON.parse(await t.done('approvals list --all --json')).data;
      expect(shown).toMatchObject([{ op, state: 'expired' }]);
    });

    test('rejected: the reason is told, and the name is free', async () => {
      const bo = person('bo');
      await using t = await team([bo]);
      const { op, id, bytes } = await t.held(`${FUND} --intent po-1`);
      await t.write('bo.json', bo.approves(bytes));
      await t.done(`approvals reject ${id} --reason "wrong card" --yes`);
      const refused = await t.resume(op, ['bo.json']);
      expect(refused).toMatchObject({ code: 14 });
      expect(refused.error.message).toContain('wrong card');
      expect(await t.here.run(`approvals reject ${id} --reason again --yes`)).toMatchObject({ code: 14 });
      const again = await t.held(`${FUND} --intent po-1`);
      expect(again.op).not.toBe(op);
      await t.write('again.json', bo.approves(again.bytes));
      expect((await t.here.run(`${FUND} --intent po-1 --approval again.json`)).code).toBe(0);
      expect(await t.balance()).toBe(35);
    });

    test('stale: what cannot be undone was approved for a card as it was', async () => {
      const bo = person('bo');
      await using t = await team([bo], { approve_irreversible: 'true' });
      const { op, bytes } = await t.held('cards terminate card_1 --yes');
      await t.write('bo.json', bo.approves(bytes));
      await t.done('cards fund card_1 --amount 5 -q');
      expect(await t.resume(op, ['bo.json'])).toMatchObject({ code: 14 });
      expect(await t.balance()).toBe(15);
    });

    test('rows that were edited in the file of the request are not signed', async () => {
      await using t = await team([person('bo')]);
      await t.held(FUND);
      const text = await readFile(join(t.here.folder, 'request-1.json'), 'utf8');
      await t.write('request-1.json', text.replace('{\\"amount\\":25}', '{\\"amount\\":95}'));
      expect(await t.here.run('approvals show --file request-1.json')).toMatchObject({ code: 15 });
      expect(await t.here.run('approvals approve --file request-1.json')).toMatchObject({ code: 15 });
    });
  });

  describe('what is held', () => {
    test('a sum of the day, so that nobody splits it; what was approved does not count', async () => {
      const bo = person('bo');
      await using t = await team([bo], { approve_day: '40' });
      await t.done('cards fund card_1 --amount 15 -q');
      const { op, bytes } = await t.held('cards fund card_1 --amount 20');
      await t.write('bo.json', bo.approves(bytes));
      expect((await t.resume(op, ['bo.json'])).code).toBe(0);
      await t.done('cards fund card_1 --amount 15 -q');
      const over = await t.here.run('cards fund card_1 --amount 1');
      const says =
        'approve_day is $40.00; $40.00 were moved today (UTC) without approval, and $1.00 are asked for now\n';
      expect([over.code, over.err]).toEqual([17, expect.stringContaining(says)]);
      expect(await t.balance()).toBe(60);
    });

    test('of two commands at once that are together above the day, one', async () => {
      await using t = await team([person('bo')], { approve_day: '40' });
      const lines = ['cards fund card_1 --amount 18', 'cards fund card_1 --amount 19'];
      const codes = (await Promise.all(lines.map(line => t.here.run(line)))).map(({ code }) => code).sort();
      expect(codes).toEqual([0, 17]);
    });

    test('many rows, and never those that freeze', async () => {
      const bo = person('bo');
      await using t = await team([bo], { approve_rows: '1' });
      await t.write('freeze.csv', 'card_id\ncard_1\n');
      await t.done('cards create --bin bin_1 --amount 5 -q');
      await t.write('two.csv', 'card_id\ncard_1\ncard_2\n');
      await t.done('cards freeze --file two.csv --yes');
      const { op, bytes } = await t.held('cards unfreeze --file two.csv --yes');
      await t.write('bo.json', bo.approves(bytes));
      expect((await t.resume(op, ['bo.json'])).code).toBe(0);
      expect((await ask(t.here.sandbox, { path: '/cards/card_2' })).json.status).toBe('active');
    });

    test.runIf(isWhole)('nothing, where nobody could approve it', async () => {
      await using t = await team([person('ana', ' users=tester')]);
      expect(await t.here.run(FUND)).toMatchObject({ code: 14 });
      expect(JSON.parse(await t.done('ops list --json')).data).toHaveLength(1);
    });
  });
}
