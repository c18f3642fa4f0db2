import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

/** A process, told apart from a later one with the same pid. Empty text: this system does not say. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to its start. */
  readonly started: string;
  readonly boot: string;
  /** The set of processes its pid belongs to: containers count their own. */
  readonly pids: string;
  readonly machine: string;
}

/** Answers whether a pid is taken; for systems without /proc. */
export type IsRunning = (pid: number) => boolean;

/** Who the process with this pid is, on this machine, now. */
export async function identify(pid: number): Promise<ProcessIdentity> {
  const [row, boot, pids] = await Promise.all([
    processRow(pid),
    orEmpty(readFile('/proc/sys/kernel/random/boot_id', 'utf8')),
    orEmpty(readlink('/proc/self/ns/pid')),
  ]);
  return { pid, started: row?.started ?? '', boot: boot.trim(), pids, machine: hostname() };
}

/**
 * Whether that process is provably gone: rebooted since, its pid free, or its pid now that of a younger process.
 * Another machine or another container proves nothing, nor does a system that tells nothing.
 */
export async function isProvablyGone(
  other: ProcessIdentity,
  us: ProcessIdentity,
  isRunning?: IsRunning,
): Promise<boolean> {
  if (other.machine !== us.machine) return false;
  if (other.boot !== us.boot) return other.boot !== '' && us.boot !== '';
  if (other.pids !== us.pids) return false;
  if (us.started === '') return isRunning !== undefined && !isRunning(other.pid);
  const row = await processRow(other.pid);
  if (row === undefined) {
    // A /proc that hides other users' processes proves nothing by silence; process 1 is always there.
    return isRunning === undefined ? (await processRow(1)) !== undefined : !isRunning(other.pid);
  }
  return row.ended || (other.started !== '' && row.started !== other.started);
}

async function processRow(pid: number): Promise<{ started: string; ended: boolean } | undefined> {
  const text = await orEmpty(readFile(`/proc/${pid}/stat`, 'utf8'));
  // The program's name comes second, in brackets, and may itself hold spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields[0], fields[19]];
  if (state === undefined || started === undefined) return undefined;
  return { started, ended: state === 'Z' || state === 'X' };
}

/** Nothing to read means "this system does not say", which every question above can live with. */
async function orEmpty(reading: Promise<string>): Promise<string> {
  return reading.then(
    text => text,
    () => '',
  );
}
