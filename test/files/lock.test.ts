import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isLocked, withLock } from '../../src/engine/lock.ts';
import { chance, failure, freshFolder, jumpingClock, modeOf } from '../profile/dependencies.ts';

const { platform } = process;
const options = (more = {}) => ({ clock: jumpingClock(), random: chance, platform, timeoutMs: 1000, ...more });

/** Takes the lock as another process would, and keeps it. */
const HOLDER = `
const { DatabaseSync } = require('@photostructure/sqlite');
new DatabaseSync(process.argv[1]).exec('begin immediate');
process.stdout.write('held');
setInterval(() => undefined, 1000);`;

describe('the lock', () => {
  test('of another process is waited for, then refused, and ends with that process', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    expect(isLocked(path, platform)).toBe(false);
    const child = spawn(process.execPath, ['-e', HOLDER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    const clock = jumpingClock();
    const error = await failure(() => withLock(path, options({ clock }), async () => 1));
    expect([error.kind, error.message]).toEqual(['guarded', `${path} is held by another process`]);
    expect([clock.monotonic(), isLocked(path, platform)]).toEqual([1000, true]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect(await withLock(path, options({ timeoutMs: 0 }), async () => isLocked(path, platform))).toBe(true);
    expect(isLocked(path, platform)).toBe(false);
  });

  test('is held by one of many, and leaves an empty file of this user alone', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    let [inside, most] = [0, 0];
    const clock = { ...jumpingClock(), sleep: () => new Promise<void>(resolve => setImmediate(resolve)) };
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await readdir(fresh.path);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withLock(path, options({ clock }), work)));
    expect([most, await readdir(fresh.path), await readFile(path, 'utf8')]).toEqual([1, ['lock'], '']);
    expect(await modeOf(path)).toBe('600');
  });

  test('is not taken of a file that is none, which stays as it is', async () => {
    await using fresh = await freshFolder();
    const path = join(fresh.path, 'lock');
    await writeFile(path, '{"pid":1}\n', { mode: 0o600 });
    const error = await failure(() => withLock(path, options(), async () => 1));
    expect([error.kind, await readFile(path, 'utf8')]).toEqual(['guarded', '{"pid":1}\n']);
  });
});
