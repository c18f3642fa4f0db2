/** A disk that is full, or a head that cannot be written: the log stays whole, and goes on when there is room again. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { AuditFacts } from '../../src/audit/entry.ts';
import { auditLog } from '../../src/audit/log.ts';
import { clock, random } from '../client/served.ts';
import { program } from '../support/child.ts';
import { requires } from '../support/programs.ts';
import { traced } from '../support/strace.ts';

const execute = promisify(execFile);

const SOURCE = `
import { randomBytes } from 'node:crypto';
import { auditLog } from './src/audit/log.ts';
const [folder, count] = process.argv.slice(2);
const log = auditLog({
  stateFolder: folder,
  clock: { now: Date.now, monotonic: () => performance.now(), sleep: async () => undefined },
  random: { bytes: n => new Uint8Array(randomBytes(n)), fraction: Math.random },
  pid: process.pid,
  user: 'tester',
  host: 'desk',
  platform: process.platform,
  warn: text => { throw new Error(text); },
});
const line = { event: 'write', profile: 'team', mode: 'test', origin: 'https://api.example.com', operation: 'cards.fund' };
const told = [];
for (let n = 0; n < Number(count); n += 1) told.push(await log.append(line).then(() => 'written', error => error.kind));
console.log(told.join(' '));
`;

const here = (folder: string) =>
  auditLog({
    ...{ stateFolder: folder, clock, random, pid: process.pid, user: 'tester', host: 'desk' },
    platform: process.platform,
    warn: () => undefined,
  });
const LINE: AuditFacts = {
  ...{ profile: 'team', mode: 'test', origin: 'https://api.example.com' },
  event: 'write',
  operation: 'cards.fund',
};

test('a line that a full disk cuts is refused, cut off and followed when there is room', async () => {
  await using appender = await program(SOURCE);
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-full-'));
  const path = join(folder, 'audit.jsonl');
  // A limit of the size of files takes a part of a write and then refuses, as a full disk does.
  const limited = ['-c', 'ulimit -f 2; exec "$@"', 'sh', process.execPath, appender.file, folder, '9'];
  const first = (await execute('/bin/sh', limited)).stdout.trim().split(' ');
  const written = first.filter(each => each === 'written').length;
  expect(written).toBeGreaterThan(0);
  expect(first.slice(written)).toEqual(Array.from({ length: 9 - written }, () => 'guarded'));
  const log = here(folder);
  expect((await log.read()).flaw).toBeUndefined();
  expect((await log.read()).entries).toHaveLength(written);
  expect((await readFile(path, 'utf8')).endsWith('\n')).toBe(true);
  expect(await log.append(LINE)).toBe(written + 1);
  const { entries, flaw } = await log.read();
  expect([entries.length, flaw]).toEqual([written + 1, undefined]);
  await rm(folder, { recursive: true });
});

test.skipIf(requires('strace'))('a head that cannot be written, again and again, breaks nothing', async () => {
  await using appender = await program(SOURCE);
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-head-'));
  const log = here(folder);
  for (let line = 0; line < 3; line += 1) await log.append(LINE);
  const options = ['-o', '/dev/null', '-P', join(folder, 'audit.head'), '-e', 'inject=pwrite64:error=ENOSPC'];
  const { lines } = await traced({ command: [process.execPath, appender.file, folder, '3'], options });
  expect(lines).toEqual(['guarded guarded guarded']);
  expect((await log.read()).flaw).toBeUndefined();
  const before = (await log.read()).entries.length;
  expect(await log.append(LINE)).toBe(before + 1);
  expect((await log.read()).flaw).toBeUndefined();
  await rm(folder, { recursive: true });
});

test('a last line cut by a person is not hidden, and nothing is written behind it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-cut-'));
  const log = here(folder);
  for (let line = 0; line < 3; line += 1) await log.append(LINE);
  const whole = await readFile(log.path, 'utf8');
  await writeFile(log.path, whole.slice(0, -40));
  expect((await log.read()).flaw).toEqual({
    line: 3,
    why: 'it is cut in the middle; a full disk can cause that: 3 lines were written',
  });
  await expect(log.append(LINE)).rejects.toMatchObject({ kind: 'check_failed' });
  expect((await stat(log.path)).size).toBe(whole.length - 40);
  await rm(folder, { recursive: true });
});
