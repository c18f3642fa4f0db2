import { chmodSync, writeFileSync } from 'node:fs';
import { createServer, connect as dial, type Server as Net, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CliError } from '../../src/core/errors.ts';
import { type Database, sql } from '../../src/journal/database.ts';
import { openPostgres, postgresAddress } from '../../src/journal/postgres.ts';
import { initJournal, leaveJournal } from '../../src/journal/shared.ts';
import { type JournalServer, journalServer, settingsAt } from '../postgres/journal-server.ts';
import { type Bouncer, startBouncer } from '../postgres/pgbouncer.ts';
import { missing } from '../postgres/server.ts';

const without = missing() !== undefined;
let journal: JournalServer;
let bouncer: Bouncer;
const socketUrl = (user: string) => journal.url(user);

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: CliError) => error,
  );

beforeAll(async () => {
  if (without) return;
  journal = await journalServer();
  bouncer = await startBouncer(journal.server, ['ana', 'bo']);
});

afterAll(async () => {
  if (without) return;
  await bouncer.stop();
  await journal[Symbol.asyncDispose]();
});

async function withDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = await openPostgres(settingsAt(url));
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

const account = (id: string) =>
  sql`insert into account (id, origin, mode) values (${id}, 'https://api.example.com', 'live')`;

test.skipIf(without)('a transaction that resolves is kept, one that rejects leaves nothing', async () => {
  await withDatabase(socketUrl('ana'), async database => {
    expect(database.isShared).toBe(true);
    await database.transaction(async tx => {
      expect(await tx.run(account('kept'))).toBe(1);
    });
    const thrown = database.transaction(async tx => {
      await tx.run(account('lost'));
      throw new Error('on purpose');
    });
    await expect(thrown).rejects.toThrow('on purpose');
    const rows = await database.read(tx => tx.all('select id, audit_seq, audit_hash from account order by id'));
    expect(rows).toEqual([{ id: 'kept', audit_seq: 0, audit_hash: '' }]);
    expect(Math.abs((await database.read(tx => tx.now())) - Date.now())).toBeLessThan(5_000);
  });
});

test.skipIf(without)('grouped works share a commit, and one that throws is taken back alone', async () => {
  await withDatabase(socketUrl('ana'), async database => {
    const settled = await Promise.allSettled(
      [1, 2, 3].map(n =>
        database.grouped(async tx => {
          await tx.run(account(`group ${n}`));
          if (n === 2) throw new Error('second');
          return n;
        }),
      ),
    );
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const rows = await database.read(tx =>
      tx.all<{ id: string }>("select id from account where id like 'group%' order by id"),
    );
    expect(rows.map(({ id }) => id)).toEqual(['group 1', 'group 3']);
  });
});

test.skipIf(without)('many rows are inserted at once, with every value as it was', async () => {
  await withDatabase(socketUrl('ana'), async database => {
    const rows = Array.from(
      { length: 2_500 },
      (_, n) => ['many', `day ${n}`, '"quoted" ü \\ \n \u{1F600}', n, 2 ** 52 + n] as const,
    );
    await database.transaction(tx => tx.insert('spent', ['account', 'scope', 'day', 'held', 'spent'], rows));
    const [sum] = await database.read(tx =>
      tx.all(
        sql`select count(*) as n, min(day) as day, max(spent) as most, sum(held) as held from spent where account = ${'many'}`,
      ),
    );
    expect(sum).toEqual({
      n: 2_500,
      day: '"quoted" ü \\ \n \u{1F600}',
      most: 2 ** 52 + 2_499,
      held: (2_499 * 2_500) / 2,
    });
  });
});

test.skipIf(without)('pgbouncer in transaction mode may stand between, also when it is started again', async () => {
  const url = `postgres://ana@${encodeURIComponent(bouncer.socket)}:${bouncer.port}/postgres`;
  await withDatabase(url, async database => {
    await Promise.all([1, 2, 3, 4].map(n => database.transaction(tx => tx.run(account(`bouncer ${n}`)))));
    await bouncer.again();
    await database.transaction(tx => tx.run(account('bouncer 5')));
    const rows = await database.read(tx => tx.all("select id from account where id like 'bouncer%'"));
    expect(rows).toHaveLength(5);
  });
});

test.skipIf(without)('over the network TLS is verified, and the password comes from the usual places', async () => {
  const ca = join(journal.server.folder, 'data', 'server.crt');
  const url = (parameters: string) => `postgres://ana@localhost:${journal.server.port}/postgres?${parameters}`;
  const env = { PGPASSWORD: 'of ana' };
  const told: string[] = [];
  const right = await openPostgres(
    settingsAt(url(`sslmode=verify-full&sslrootcert=${ca}`), { env, onPassword: word => told.push(word) }),
  );
  await right.close();
  expect(told).toEqual(['of ana']);
  const unverified = await refusal(openPostgres(settingsAt(url('sslmode=require'), { env, patienceMs: 0 })));
  expect(unverified).toMatchObject({ kind: 'guarded' });
  expect(unverified?.message).toContain('certificate');
  const wrong = await refusal(openPostgres(settingsAt(url(`sslrootcert=${ca}`), { env: { PGPASSWORD: 'wrong' } })));
  expect(wrong?.kind).toBe('guarded');
  expect(JSON.stringify([wrong?.message, wrong?.facts])).not.toContain('wrong');
  const file = join(journal.server.folder, 'pgpass');
  writeFileSync(file, `localhost:*:*:ana:of ana\n`);
  chmodSync(file, 0o600);
  await (await openPostgres(settingsAt(url(`sslrootcert=${ca}`), { env: { PGPASSFILE: file } }))).close();
});

test('an address is read as every tool of PostgreSQL does, and nobody beyond this machine is trusted unverified', async () => {
  const env = { PGUSER: 'ana', PGPORT: '6000', PGHOST: 'db.example.com' };
  expect(postgresAddress('postgres:///cards', env, 'me')).toMatchObject({
    host: 'db.example.com',
    port: 6000,
    user: 'ana',
    database: 'cards',
    tls: { rejectUnauthorized: true },
  });
  expect(postgresAddress('postgresql://bo@10.0.0.1/cards', {}, 'me').shown).toBe('postgres://bo@10.0.0.1/cards');
  expect(postgresAddress('postgres://bo@localhost/cards', {}, 'me').tls).toBeUndefined();
  expect(postgresAddress('postgres://%2Frun%2Fpostgresql/cards', {}, 'me')).toMatchObject({
    host: '/run/postgresql',
    user: 'me',
  });
  expect(postgresAddress('postgres://bo:s%40cret@db/cards', {}, 'me').shown).not.toContain('cret');
  for (const url of [
    'postgres://db/cards?sslmode=disable',
    'postgres://db/cards?sslmode=prefer',
    'postgres://db/cards?sslmode=no-verify',
  ])
    expect(() => postgresAddress(url, {}, 'me')).toThrow(expect.objectContaining({ kind: 'guarded' }));
  for (const url of ['mysql://db/cards', 'cards', 'postgres://db/cards?options=-c%20x', 'postgres://a,b/cards'])
    expect(() => postgresAddress(url, {}, 'me')).toThrow(expect.objectContaining({ kind: 'usage' }));
});

test.skipIf(without)(
  'operators never delete or rewrite what was recorded, readers change nothing, strangers see nothing',
  async () => {
    await withDatabase(socketUrl('ana'), async database => {
      await database.transaction(async tx => {
        await tx.run("insert into audit (account, seq, line, hash) values ('rights', 1, '{}', 'h')");
        await tx.run("insert into approval (op, keyid, signature, at) values ('op_rights', 'k', 's', 1)");
        await tx.run("insert into card_hold (account, card, op, n) values ('rights', 'c', 'o', 1)");
        expect(await tx.run("delete from card_hold where account = 'rights'")).toBe(1);
      });
      const [line] = await database.read(tx => tx.all("select by_role from audit where account = 'rights'"));
      expect(line).toEqual({ by_role: 'ana' });
      for (const statement of [
        "update audit set line = '' where account = 'rights'",
        'delete from audit',
        'delete from op',
        'delete from change',
        "update approval set signature = ''",
        "insert into approver (account, keyid, person, key, added) values ('rights', 'k', 'ana', 'x', 1)",
        "insert into approval_rule (account, name, value) values ('rights', 'approve_above', '1000000.00')",
        "insert into audit (account, seq, line, hash, by_role) values ('rights', 2, '{}', 'h', 'bo')",
        'update meta set version = 2',
        'drop table audit',
        'create table cardwright.mine (n int)',
      ]) {
        expect((await refusal(database.transaction(tx => tx.run(statement))))?.kind, statement).toBe('guarded');
      }
    });
    await withDatabase(socketUrl('eve'), async database => {
      expect((await refusal(database.transaction(tx => tx.run(account('eve')))))?.kind).toBe('guarded');
    });
  },
);

test.skipIf(without)('init may be run again, and who leaves loses role and keys', async () => {
  const again = await initJournal(settingsAt(socketUrl('postgres')));
  expect(again.isNew).toBe(false);
  const admin = await openPostgres(settingsAt(socketUrl('postgres')));
  await admin.transaction(async tx => {
    await tx.run('create role cy login in role cardwright_operator');
    await tx.run("insert into approver (account, keyid, person, key, added) values ('a', 'k', 'cy', 'x', 1)");
  });
  const cy = await openPostgres(settingsAt(socketUrl('cy')));
  await leaveJournal(settingsAt(socketUrl('postgres')), 'cy');
  const [key] = await admin.read(tx =>
    tx.all<{ removed: number | null }>("select removed from approver where person = 'cy'"),
  );
  expect(key?.removed).toBeGreaterThan(0);
  expect((await refusal(cy.transaction(tx => tx.run(account('cy')))))?.kind).toBe('guarded');
  await cy.close();
  expect((await refusal(leaveJournal(settingsAt(socketUrl('postgres')), 'postgres')))?.kind).toBe('guarded');
  expect((await refusal(leaveJournal(settingsAt(socketUrl('postgres')), 'nobody')))?.kind).toBe('usage');
  await admin.close();
});

/** Passes bytes on until it is told to drop what comes, in either direction. */
async function cuttingProxy(
  socket: string,
): Promise<{ port: number; server: Net; cut: (when: 'before' | 'after') => void }> {
  let armed: 'before' | 'after' | undefined;
  const proxy = createServer(client => {
    const up: Socket = dial(socket);
    const end = () => {
      client.destroy();
      up.destroy();
    };
    client.on('data', bytes => {
      if (armed !== undefined && bytes.includes('commit\0')) {
        const how = armed;
        armed = undefined;
        if (how === 'before') return end();
        up.removeAllListeners('data').once('data', end);
        up.write(bytes);
        return;
      }
      up.write(bytes);
    });
    up.on('data', bytes => void (client.destroyed || client.write(bytes)));
    for (const side of [client, up]) side.on('error', end).on('close', end);
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => proxy.once('listening', resolve));
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    server: proxy,
    cut: when => {
      armed = when;
    },
  };
}

test.skipIf(without)(
  'works whose common COMMIT is lost, on the way there or back, are unknown and not done again',
  async () => {
    const proxy = await cuttingProxy(join(journal.server.socket, `.s.PGSQL.${journal.server.port}`));
    const url = `postgres://ana:of%20ana@127.0.0.1:${proxy.port}/postgres`;
    await withDatabase(url, async database => {
      for (const when of ['before', 'after'] as const) {
        let runs = 0;
        proxy.cut(when);
        const works = ['one', 'two'].map(name =>
          database.grouped(async tx => {
            runs += 1;
            await tx.run(account(`cut ${when} ${name}`));
          }),
        );
        const reason = expect.objectContaining({ kind: 'outcome_unknown' });
        expect(await Promise.allSettled(works)).toEqual([0, 1].map(() => ({ status: 'rejected', reason })));
        expect(runs).toBe(2);
        const rows = await database.read(tx =>
          tx.all<{ id: string }>(sql`select id from account where id like ${`cut ${when}%`}`),
        );
        expect(rows).toHaveLength(when === 'before' ? 0 : 2);
      }
    });
    proxy.server.close();
  },
);

test.skipIf(without)('a server that stops is waited for, and one that stays away is refused', async () => {
  const own = journal;
  const database = await openPostgres(settingsAt(own.url('ana')));
  await own.stop('SIGQUIT');
  const waits: string[] = [];
  const onWait = (whom: string) => {
    waits.push(whom);
    return () => undefined;
  };
  const waiting = openPostgres(settingsAt(own.url('ana'), { onWait }));
  const write = database.transaction(tx => tx.run(account('after')));
  await own.start();
  await (await waiting).close();
  expect(await write).toBe(1);
  expect(waits).toHaveLength(1);
  await own.stop('SIGQUIT');
  const gone = await refusal(openPostgres(settingsAt(own.url('ana'), { patienceMs: 300 })));
  expect(gone).toMatchObject({ kind: 'guarded', facts: { outcome: 'not_sent' } });
  await database.close();
  await own.start();
});
