import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { closeConnection, connectTo } from '../../src/engine/open.ts';
import { sql } from '../../src/journal/database.ts';
import { noteKnownState } from '../../src/journal/known-states.ts';
import { SCHEMA_VERSION } from '../../src/journal/schema.ts';
import { acceptPlace, openSqlite, setAsideJournal } from '../../src/journal/sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'journal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const settings = (stateFolder: string) => ({
  stateFolder,
  clock: { now: () => 1 },
  files: {
    platform: process.platform,
    random: { bytes: (n: number) => randomBytes(n) } as never,
    warn: () => undefined,
  },
});

async function accept(place: string): Promise<void> {
  const database = await openSqlite({ ...settings(place), isAccepting: true });
  await acceptPlace(database);
  await database.close();
}

test('writes of one turn are whole each, survive a second opening, and a copy is refused until it is accepted', async () => {
  const database = await openSqlite(settings(join(folder, 'a')));
  const add = (id: string) =>
    database.grouped(tx => tx.insert('account', ['id', 'origin', 'mode'], [[id, 'x', 'test']]));
  const ended = await Promise.allSettled([add('1'), add('2'), add('1'), add('3')]);
  expect(ended.map(each => each.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  await database.close();
  const again = await openSqlite(settings(join(folder, 'a')));
  expect(await again.read(tx => tx.all('select count(*) as n from account'))).toEqual([{ n: 3 }]);
  await again.close();
  cpSync(join(folder, 'a'), join(folder, 'b'), { recursive: true });
  await expect(openSqlite(settings(join(folder, 'b')))).rejects.toMatchObject({ kind: 'guarded' });
  await accept(join(folder, 'b'));
  const accepted = await openSqlite(settings(join(folder, 'b')));
  expect(await accepted.read(tx => tx.all('select count(*) as n from account'))).toEqual([{ n: 3 }]);
  await accepted.close();
});

test('a journal, its folder or what was seen of it that is put back in place is refused until it is accepted', async () => {
  const place = join(folder, 'put-back');
  const claim = async () => {
    const database = await openSqlite(settings(place));
    await database.transaction(tx => tx.run('update account set audit_seq = audit_seq + 1'));
    await database.close();
  };
  const first = await openSqlite(settings(place));
  await first.transaction(tx => tx.insert('account', ['id', 'origin', 'mode'], [['1', 'x', 'test']]));
  await first.close();
  const putBack = (...names: string[]) => {
    closeConnection(connectTo(join(place, 'journal.db')), 'file');
    for (const name of names) writeFileSync(join(place, name), readFileSync(join(folder, 'backup', name)));
  };
  await claim();
  putBack();
  cpSync(place, join(folder, 'backup'), { recursive: true });
  await claim();
  await claim();
  putBack('journal.db');
  await expect(openSqlite(settings(place))).rejects.toMatchObject({ kind: 'guarded' });
  putBack('journal.db', 'journal.seen');
  await expect(openSqlite(settings(place))).rejects.toMatchObject({ kind: 'guarded' });
  await accept(place);
  await claim();
  await claim();
  expect(JSON.parse(readFileSync(join(place, 'journal.seen'), 'utf8')).lines).toBe(3);
});

test('a file of the journal that was copied before an accept is refused after it', async () => {
  const place = join(folder, 'accepted');
  const known = async (isAccepting: boolean) => {
    const database = await openSqlite({ ...settings(place), isAccepting });
    if (isAccepting) await acceptPlace(database);
    const folders = { configFolder: join(folder, 'config'), stateFolder: place, machine: 'desk' };
    await noteKnownState(database, folders, settings(place).files, isAccepting).finally(() => database.close());
  };
  const journal = join(place, 'journal.db');
  const intoOneFile = () => closeConnection(connectTo(journal), 'file');
  await known(false);
  intoOneFile();
  const before = readFileSync(journal);
  await known(true);
  await known(false);
  intoOneFile();
  writeFileSync(journal, before);
  await expect(known(false)).rejects.toMatchObject({ kind: 'guarded' });
  await known(true);
  await known(false);
});

test('a journal of a newer build is refused and stays as it is', async () => {
  const database = await openSqlite(settings(join(folder, 'newer')));
  await database.transaction(tx => tx.run(sql`update meta set version = ${SCHEMA_VERSION + 1}`));
  await database.close();
  await expect(openSqlite(settings(join(folder, 'newer')))).rejects.toMatchObject({
    kind: 'check_failed',
    message: expect.stringContaining('newer'),
  });
});

test('a damaged journal is refused, and a new one begins only when it is set aside', async () => {
  const place = join(folder, 'damaged');
  const database = await openSqlite(settings(place));
  await database.close();
  const bytes = readFileSync(join(place, 'journal.db'));
  bytes.fill(0xa5, 0, 4_096);
  writeFileSync(join(place, 'journal.db'), bytes);
  // What is not in the file yet stands in its write-ahead log.
  for (const end of ['-wal', '-shm']) rmSync(join(place, `journal.db${end}`), { force: true });
  await expect(openSqlite(settings(place))).rejects.toMatchObject({ kind: 'check_failed' });
  await expect(openSqlite(settings(place))).rejects.toMatchObject({ kind: 'check_failed' });
  const aside = setAsideJournal(place, '20261120');
  expect(readFileSync(join(aside, 'journal.db')).equals(bytes)).toBe(true);
  await (await openSqlite(settings(place))).close();
});

test('state of an earlier build is refused in one sentence that says how to move it away', async () => {
  const place = join(folder, 'earlier');
  mkdirSync(join(place, 'ops'), { recursive: true, mode: 0o700 });
  chmodSync(place, 0o700);
  await expect(openSqlite(settings(place))).rejects.toMatchObject({
    kind: 'guarded',
    facts: { hint: expect.stringContaining('mv ') },
  });
});
