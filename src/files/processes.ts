/** Processes told apart, also from a later one with the same pid: who holds a lease, a folder, a subscription. */

import { hash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { withDigits, withoutDigits } from '../core/names.ts';
import { systemCode } from './private-files.ts';

export type ProcessIdentity = Readonly<ReturnType<typeof identify>>;

/** Answers whether a pid is taken; for systems without /proc. */
export type IsRunning = (pid: number) => boolean;

// Each of these files takes microseconds, and a turn of the thread pool for it many times that.

/** Who the process with this pid is, on this machine, now. Empty text: this system does not say. */
export function identify(pid: number) {
  return {
    pid,
    /** Clock ticks from boot to its start. */
    started: processRow(pid)?.started ?? '',
    boot: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    /** The set of processes its pid belongs to: containers count their own. */
    pids: textOf(() => readlinkSync('/proc/self/ns/pid')),
    machine: hostname(),
  };
}

/**
 * Whether that process is provably gone: rebooted since, its pid free, or its pid now that of a younger process.
 * Another machine or another container proves nothing, nor does a system that tells nothing.
 */
export function isProvablyGone(other: ProcessIdentity, us: ProcessIdentity, isRunning?: IsRunning): boolean {
  if (other.machine !== us.machine) return false;
  if (other.boot !== us.boot) return other.boot !== '' && us.boot !== '';
  if (other.pids !== us.pids) return false;
  if (us.started === '') return isRunning !== undefined && !isRunning(other.pid);
  const row = processRow(other.pid);
  if (row === undefined) {
    // A /proc that hides other users' processes proves nothing by silence; process 1 is always there.
    return isRunning === undefined ? processRow(1) !== undefined : !isRunning(other.pid);
  }
  return row.ended || (other.started !== '' && row.started !== other.started);
}

/** Whether that process is known to run now: it is among those that this one sees, and began when it says. */
export function isProvablyRunning(other: ProcessIdentity, us: ProcessIdentity): boolean {
  if (other.machine !== us.machine || other.boot !== us.boot || other.pids !== us.pids) return false;
  const row = processRow(other.pid);
  return row !== undefined && !row.ended && row.started === other.started;
}

/** An identity in one word that others may see, `pid_start_boot_machine` in letters, the last two as digests. */
export function processName(pid: number): string {
  const { started, boot, pids, machine } = identify(pid);
  return withoutDigits(
    [pid, started, boot && hash('sha256', boot).slice(0, 4), hash('sha256', `${machine} ${pids}`).slice(0, 8)].join(
      '_',
    ),
  );
}

/** Whether the process of that name is provably gone. What cannot be known is no proof; then a lease decides. */
export function isNamedGone(name: string, us: string, isRunning?: IsRunning): boolean {
  return name !== us && isProvablyGone(identityIn(name), identityIn(us), isRunning);
}

function identityIn(name: string): ProcessIdentity {
  const [pid = '', started = '', boot = '', machine = ''] = withDigits(name).split('_');
  return { pid: Number(pid), started, boot, pids: '', machine };
}

function processRow(pid: number): { readonly started: string; readonly ended: boolean } | undefined {
  const text = textOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The program's name comes second, in brackets, and may itself hold spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields[0], fields[19]];
  if (state === undefined || started === undefined) return undefined;
  return { started, ended: state === 'Z' || state === 'X' };
}

/** Nothing to read means "this system does not say", which every question above can live with. */
function textOf(read: () => string): string {
  try {
    return read().trim();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return '';
  }
}
