/** Who works on an operation: a process that is alive on this machine, or one of another machine whose lease runs. */

import { identify, isProvablyGone, isProvablyRunning, type ProcessIdentity } from '../files/processes.ts';

/** How long an op stays with a holder who writes nothing, ms by the clock of the store. */
export const LEASE_MS = 60_000;
export const RENEW_MS = 15_000;

/** This process, as the journal names it. */
export interface Self {
  /** `user@host`, for people. */
  readonly holder: string;
  readonly pid: number;
  /** `pid:start:boot:set of pids`, for `op.process`. */
  readonly process: string;
  /** Answers whether a pid is taken; for systems without /proc. */
  readonly isRunning?: ((pid: number) => boolean) | undefined;
}

/** What the journal keeps of a holder. */
export interface Held {
  readonly holder: string;
  /** `pid:start:boot:set of pids`. */
  readonly process: string;
  /** Until when, by the clock of the store; 0 where it was let go. */
  readonly lease: number;
}

export function selfOf({ holder, pid, isRunning }: Omit<Self, 'process'>): Self {
  const { started, boot, pids } = identify(pid);
  return { holder, pid, isRunning, process: [pid, started, boot, pids].join(':') };
}

/**
 * `here`: a living process of this machine works on it. `elsewhere`: one of another machine, or one that nobody can tell of, whose
 * lease runs. `nobody`: it was let go, its process is gone, or its lease is over.
 */
export function whoWorks(held: Held, self: Self, now: number): 'here' | 'elsewhere' | 'nobody' {
  if (held.lease <= now) return 'nobody';
  const us = identify(self.pid);
  const isSameHost = hostOf(held.holder) === hostOf(self.holder);
  const { process: identity } = held;
  const [pid = '', started = '', boot = '', ...pids] = identity.split(':');
  const other: ProcessIdentity = { pid: Number(pid), started, boot, pids: pids.join(':'), machine: us.machine };
  // A boot of another time is gone only where it was one of this very machine.
  const isHere = other.boot === us.boot || isSameHost;
  if (isHere && isProvablyGone(other, us, self.isRunning)) return 'nobody';
  if (isProvablyRunning(other, us) || identity === self.process) return 'here';
  // A system that tells nothing of processes knows at least which pids are taken.
  if (isSameHost && us.boot === '' && self.isRunning?.(other.pid) === true) return 'here';
  return 'elsewhere';
}

export function hostOf(holder: string): string {
  return holder.slice(holder.indexOf('@') + 1);
}
