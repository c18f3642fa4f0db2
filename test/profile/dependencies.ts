import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../../src/core/errors.ts';
import type { Clock, Randomness } from '../../src/platform/host.ts';
import type { ProfileHost } from '../../src/profile/store.ts';

export const TEST_KEY = 'sk_test_CANARYaaaa1111';
export const LIVE_KEY = 'sk_live_CANARYbbbb2222';

/** A clock on which waiting costs nothing. */
export function jumpingClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    monotonic: () => now,
    sleep: async ms => {
      now += ms;
    },
  };
}

export const chance: Randomness = {
  bytes: count => new Uint8Array(randomBytes(count)),
  fraction: () => 0.5,
};

/** A fresh private folder, removed by `await using`. */
export async function freshFolder() {
  const path = await mkdtemp(join(tmpdir(), 'cardwright-profile-'));
  await chmod(path, 0o700);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export function hostIn(folder: string): ProfileHost {
  const config = join(folder, 'config');
  const folders = { config, state: folder, data: folder, cache: folder, runtime: folder };
  const { platform } = process;
  const keychain = () => Promise.reject(new Error('there is no keychain'));
  return {
    folders,
    clock: jumpingClock(),
    random: chance,
    platform,
    env: {},
    signal: AbortSignal.any([]),
    keychain,
  };
}

/** The error of something that must fail, as `CliError`. */
export async function failure(work: () => unknown): Promise<CliError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** Everything a user or a log may get to see of an error. */
export function wholeText(error: CliError): string {
  return `${JSON.stringify(error.facts)} ${error.message} ${error.stack} ${String(error.facts.cause)}`;
}

/** Every byte below a folder. */
export async function allText(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map(file => readFile(file, 'latin1')))).join('\n');
}

export async function modeOf(path: string): Promise<string> {
  const { stat } = await import('node:fs/promises');
  return ((await stat(path)).mode & 0o777).toString(8);
}
