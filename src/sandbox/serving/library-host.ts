/** Real time, randomness and process for `startSandbox()`, which other programs call without our `main.ts`. */
import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { systemCode } from '../../files/private-files.ts';
import { SYSTEM_CLOCK } from '../../platform/real-time.ts';
import type { SandboxHost } from './assemble.ts';

export function libraryHost(): SandboxHost {
  return {
    clock: SYSTEM_CLOCK,
    random: {
      bytes: count => randomBytes(count),
      fraction: () => Math.random(),
    },
    pid: process.pid,
    platform: process.platform,
    isRunning,
  };
}

/** Signal 0 reaches nobody; a process of another user is there all the same. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}
