/** Who works on an operation: a process that is alive on this machine, or one of another machine whose lease runs. */

import { CliError } from '../core/errors.ts';
import { identify, isProvablyGone, isProvablyRunning, type ProcessIdentity } from '../files/lock.ts';
import { type Database, sql, type Transaction } from './database.ts';

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
export function whoWorks({ process, lease, holder }: Held, self: Self, now: number): 'here' | 'elsewhere' | 'nobody' {
  if (lease <= now) return 'nobody';
  const us = identify(self.pid);
  const isSameHost = hostOf(holder) === hostOf(self.holder);
  const other = identityIn(process, isSameHost ? us.machine : '');
  // A boot of another time is gone only where it was one of this very machine.
  const isHere = other.boot === us.boot || isSameHost;
  if (isHere && isProvablyGone({ ...other, machine: us.machine }, us, self.isRunning)) return 'nobody';
  if (isProvablyRunning({ ...other, machine: us.machine }, us) || process === self.process) return 'here';
  // A system that tells nothing of processes knows at least which pids are taken.
  if (isSameHost && us.boot === '' && self.isRunning?.(other.pid) === true) return 'here';
  return 'elsewhere';
}

export function hostOf(holder: string): string {
  return holder.slice(holder.indexOf('@') + 1);
}

function identityIn(text: string, machine: string): ProcessIdentity {
  const [pid = '', started = '', boot = '', ...pids] = text.split(':');
  return { pid: Number(pid), started, boot, pids: pids.join(':'), machine };
}

/** One apply of a fleet at a time. Resolves to the letting go. Throws `guarded` while a living process holds it. */
export async function holdFleet(
  { database, self }: { readonly database: Database; readonly self: Self },
  fleet: string,
  useAccount: (tx: Transaction) => Promise<string>,
): Promise<() => Promise<void>> {
  const account = await database.transaction(async tx => {
    const account = await useAccount(tx);
    const now = await tx.now();
    const [held] = await tx.all<{ holder: string; process: string; lease: number }>(
      sql`select holder, process, lease from fleet_hold where account = ${account} and fleet = ${fleet}`,
    );
    if (held !== undefined && whoWorks(held, self, now) !== 'nobody') throw applied(fleet, held.holder);
    await tx.run(
      sql`insert into fleet_hold (account, fleet, holder, process, lease)
        values (${account}, ${fleet}, ${self.holder}, ${self.process}, ${now + LEASE_MS})
        on conflict (account, fleet) do update set holder = excluded.holder, process = excluded.process, lease = excluded.lease`,
    );
    return account;
  });
  const renew = () =>
    database.grouped(async tx =>
      tx.run(
        sql`update fleet_hold set lease = ${(await tx.now()) + LEASE_MS} where account = ${account} and fleet = ${fleet}
          and process = ${self.process}`,
      ),
    );
  const renewal = setInterval(() => void renew().catch(() => undefined), RENEW_MS).unref();
  return async () => {
    clearInterval(renewal);
    await database.grouped(tx =>
      tx.run(sql`delete from fleet_hold where account = ${account} and fleet = ${fleet} and process = ${self.process}`),
    );
  };
}

function applied(fleet: string, holder: string): CliError {
  return new CliError('guarded', {
    message: `${holder} applies the fleet ${fleet} now. Nothing was sent`,
    hint: 'cardwright ops list --state running',
    outcome: 'not_sent',
  });
}
