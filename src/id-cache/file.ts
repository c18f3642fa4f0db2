/** Where what is known is kept: one file a profile in the cache folder, 0600, replaced by renaming. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type FileDependencies, preparePrivateFolder, readPrivate } from '../files/private-files.ts';
import { replaceFile } from '../files/replace-file.ts';
import type { Clock, Folders, Randomness } from '../platform/host.ts';
import { type IdCache, idCacheText, parseIdCache } from './contents.ts';
import { idCacheFile } from './path.ts';

export interface IdCacheHost {
  readonly folders: Folders;
  readonly clock: Clock;
  readonly platform: NodeJS.Platform;
  readonly noise: Randomness;
}

/** Of whom something is known: the profile names the file, the place says whether what is in it still counts. */
export interface Whose {
  readonly profile: string;
  readonly place: string;
}

/** Of one who speaks to an address with a key, as a contract and a dialect have it. No part of it is secret. */
export function cacheScope(parts: readonly (string | undefined)[]): string {
  return JSON.stringify(parts.map(part => part ?? null));
}

/** Never rejects: what cannot be read, or is open to others, is not known. */
export async function readIdCache(host: IdCacheHost, { profile, place }: Whose): Promise<IdCache> {
  const path = idCacheFile(host.folders.cache, profile);
  const text = await readPrivate(path, around(host)).catch(() => undefined);
  return parseIdCache(text, place, host.clock.now());
}

/**
 * Reads, changes and replaces the file. Of two at once one change may be lost, and is seen again at the next look.
 * Nothing is synced: after a crash there is the old text, or none. Never rejects: without a cache everything else works.
 */
export async function changeIdCache(
  host: IdCacheHost,
  whose: Whose,
  change: (known: IdCache) => IdCache,
): Promise<void> {
  const path = idCacheFile(host.folders.cache, whose.profile);
  try {
    const next = change(await readIdCache(host, whose));
    await preparePrivateFolder(host.folders.cache, around(host));
    await preparePrivateFolder(dirname(path), around(host));
    const how = { random: host.noise, platform: host.platform, mode: 0o600, mayBeLost: true };
    await replaceFile(path, how, file => file.writeFile(idCacheText(next)));
  } catch {
    // Nothing of it is left, and the old one is whole.
  }
}

/** Nothing is known of the profile any more. Never rejects. */
export async function forgetIdCache(cacheFolder: string, profile: string): Promise<void> {
  await rm(idCacheFile(cacheFolder, profile), { force: true }).catch(() => undefined);
}

function around({ platform, noise }: IdCacheHost): FileDependencies {
  // TAB is no place for a warning; `doctor` tells of folders that are open to others.
  return { platform, random: noise, warn: () => undefined };
}
