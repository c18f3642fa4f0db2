/** Sixteen real processes at once: caps and approvals hold, on the journal of one machine and on a shared one. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { approverLine, keyIdOf, publicBytes, signRequest } from '../../src/approvals/request.ts';
import { openPostgres } from '../../src/journal/postgres.ts';
import { approvalState, keepApproval, pendingOp } from '../../src/journal/rules.ts';
import { openSqlite } from '../../src/journal/sqlite.ts';
import { ended, home } from '../package/built.ts';
import { type JournalServer, journalServer, settingsAt } from '../postgres/journal-server.ts';
import { missing } from '../postgres/server.ts';
import { random } from '../support/clocks.ts';

const MANY = 16;
const LIMITS = { max_per_day: '60.00', approve_above: '20.00' };
const LONG_MS = 400_000;

/** bo, who may approve, and never asks. */
function approver() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicBytes(publicKey);
  return { privateKey, keyid: keyIdOf(key), line: approverLine('bo', key) };
}

async function sixteen(server: JournalServer | undefined): Promise<void> {
  await using here = await home();
  const sandbox = here.start(['sandbox', 'start', '--json']);
  const gone = once(sandbox, 'exit');
  try {
    const [said] = (await once(sandbox.stdout ?? sandbox, 'data')) as [Buffer];
    const { url, api_key_file } = JSON.parse(String(said)) as { url: string; api_key_file: string };
    const key = (await readFile(api_key_file, 'utf8')).trim();
    const login = here.start(['login', '--profile', 'team', '--base-url', url, '--key-stdin']);
    expect(await ended(login, key)).toMatchObject({ code: 0 });
    const env = {
      CARDWRIGHT_PROFILE: 'team',
      ...(server !== undefined && { CARDWRIGHT_JOURNAL_URL: server.url('ana') }),
    };
    const run = (...words: string[]) => here.run([...words, '--yes', '--json'], { env });
    const atOnce = (wordsOf: (n: number) => string[]) =>
      Promise.all(Array.from({ length: MANY }, (_, n) => run(...wordsOf(n))));
    const tally = (all: readonly { readonly code: number | null }[]) => {
      const counts: Record<string, number> = {};
      for (const { code } of all) counts[String(code)] = (counts[String(code)] ?? 0) + 1;
      return counts;
    };
    const asked = async (path: string) =>
      (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })).json() as Promise<never>;
    const cards = async () => (await asked('/cards?per_page=100')) as { data: { id: string; balance: number }[] };
    const wallet = async () => ((await asked('/wallet')) as { balance: number }).balance;

    const bo = approver();
    const files = { platform: process.platform, random, warn: () => undefined };
    const database =
      server === undefined
        ? await openSqlite({ stateFolder: join(here.folder, 'state'), files, clock: Date })
        : await openPostgres(settingsAt(server.url('bo')));
    if (server === undefined) {
      for (const [name, value] of Object.entries(LIMITS))
        expect((await here.run(['profiles', 'set', 'team', name, value])).code).toBe(0);
      const added = [['', bo.keyid, 'bo', bo.line.split(' ')[2] ?? '', 1]];
      await database.transaction(tx => tx.insert('approver', ['account', 'keyid', 'person', 'key', 'added'], added));
    } else {
      const rules = Object.entries(LIMITS).flatMap(([name, value]) => ['--limit', `${name}=${value}`]);
      const admin = ['journal', 'init', server.url('postgres'), '--key', ...rules, '--approver', bo.line];
      const init = await here.run(admin, { env });
      expect([init.code, init.out], init.err).toEqual([0, expect.stringContaining('is listed for the account')]);
    }
    const before = await wallet();
    const older = new Set((await cards()).data.map(({ id }) => id));
    const made = async () => (await cards()).data.filter(({ id }) => !older.has(id));

    // Sixteen ask for one purchase: it is one request, and nothing is sent.
    const big = ['cards', 'create', '--bin', 'auto', '--amount', '25', '--intent', 'big'];
    expect(tally(await atOnce(() => big))).toEqual({ 17: MANY });
    expect(await wallet()).toBe(before);
    const [held] = await database.read(tx => tx.all<{ id: string }>("select id from op where state = 'pending'"));
    const op = held?.id ?? '';
    const settings = {
      ...{
        isShared: server !== undefined,
        requester: 'ann',
        sources: async () => [],
        approvers: async () => undefined,
      },
    };
    const { text } = await database.read(async tx => approvalState(tx, await pendingOp(tx, op), settings));
    await keepApproval(database, op, signRequest(text, bo.privateKey), settings);
    await database.close();

    // Sixteen release it: it is sent once.
    const released = await atOnce(n => (n % 2 === 0 ? big : ['ops', 'resume', op]));
    for (const { code, err } of released) expect([0, 14], err).toContain(code);
    expect(tally(released)[0]).toBeGreaterThan(0);
    expect((await made()).map(({ balance }) => balance)).toEqual([25]);
    expect(await wallet()).toBe(before - 25);

    // $35.00 are left of the day, and sixteen want $5.00 each.
    const card = (await made())[0]?.id ?? '';
    const spent = await atOnce(n =>
      n % 2 === 0
        ? ['cards', 'fund', card, '--amount', '5', '--intent', `fund-${n}`]
        : ['cards', 'create', '--bin', 'auto', '--amount', '5', '--intent', `create-${n}`],
    );
    expect(tally(spent), spent.map(({ err }) => err).join('')).toEqual({ 0: 7, 14: 9 });
    expect(await wallet()).toBe(before - 60);
    expect((await here.run(['journal', 'check', '--json'], { env })).code).toBe(0);
  } finally {
    sandbox.kill('SIGKILL');
    await gone;
  }
}

test(
  'sixteen processes of one machine pass no cap, and send what was approved once',
  () => sixteen(undefined),
  LONG_MS,
);

test.skipIf(missing() !== undefined)(
  'sixteen processes pass no cap of a shared journal, and send what was approved once',
  async () => {
    await using server = await journalServer();
    await sixteen(server);
  },
  LONG_MS,
);
