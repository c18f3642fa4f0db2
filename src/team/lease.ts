/** How long a process has an op, by the time of the database, and how much of that it may still use by its own clocks. */

/** Bounds of a lease, ms: a process that dies keeps an op for three minutes, or a little longer than its writes may take. */
const LEAST_LEASE_MS = 180_000;
const BEYOND_WRITES_MS = 30_000;

export function leaseMsFor({ writeTotalMs }: { readonly writeTotalMs: number }): number {
  return Math.max(LEAST_LEASE_MS, 2 * writeTotalMs + BEYOND_WRITES_MS);
}

/** One moment by both clocks of a machine, ms. */
export interface ClockReading {
  readonly monotonic: number;
  readonly wall: number;
}

export interface OwnLease {
  readonly leaseMs: number;
  /** Longest life of one write, ms. */
  readonly writeTotalMs: number;
  /** When the call began that was answered with the lease: the answer may have been long on its way. */
  readonly since: ClockReading;
}

/** ms since the call began. One of the two clocks may have stood still while the machine slept, the other may have been moved. */
export function leaseAge({ since }: Pick<OwnLease, 'since'>, now: ClockReading): number {
  return Math.max(now.monotonic - since.monotonic, now.wall - since.wall);
}

/** ms in which a write may still be begun so that it is over before anybody else can have the op; 0 or less: none may. */
export function leaseLeft(lease: OwnLease, now: ClockReading): number {
  return lease.leaseMs - leaseAge(lease, now) - lease.writeTotalMs;
}
