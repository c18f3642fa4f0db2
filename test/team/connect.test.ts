/** A connection with patience: verified, logged in by SCRAM, and the same call again when its answer was lost. */

import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, connect as dial, type Server as Listening, type Socket } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ConnectDependencies, connectJournal, readJournalUrlFile } from '../../src/team/connect.ts';
import { parseJournalUrl } from '../../src/team/journal-url.ts';
import { statementsOver } from '../../src/team/statements.ts';
import { missing } from '../postgres/server.ts';
import { certificateOf, type Database, database, PASSWORD } from '../postgres/shared.ts';
import { random, waitingClock } from '../support/clocks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { FACTS, linesOf, sent, type TestAccount, testAccount, wanted } from './test-account.ts';

const around = (more: Partial<ConnectDependencies> = {}): ConnectDependencies => ({
  clock: waitingClock(),
  random,
  platform: process.platform,
  signal: new AbortController().signal,
  ...more,
});

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});

async function listening(serve: (socket: Socket) => void): Promise<number> {
  const server: Listening = createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(server);
  return (server.address() as AddressInfo).port;
}

it('asks a server that is gone again for 15 seconds, and then says which and why', async () => {
  let asked = 0;
  const port = await listening(socket => {
    asked += 1;
    socket.destroy();
  });
  const clock = waitingClock();
  const { call } = connectJournal(
    parseJournalUrl(`postgres://ana@127.0.0.1:${port}/journal`, 'flag'),
    around({ clock }),
  );
  await expect(call('select 1', [])).rejects.toMatchObject({
    kind: 'guarded',
    facts: {
      message: expect.stringMatching(
        `^the shared journal postgres://ana@127.0.0.1:${port}/journal cannot be reached: `,
      ),
      outcome: 'not_sent',
    },
  });
  // The shortest pauses that there are.
  expect(asked).toBe(150);
  expect(clock.monotonic()).toBeLessThan(15_000);
});

it('asks it for a shorter time where it is told to, and says whom it waits for', async () => {
  const port = await listening(socket => socket.destroy());
  const clock = waitingClock();
  const told: string[] = [];
  const onWait = (whom: string, mostMs: () => number) => {
    told.push(`${whom}, ${mostMs()} ms`);
    return () => void told.push(`over after ${mostMs()} ms at most`);
  };
  const url = parseJournalUrl(`postgres://ana@127.0.0.1:${port}/journal`, 'flag');
  const { call } = connectJournal(url, around({ clock, patienceMs: 5_000, onWait }));
  await expect(call('select 1', [])).rejects.toMatchObject({ facts: { reason: 'journal_unreachable' } });
  expect(clock.monotonic()).toBeGreaterThan(4_500);
  expect(clock.monotonic()).toBeLessThan(5_000);
  expect(told).toEqual(['the shared journal at 127.0.0.1, 5000 ms', 'over after 5000 ms at most']);
});

it.each([
  ['no TLS', '127.0.0.1', 'set ssl = on'],
  // Too long for a name server: nobody is asked for it.
  ['an unknown host', `${'n'.repeat(64)}.invalid`, 'The host of the address is not known here'],
])('names the next step where there is %s', async (_what, host, says) => {
  const port = await listening(socket => socket.once('data', () => socket.end('N')).on('error', () => undefined));
  const url = parseJournalUrl(`postgres://ana@${host}:${port}/journal?sslmode=verify-full`, 'flag');
  await expect(connectJournal(url, around()).call('select 1', [])).rejects.toMatchObject({
    kind: 'guarded',
    facts: { notes: expect.arrayContaining([expect.stringContaining(says)]) },
  });
});

it('stops when it is stopped', async () => {
  const port = await listening(socket => socket.destroy());
  const stop = new AbortController();
  const clock = { ...waitingClock(), sleep: (_ms: number, signal?: AbortSignal) => Promise.reject(signal?.reason) };
  stop.abort(new Error('Ctrl-C'));
  const { call } = connectJournal(
    parseJournalUrl(`postgres://ana@127.0.0.1:${port}/journal`, 'flag'),
    around({ clock, signal: stop.signal }),
  );
  await expect(call('select 1', [])).rejects.toThrow('Ctrl-C');
});

it('reads an address or a password from no file that others may read', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'url');
  await writeFile(path, 'postgres://ana@db/journal\n', { mode: 0o600 });
  expect(await readJournalUrlFile(path, 'linux')).toBe('postgres://ana@db/journal');
  await chmod(path, 0o640);
  await expect(readJournalUrlFile(path, 'linux')).rejects.toMatchObject({
    kind: 'guarded',
    facts: { hint: `chmod 600 ${path}` },
  });
  await expect(readJournalUrlFile(folder.path, 'linux')).rejects.toMatchObject({ kind: 'guarded' });
  await expect(readJournalUrlFile(join(folder.path, 'none'), 'linux')).rejects.toMatchObject({ kind: 'guarded' });
});

describe.skipIf(missing())('a server', () => {
  let here: Database;
  let at: TestAccount;
  beforeAll(async () => {
    here = await database();
    at = await testAccount(here);
  });
  afterAll(() => here.close());

  const urlOf = (parameters: string, password = PASSWORD) =>
    parseJournalUrl(
      `postgres://ana:${encodeURIComponent(password)}@127.0.0.1:${here.server.port}/${here.name}?${parameters}`,
      'environment',
    );

  it('is verified, and shown the password by SCRAM', async () => {
    await using journal = connectJournal(urlOf(`sslrootcert=${certificateOf(here.server)}`), around());
    const ssl = 'select version from pg_stat_ssl where pid = pg_backend_pid()';
    expect(await journal.call(ssl, [])).toEqual([['TLSv1.3']]);
    expect(await statementsOver(journal).status(at.account)).toMatchObject({ role: 'ana' });
  });

  it('whose certificate is not trusted is left at once', async () => {
    const clock = waitingClock();
    await using journal = connectJournal(urlOf('sslmode=verify-full'), around({ clock }));
    await expect(journal.call('select 1', [])).rejects.toMatchObject({
      kind: 'guarded',
      facts: { message: expect.stringContaining('self-signed certificate') },
    });
    expect(clock.monotonic()).toBe(0);
  });

  it('that refuses the login is not asked again', async () => {
    const clock = waitingClock();
    await using journal = connectJournal(urlOf('', 'wrong-password'), around({ clock }));
    const thrown: unknown = await journal.call('select 1', []).catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      kind: 'guarded',
      facts: {
        message: expect.stringContaining('the login was refused'),
        hint: 'export CARDWRIGHT_JOURNAL_PASSWORD_FILE=/absolute/path',
      },
    });
    expect(JSON.stringify(thrown)).not.toContain('wrong-password');
    expect(clock.monotonic()).toBe(0);
  });

  it('asks for a password that a file holds, and without one says where it may stand', async () => {
    await using folder = await temporaryFolder();
    const passwordFile = join(folder.path, 'password');
    await writeFile(passwordFile, `${PASSWORD}\n`, { mode: 0o600 });
    const url = urlOf('', '');
    await using journal = connectJournal(url, around({ passwordFile }));
    expect(await journal.call('select 1', [])).toEqual([['1']]);
    await using without = connectJournal(url, around());
    await expect(without.call('select 1', [])).rejects.toMatchObject({
      kind: 'guarded',
      facts: { hint: 'export CARDWRIGHT_JOURNAL_PASSWORD_FILE=/absolute/path' },
    });
  });

  it('refuses in our words: what it lost, what is not there, what is not allowed', async () => {
    await using journal = connectJournal(urlOf(''), around());
    const known = { seq: 99, hash: 'f'.repeat(64) };
    await expect(
      statementsOver(journal).note({ account: at.account, host: 'laptop', nonce: 'n', known }, FACTS),
    ).rejects.toMatchObject({ kind: 'check_failed' });
    await expect(journal.call('select cardwright.nothing()', [])).rejects.toMatchObject({
      kind: 'guarded',
      facts: { hint: 'cardwright journal init --print-sql' },
    });
    await expect(journal.call(`select cardwright.set_cap('a', 'b', 1)`, [])).rejects.toMatchObject({ kind: 'guarded' });
    await expect(journal.call('select 1 / 0', [])).rejects.toMatchObject({ kind: 'internal' });
  });

  /** Passes bytes on to the server; the first connections are cut after so many bytes of the server. */
  async function cutting(cuts: number[]): Promise<{ url: ReturnType<typeof parseJournalUrl>; passed: number[] }> {
    const passed: number[] = [];
    const port = await listening(socket => {
      const cut = cuts.shift() ?? Number.POSITIVE_INFINITY;
      const index = passed.push(0) - 1;
      const behind = dial(join(here.server.socket, `.s.PGSQL.${here.server.port}`));
      const end = () => {
        socket.destroy();
        behind.destroy();
      };
      for (const each of [socket, behind]) each.on('error', end).on('close', end);
      socket.pipe(behind);
      behind.on('data', (data: Buffer) => {
        const left = cut - (passed[index] ?? 0);
        passed[index] = (passed[index] ?? 0) + data.length;
        socket.write(data.subarray(0, Math.max(0, left)));
        if (data.length >= left) socket.end();
      });
    });
    return { url: parseJournalUrl(`postgres://ana@127.0.0.1:${port}/${here.name}`, 'flag'), passed };
  }

  it('is left for good when it is closed: a call that still waited opens no other connection', async () => {
    let logins = 0;
    const port = await listening(near => {
      logins += 1;
      const far = dial(join(here.server.socket, `.s.PGSQL.${here.server.port}`));
      for (const each of [near, far])
        each.on('error', () => undefined).on('close', () => [near, far].map(end => end.destroy()));
      near.pipe(far).pipe(near);
    });
    const connection = connectJournal(
      parseJournalUrl(`postgres://ana@127.0.0.1:${port}/${here.name}`, 'flag'),
      around(),
    );
    await connection.call('select 1', []);
    const calls = ['select 2', 'select 3'].map(text => connection.call(text, []));
    const waiting = Promise.allSettled(calls);
    await calls[0];
    await connection[Symbol.asyncDispose]();
    expect((await waiting)[1]).toMatchObject({ status: 'rejected', reason: { kind: 'guarded' } });
    await expect(connection.call('select 4', [])).rejects.toMatchObject({ kind: 'guarded' });
    expect(logins).toBe(1);
  });

  it('is told the same once more when its answer was cut off, and does it once', async () => {
    const before = await at.eve.heads(at.account, {});
    const claim = async (cuts: number[]) => {
      const { url, passed } = await cutting(cuts);
      await using journal = connectJournal(url, around());
      const op = wanted(at.account, 7);
      expect(await statementsOver(journal).claim(op, linesOf(op.by, sent(1)), FACTS)).toMatchObject({
        verdict: 'claimed',
      });
      expect(await at.eve.heads(at.account, { op: op.op })).toHaveLength(1);
      return passed;
    };
    const [whole = 0] = await claim([]);
    const cuts = Array.from({ length: 9 }, (_, index) => Math.floor((whole * (index + 1)) / 10));
    for (const cut of cuts) expect((await claim([cut, cut])).length, `cut after ${cut}`).toBe(3);
    expect((await at.eve.heads(at.account, {})).length).toBe(before.length + 10);
    expect((await at.eve.status(at.account)).used).toBe(70);
  });
});
