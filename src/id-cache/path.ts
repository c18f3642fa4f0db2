/** Where the cache of completion is. Loaded by every command that asks a service, so nothing else stands here. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../platform/host.ts';

export const idCacheFile = (cacheFolder: string, profile: string) => join(cacheFolder, 'completion', `${profile}.json`);

/** A machine where nobody types gets no cache; one that is there is kept true. */
export function isKept({ streams, folders }: Pick<Host, 'streams' | 'folders'>, profile: string): boolean {
  return streams.stderr.isTerminal || streams.stdin.isTerminal || existsSync(idCacheFile(folders.cache, profile));
}
