import { mkdir, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AuditFacts, followChain } from '../../src/audit/entry.ts';
import { type AuditDependencies, type AuditLog, auditLog } from '../../src/audit/log.ts';
import { clock, random } from '../client/served.ts';
import { codePoint } from '../support/code-point.ts';

let folder: string;
let log: AuditLog;
const warnings: string[] = [];
const around = (): AuditDependencies => ({
  stateFolder: join(folder, 'state'),
  clock,
  random,
  pid: process.pid,
  user: 'tester',
  host: 'desk',
  platform: process.platform,
  warn: text => warnings.push(text),
});
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
  log = auditLog(around());
  warnings.length = 0;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function lines(count: number): Promise<string> {
  for (let line = 0; line < count; line += 1) await log.append(facts({ amount: line }));
  return readFile(log.path, 'utf8');
}

describe('the audit log', () => {
  it('is 0600 in a 0700 folder, one line an entry, numbered from 1', async () => {
    await lines(3);
    expect((await stat(log.path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'state'))).mode & 0o777).toBe(0o700);
    const { entries, flaw } = await log.read();
    expect(flaw).toBeUndefined();
    expect(entries.map(({ seq, amount }) => [seq, amount])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
  });

  it('has nothing to say before the first entry, and makes no file', async () => {
    expect(await log.read()).toEqual({ entries: [] });
    await expect(stat(join(folder, 'state'))).rejects.toThrow('ENOENT');
  });

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

  it('names the line of any byte of the file that became another one, the newlines too', async () => {
    const whole = Buffer.from(await lines(3));
    const lineOf = (at: number) => whole.subarray(0, at).filter(byte => byte === 0x0a).length + 1;
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(255), async (at, byte) => {
        fc.pre(whole[at] !== byte);
        const changed = Buffer.from(whole);
        changed[at] = byte;
        await writeFile(log.path, changed);
        const { entries, flaw } = await log.read();
        expect([at, byte, flaw?.line, entries.length]).toEqual([at, byte, lineOf(at), lineOf(at) - 1]);
      }),
      { numRuns: 200, seed: 20_261_120 },
    );
  });

  it('names the last line when the file beside it changed in any byte', async () => {
    await lines(2);
    const path = join(folder, 'state', 'audit.head');
    const head = await readFile(path);
    for (const at of head.keys()) {
      const changed = Buffer.from(head);
      changed[at] = head[at] === 0x31 ? 0x32 : 0x31;
      await writeFile(path, changed);
      expect([at, (await log.read()).flaw?.line ?? 'nothing']).toEqual([at, expect.any(Number)]);
      await expect(log.append(facts())).rejects.toMatchObject({ kind: 'check_failed' });
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

  it('shows that its tail was cut off, and that it was taken away', async () => {
    const text = await lines(3);
    await writeFile(log.path, `${text.split('\n').slice(0, 2).join('\n')}\n`);
    expect((await log.read()).flaw).toMatchObject({ line: 3 });
    await rm(log.path);
    expect((await log.read()).flaw).toMatchObject({ line: 1 });
    await writeFile(log.path, text);
    await rm(join(folder, 'state', 'audit.head'));
    expect((await log.read()).flaw?.why).toContain('audit.head');
  });

  it('writes nothing after a tail that was cut off: the next line would hide it', async () => {
    const text = await lines(4);
    const head = join(folder, 'state', 'audit.head');
    const named = await readFile(head, 'utf8');
    for (const kept of [3, 2, 1, 0]) {
      const cut = text
        .split('\n')
        .slice(0, kept)
        .map(line => `${line}\n`)
        .join('');
      await writeFile(log.path, cut);
      await expect(log.append(facts())).rejects.toMatchObject({ kind: 'check_failed' });
      expect([await readFile(log.path, 'utf8'), await readFile(head, 'utf8')]).toEqual([cut, named]);
      expect((await log.read()).flaw).toMatchObject({ line: kept + 1 });
    }
    await rm(log.path);
    await expect(log.append(facts())).rejects.toMatchObject({ kind: 'check_failed' });
  });

  it('writes nothing beside a head that is another one, or none', async () => {
    const text = await lines(3);
    const head = join(folder, 'state', 'audit.head');
    for (const other of [`${'3'.padStart(12, '0')} ${'a'.repeat(64)}\n`, 'x', '']) {
      await writeFile(head, other);
      await expect(log.append(facts())).rejects.toMatchObject({ kind: 'check_failed' });
      expect(await readFile(log.path, 'utf8')).toBe(text);
    }
    await rm(head);
    await expect(log.append(facts())).rejects.toMatchObject({ kind: 'check_failed' });
    await rm(log.path);
    expect(await log.append(facts())).toBe(1);
  });

  it('goes on when the process died between a line and its head', async () => {
    const head = join(folder, 'state', 'audit.head');
    await lines(2);
    const before = await readFile(head, 'utf8');
    await lines(1);
    await writeFile(head, before);
    expect(await log.append(facts())).toBe(4);
    expect((await log.read()).flaw).toBeUndefined();
  });

  it('shows lines somebody else chained on', async () => {
    const text = await lines(2);
    const head = await readFile(join(folder, 'state', 'audit.head'));
    await lines(2);
    await writeFile(join(folder, 'state', 'audit.head'), head);
    expect(text).not.toBe('');
    expect((await log.read()).flaw).toMatchObject({ line: 3 });
  });

  it('goes on after a line that was torn at any byte', async () => {
    await lines(2);
    const whole = (await stat(log.path)).size;
    await lines(1);
    const size = (await stat(log.path)).size;
    const head = join(folder, 'state', 'audit.head');
    for (const at of [whole + 1, whole + 20, size - 1]) {
      await truncate(log.path, whole);
      await writeFile(head, (await readFile(head, 'utf8')).replace(/.*\n/, ''));
      const before = (await readFile(log.path, 'utf8')).trimEnd().split('\n').at(-1) ?? '';
      await writeFile(head, `${'2'.padStart(12, '0')} ${JSON.parse(before).hash}\n`);
      await writeFile(log.path, 'x'.repeat(at - whole), { flag: 'a' });
      expect(await log.append(facts())).toBe(3);
      expect((await log.read()).flaw).toBeUndefined();
    }
  });

  it('refuses to go on after a damaged last line', async () => {
    const text = await lines(2);
    await writeFile(log.path, text.replace(/"amount":1,/, '"amount":9,'));
    await expect(log.append(facts())).rejects.toMatchObject({ kind: 'check_failed' });
    expect(await readFile(log.path, 'utf8')).toBe(text.replace(/"amount":1,/, '"amount":9,'));
  });

  it('follows no symlink and repairs what is open to others', async () => {
    await mkdir(join(folder, 'state'), { mode: 0o700 });
    await writeFile(join(folder, 'victim'), 'mine');
    await symlink(join(folder, 'victim'), log.path);
    await expect(log.append(facts())).rejects.toMatchObject({ kind: 'guarded' });
    expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('mine');
    await rm(log.path);
    await writeFile(log.path, '', { mode: 0o644 });
    await log.append(facts());
    expect((await stat(log.path)).mode & 0o777).toBe(0o600);
    expect(warnings.join()).toContain('open to other users');
  });

  it('keeps one chain when many write at once', async () => {
    const others = Array.from({ length: 5 }, () => auditLog(around()));
    await Promise.all(others.flatMap(other => Array.from({ length: 8 }, () => other.append(facts()))));
    const { entries, flaw } = await log.read();
    expect({ count: entries.length, flaw }).toEqual({ count: 40, flaw: undefined });
  });

  it('keeps any text inside its line', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: codePoint, maxLength: 400 }), async text => {
        await log.append(facts({ outcome: text, card_id: text }));
        expect((await log.read()).flaw).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });
});

it('lines of older releases, without user and host, stay in the chain', async () => {
  const { auditLine } = await import('../../src/audit/entry.ts');
  const { createHash } = await import('node:crypto');
  const { hash } = auditLine(facts(), { after: { seq: 0, hash: '0'.repeat(64) }, at: '', pid: 1, user: '', host: '' });
  const body = JSON.stringify({ seq: 1, at: '2026-11-20T14:03:11.000Z', pid: 1, ...facts(), prev: '0'.repeat(64) });
  const old = createHash('sha256').update(body.slice(0, -1)).digest('hex');
  expect(old).not.toBe(hash);
  await mkdir(join(folder, 'state'), { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'state', 'audit.jsonl'), `${body.slice(0, -1)},"hash":"${old}"}\n`, { mode: 0o600 });
  await writeFile(join(folder, 'state', 'audit.head'), `000000000001 ${old}\n`, { mode: 0o600 });
  expect(await log.append(facts({ event: 'outcome' }))).toBe(2);
  const { entries, flaw } = await log.read();
  expect([entries.map(({ user }) => user), flaw]).toEqual([[undefined, 'tester'], undefined]);
});

it('lines that were written together are whole or cut off together with the head, at every byte', async () => {
  await log.append(facts());
  const path = join(folder, 'state', 'audit.jsonl');
  const headPath = join(folder, 'state', 'audit.head');
  const [alone, head] = await Promise.all([readFile(path), readFile(headPath)]);
  await log.appendAll([1, 2, 3].map(row => facts({ event: 'outcome', row })));
  const [whole, named] = await Promise.all([readFile(path), readFile(headPath)]);
  for (let size = alone.length; size <= whole.length; size += 7) {
    // Killed while it wrote: the head still names the line before.
    await writeFile(path, whole.subarray(0, size));
    await writeFile(headPath, head);
    expect((await log.read()).flaw, `${size} bytes`).toBeUndefined();
    await log.append(facts());
    expect((await log.read()).flaw, `${size} bytes, one more`).toBeUndefined();
    // Cut off afterwards: the head names a line that is not there.
    await writeFile(path, whole.subarray(0, size));
    await writeFile(headPath, named);
    if (size < whole.length - 1) expect((await log.read()).flaw, `${size} bytes, cut`).toBeDefined();
  }
});
