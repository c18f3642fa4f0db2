/** Saved profiles, only looked at: nothing is repaired, nothing is warned of, and `conf` is not loaded. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { type Profile, shown } from './profile.ts';
import { EMPTY_PROFILE_FILE, parseProfileFile } from './profile-file.ts';
import type { ProfileStore } from './store.ts';

/** What can be told of the profiles without a key of theirs. */
export type ReadOnlyProfiles = Pick<ProfileStore, 'path' | 'list' | 'get' | 'current' | 'currentChanged' | 'key'>;

/** The profiles of this user; none where the file cannot be read. Asking for a key rejects. */
export async function readOnlyProfiles(configFolder: string): Promise<ReadOnlyProfiles> {
  const path = join(configFolder, 'config.json');
  const { current, staleCurrent, profiles } = await readText(path)
    .then(parseProfileFile)
    .catch(() => EMPTY_PROFILE_FILE);
  const seen = new Map<string, Profile>([...profiles.values()].map(profile => [profile.name, shown(profile)]));
  return {
    path,
    list: () => [...seen.values()],
    get: name => seen.get(name),
    current: () => current,
    currentChanged: () => staleCurrent !== undefined,
    key: () => Promise.reject(new CliError('internal', { message: 'a read-only view opens no key' })),
  };
}

async function readText(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
