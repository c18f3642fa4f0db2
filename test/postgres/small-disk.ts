/** A disk of a few megabytes for a folder of a server, which a test fills and empties: a tmpfs, which root alone mounts. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { appendFile, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { NOBODY } from './server.ts';

/** Why there can be no small disk here, said aloud. */
export function missingDisk(): string | undefined {
  const why = whyNot();
  if (why !== undefined) process.stderr.write(`skipped: ${why}, so that no disk of a database could be filled\n`);
  return why;
}

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'a tmpfs is a thing of Linux';
  if (process.getuid?.() !== 0) return 'only root mounts a tmpfs';
  const folder = mkdtempSync(join(tmpdir(), 'cw-disk-'));
  try {
    const mounted = mount(folder, 1);
    if (mounted === undefined) spawnSync('umount', [folder]);
    return mounted;
  } finally {
    rmdirSync(folder);
  }
}

function mount(folder: string, megabytes: number): string | undefined {
  const { status, error, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
  return status === 0 ? undefined : `no tmpfs can be mounted (${error?.message ?? String(stderr).trim()})`;
}

export interface SmallDisk extends Disposable {
  /** Nothing more fits on it, not a byte. */
  fill(): Promise<void>;
  /** What filled it is gone. */
  free(): void;
}

/** Over a folder that is made for it, and is the server's own. */
export function smallDisk(folder: string, megabytes: number): SmallDisk {
  mkdirSync(folder);
  const failed = mount(folder, megabytes);
  if (failed !== undefined) throw new Error(failed);
  if (NOBODY !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
  const filler = join(folder, 'filler');
  return {
    async fill() {
      for (const size of [65_536, 512, 1]) await filled(filler, size);
    },
    free: () => rmSync(filler, { force: true }),
    [Symbol.dispose]() {
      // Whoever stands in it still is on his way out: it goes with him.
      spawnSync('umount', ['--lazy', folder]);
    },
  };
}

async function filled(path: string, size: number): Promise<void> {
  const file = await open(path, 'a');
  try {
    for (;;) await appendFile(file, Buffer.alloc(size));
  } catch (thrown) {
    if (!(thrown instanceof Error) || !('code' in thrown) || thrown.code !== 'ENOSPC') throw thrown;
  } finally {
    await file.close();
  }
}
