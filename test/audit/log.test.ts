import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AuditFacts, type AuditLog, auditLog, followChain } from '../../src/audit/log.ts';
import { connectTo } from '../../src/engine/open.ts';
import type { Database } from '../../src/journal/database.ts';
import { hasJournal, openSqlite } from '../../src/journal/sqlite.ts';
import { clock, random } from '../client/served.ts';
import { codePoint } from '../support/code-point.ts';

let folder: string;
let log: AuditLog;
let opened: Promise<Database>[];

const logIn = (stateFolder: string): AuditLog => {
  let database: Promise<Database> | undefined;
  const files = { platform: process.platform, random, warn: () => undefined };
  const open = () => {
    if (database === undefined) {
      database = openSqlite({ stateFolder, files, clock });
      opened.push(database);
    }
    return database;
  };
  const path = join(stateFolder, 'journal.db');
  const existing = async () => (hasJournal(stateFolder) ? open() : undefined);
  return auditLog({ path, database: open, existing, clock, pid: process.pid, user: 'tester', host: 'desk' });
};
const facts = (more: Partial<AuditFacts> = {}): AuditFacts => ({
  event: 'write',
  profile: 'team',
  mode: 'test',
  origin: 'https://api.example.com',
  operation: 'cards.fund',
  card_id: 'card_1',
  amount: 25,
  ...more,
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cardwright-audit-'));
  opened = [];
  log = logIn(join(folder, 'state'));
});
afterEach(async () => {
  for (const each of opened) await (await each).close();
  await rm(folder, { recursive: true, force: true });
});

async function lines(count: number): Promise<string> {
  for (let line = 0; line < count; line += 1) await log.append([facts({ amount: line })]);
  return (await log.text()) ?? '';
}

/** What somebody does who writes as this user. */
function tamper(statement: string): void {
  const connection = connectTo(log.path);
  connection.exec(statement);
  connection.close();
}

describe('the audit log', () => {
  it('names the line of every changed byte', async () => {
    const text = await lines(4);
    const starts = [...text.matchAll(/^/gm)].map(({ index }) => index);
    const lineOf = (at: number) => starts.filter(start => start <= at).length;
    for (let at = 0; at < text.length - 1; at += 1) {
      const changed = text.slice(0, at) + (text[at] === '0' ? '1' : '0') + text.slice(at + 1);
      const { flaw } = followChain(changed.split('\n').slice(0, -1));
      expect([at, flaw?.line]).toEqual([at, lineOf(at)]);
    }
  });

  it('names the line where one was taken out, put in twice or moved', async () => {
    const all = (await lines(4)).trimEnd().split('\n');
    const [one = '', two = '', three = '', four = ''] = all;
    expect(followChain([one, three, four]).flaw?.line).toBe(2);
    expect(followChain([two, three, four]).flaw?.line).toBe(1);
    expect(followChain([one, two, two, three]).flaw?.line).toBe(3);
    expect(followChain([one, three, two, four]).flaw?.line).toBe(2);
  });

  it.each([
    ['its tail was cut off', "delete from audit where account = 'machine' and seq > 2", 3],
    ['it was taken away', "delete from audit where account = 'machine'", 1],
    ['a line was put behind it', "update account set audit_seq = 3 where id = 'machine'", 4],
    ['another line is called the last', "update account set audit_hash = 'x' where id = 'machine'", 4],
  ])('shows that %s, and writes nothing behind that', async (_what, statement, line) => {
    await lines(4);
    tamper(statement);
    expect((await log.read()).flaw).toMatchObject({ line });
    const before = await log.text();
    await expect(log.append([facts()])).rejects.toMatchObject({ kind: 'check_failed' });
    expect(await log.text()).toBe(before);
  });

  it('keeps any text inside its line', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: codePoint, maxLength: 400 }), async text => {
        await log.append([facts({ outcome: text, card_id: text })]);
        expect((await log.read()).flaw).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });
});
