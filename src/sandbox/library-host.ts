/** Real time, chance and process for `startSandbox()`, which other programs call without our `main.ts`. */
import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxHost } from './assemble.ts';

export function libraryHost(): SandboxHost {
  return {
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      sleep: (ms, signal) => sleep(ms, undefined, signal && { signal }),
    },
    random: {
      bytes: count => randomBytes(count),
      fraction: () => Math.random(),
    },
    pid: process.pid,
    platform: process.platform,
  };
}
