import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { identify, withLock } from '../../src/files/lock.ts';
import { chance, failure, freshFolder, jumpingClock } from '../profile/dependencies.ts';

const hasProc = identify(process.pid).started !== '';

const options = (more = {}) => ({
  pid: process.pid,
  clock: jumpingClock(),
  random: chance,
  timeoutMs: 1000,
  ...more,
});

async function idleProcess(): Promise<ChildProcess & { pid: number }> {
  const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
  await once(child, 'spawn');
  return child as ChildProcess & { pid: number };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** A lock as that process would have left it. */
async function lockOf(path: string, pid: number, more = {}): Promise<void> {
  const holder = { ...identify(pid), ...more, nonce: 'abcd' };
  await writeFile(path, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
}

describe('the lock', () => {
  test('of a living process is waited for, then refused with its pid', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    const child = await idleProcess();
    await lockOf(path, child.pid);
    const clock = jumpingClock();
    const error = await failure(() => withLock(path, options({ clock }), async () => 1));
    expect([error.kind, error.message]).toEqual(['guarded', expect.stringContaining(`process ${child.pid}`)]);
    expect(clock.monotonic()).toBe(1000);
    expect(await readFile(path, 'utf8')).toContain(String(child.pid));
    await kill(child);
  });

  test.runIf(hasProc)('of a killed process is taken over at once, by one of many', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    const child = await idleProcess();
    await lockOf(path, child.pid);
    await kill(child);
    let [inside, most] = [0, 0];
    const clock = { ...jumpingClock(), sleep: () => new Promise<void>(resolve => setImmediate(resolve)) };
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await readdir(fresh.path);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withLock(path, options({ clock }), work)));
    expect([most, await readdir(fresh.path)]).toEqual([1, []]);
  });

  test.runIf(hasProc)('taken by a quicker one between looking and taking over is left to them', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    await lockOf(path, 99999999);
    const quicker = `${JSON.stringify({ ...identify(process.pid), nonce: 'beef' })}\n`;
    // The question comes after the dead holder was read and before its file is removed.
    const isRunning = () => {
      writeFileSync(path, quicker);
      return false;
    };
    const error = await failure(() => withLock(path, options({ isRunning }), async () => 1));
    expect([error.kind, await readFile(path, 'utf8')]).toEqual(['guarded', quicker]);
  });

  test.runIf(hasProc)('of a reused pid or an earlier boot is taken over', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    for (const older of [{ started: '1' }, { boot: 'an-earlier-one' }]) {
      await lockOf(path, process.pid, older);
      expect(await withLock(path, options({ timeoutMs: 0 }), async () => 'done')).toBe('done');
    }
  });

  test('of another machine or container, or with unreadable content, is never taken over', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    const elsewhere = { machine: 'elsewhere', boot: 'x', started: '1' };
    for (const other of [elsewhere, { pids: 'pid:[1]', started: '1' }]) {
      await lockOf(path, 99999999, other);
      expect((await failure(() => withLock(path, options(), async () => 1))).kind).toBe('guarded');
    }
    for (const content of ['', '{"pid":1', '{}\n']) {
      await writeFile(path, content);
      expect((await failure(() => withLock(path, options(), async () => 1))).message).toContain('unknown process');
      expect(await readFile(path, 'utf8')).toBe(content);
    }
  });

  test('that became somebody else’s during the work is left to them', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    await withLock(path, options(), () => lockOf(path, process.pid));
    expect(await readFile(path, 'utf8')).toContain('abcd');
  });
});
