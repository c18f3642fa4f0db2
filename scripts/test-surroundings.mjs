/**
 * What `npm test` stands on. Temporary files lie in memory where the system has a folder for that: thousands of folders
 * are made, synced and removed, and a disk keeps the tests waiting for each. A process that is killed takes nothing along
 * that the system was given, in memory as on a disk, so the proofs stay what they are; `npm run test:full` runs on the
 * disk. A folder that TMPDIR names is taken as it is. And no process reads a file of further certificates at its start,
 * 35 ms and more of each.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const IN_MEMORY = '/dev/shm';
/** More than ten times what a run was seen to hold at a time, 15 MB. */
const ROOM_BYTES = 2 ** 28;

export default function setup() {
  const { TMPDIR, NODE_EXTRA_CA_CERTS } = process.env;
  delete process.env.NODE_EXTRA_CA_CERTS;
  if (TMPDIR === undefined && isRoomy(IN_MEMORY) && runsPrograms(IN_MEMORY)) process.env.TMPDIR = IN_MEMORY;
  return () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    if (NODE_EXTRA_CA_CERTS !== undefined) process.env.NODE_EXTRA_CA_CERTS = NODE_EXTRA_CA_CERTS;
  };
}

function isRoomy(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}

/** Containers often mount it so that nothing in it can be executed, which tests with programs of their own need. */
function runsPrograms(folder) {
  let mine;
  try {
    mine = mkdtempSync(join(folder, 'cwt-'));
    const program = join(mine, 'program');
    writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o700 });
    return spawnSync(program).status === 0;
  } catch {
    return false;
  } finally {
    if (mine !== undefined) rmSync(mine, { recursive: true, force: true });
  }
}
