import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { acceptPlace, openSqlite } from '../../src/journal/sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'journal-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const settings = (stateFolder: string) => ({
  stateFolder,
  clock: { now: () => 1 },
  files: {
    platform: process.platform,
    random: { bytes: (n: number) => randomBytes(n) } as never,
    warn: () => undefined,
  },
});

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
  acceptPlace(join(folder, 'b'));
  const accepted = await openSqlite(settings(join(folder, 'b')));
  expect(await accepted.read(tx => tx.all('select count(*) as n from account'))).toEqual([{ n: 3 }]);
  await accepted.close();
});
