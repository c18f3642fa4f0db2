/** Syncs of a service in memory into a mirror on disk, with kills. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMirror, type Mirror, type MirrorParts } from '../../src/mirror/mirror.ts';
import type { MovingService } from './moving-service.ts';

export interface Syncing extends AsyncDisposable {
  readonly mirror: Mirror;
  /** Undoes the nth commit from now, as a kill would; endless when it is not set. */
  killAtCommit: number;
  readonly warnings: string[];
  readonly folder: string;
  /** What the copy holds, one line a record. */
  held(): Promise<string[]>;
}

export async function syncing(service: MovingService, more: Partial<MirrorParts> = {}): Promise<Syncing> {
  const folder = await mkdtemp(join(tmpdir(), 'cardwright-mirror-'));
  const warnings: string[] = [];
  const world = { killAtCommit: Number.POSITIVE_INFINITY };
  const mirror = createMirror({
    path: join(folder, 'mirror', 'team.sqlite'),
    platform: process.platform,
    clock: { now: () => service.now, monotonic: () => service.now, sleep: async () => undefined },
    random: { bytes: count => new Uint8Array(count).fill(7), fraction: () => 0.5 },
    signal: new AbortController().signal,
    forbidden: async () => false,
    hasChangedSince: async () => false,
    program: [process.execPath],
    env: {},
    account: async () => ({
      profile: 'team',
      mode: 'test',
      origin: 'https://api.example.com/v1',
      keyPrint: async () => 'print of one',
    }),
    reader: async () => service.reader,
    serviceNow: () => Math.floor(service.now / 1000) * 1000,
    ownOperations: async () => [],
    warn: text => void warnings.push(text),
    onRows: () => undefined,
    onEnd: () => undefined,
    onCommit() {
      world.killAtCommit -= 1;
      if (world.killAtCommit === 0) throw new Killed('killed');
    },
    ...more,
  });
  return Object.assign(world, {
    mirror,
    warnings,
    folder,
    async held() {
      using copy = await mirror.read();
      const rows = copy.db.all<{ line: string }>(
        `select tx_id || ' ' || type || ' ' || status || ' ' || cents || ' ' || at_ms as line from tx
          where gone_at is null order by 1`,
      );
      return rows.map(({ line }) => line).sort();
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  });
}

/** In place of a process that ended. */
export class Killed extends Error {}
