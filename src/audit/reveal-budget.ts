/**
 * Reveals of the last minute, counted over all processes of a profile on this machine
 * (docs/design/security.md, "Reveal gate").
 */

import { join } from 'node:path';
import { LIMITS } from '../contract/limits.ts';
import { MINUTE } from '../core/durations.ts';
import { type IsRunning, withLock } from '../files/lock.ts';
import { type FileDependencies, preparePrivateFolder, readPrivate, writePrivate } from '../files/private-files.ts';
import type { Clock, Randomness } from '../platform/host.ts';

export const REVEALS_A_MINUTE: number = LIMITS.detailsRate.max;
const LOCK_PATIENCE_MS = 10_000;

export interface BudgetSettings {
  readonly stateFolder: string;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly pid: number;
  readonly platform: NodeJS.Platform;
  readonly warn: (text: string) => void;
  readonly isRunning?: IsRunning;
}

export interface RevealBudget {
  /** Reveals of the last minute. */
  used(): Promise<number>;
  /** Takes one; when none is left, resolves to the milliseconds until there is one. */
  take(): Promise<{ readonly taken: true } | { readonly taken: false; readonly waitMs: number }>;
}

/** `profile` is a checked profile name. Throws `guarded` when the state folder cannot be used. */
export function revealBudget(profile: string, around: BudgetSettings): RevealBudget {
  const folder = join(around.stateFolder, 'reveals');
  const path = join(folder, `${profile}.json`);
  const files: FileDependencies = { platform: around.platform, random: around.random, warn: around.warn };

  async function recent(now: number): Promise<readonly number[]> {
    const times = parseTimes(await readPrivate(path, files), now);
    // A time ahead of the clock counts as now: a clock that was set back must neither free nor lock the budget.
    return times.map(time => Math.min(time, now)).filter(time => time > now - MINUTE);
  }

  return {
    used: async () => (await recent(around.clock.now())).length,
    async take() {
      const { pid, clock, random, isRunning } = around;
      await preparePrivateFolder(around.stateFolder, files);
      await preparePrivateFolder(folder, files);
      const lock = { pid, clock, random, timeoutMs: LOCK_PATIENCE_MS, ...(isRunning && { isRunning }) };
      return withLock(`${path}.lock`, lock, async () => {
        const now = clock.now();
        const times = await recent(now);
        if (times.length >= REVEALS_A_MINUTE) {
          // Written back, so that times ahead of the clock do not stay ahead.
          await writePrivate(path, JSON.stringify(times), files);
          return { taken: false, waitMs: Math.max(1, Math.min(...times) + MINUTE - now) };
        }
        await writePrivate(path, JSON.stringify([...times, now]), files);
        return { taken: true };
      });
    },
  };
}

/** What cannot be read counts as a used-up minute from now: a damaged file must not open the gate. */
function parseTimes(text: string | undefined, now: number): readonly number[] {
  if (text === undefined) return [];
  try {
    const times: unknown = JSON.parse(text);
    if (Array.isArray(times) && times.every(time => Number.isFinite(time))) return times as number[];
  } catch {
    // Not JSON: the same answer as for JSON that is no list of times.
  }
  return Array<number>(REVEALS_A_MINUTE).fill(now);
}
