/** Who works on a request, so that work left behind by a dead process can be taken over at once. */
import { readFileSync, readlinkSync } from 'node:fs';
import { codeOf } from './private-place.ts';

/** Answers whether a pid is taken; for systems that have no /proc. */
export type IsRunning = (pid: number) => boolean;

/** `pid:start:boot:set of pids`; parts that this system does not tell are empty. */
export function ownerName(pid: number): string {
  return [pid, startOf(pid) ?? '', told(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')), pidsOf()].join(
    ':',
  );
}

/**
 * Whether the process of that name is provably gone: its pid is free or belongs to a younger process, or the machine
 * was started again. What cannot be known is no proof; then the lease decides.
 */
export function isOwnerGone(owner: string, us: string, isRunning?: IsRunning): boolean {
  const [pid = '', start = '', boot = '', ...pids] = owner.split(':');
  const [, ourStart = '', ourBoot = '', ...ourPids] = us.split(':');
  if (owner === us) return false;
  if (boot !== ourBoot) return boot !== '' && ourBoot !== '';
  if (pids.join(':') !== ourPids.join(':')) return false;
  if (ourStart === '') return isRunning !== undefined && !isRunning(Number(pid));
  const running = startOf(Number(pid));
  // A /proc that hides other users' processes proves nothing; process 1 is always there.
  return running === undefined ? startOf(1) !== undefined : start !== '' && running !== start;
}

/** Ticks from boot to the start of a process; undefined when there is none, or it has ended. */
function startOf(pid: number): string | undefined {
  const text = told(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The program's name comes second, in brackets, and may itself hold spaces and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function pidsOf(): string {
  return told(() => readlinkSync('/proc/self/ns/pid'));
}

/** What the system tells; nothing to read is an answer every question above can live with. */
function told(read: () => string): string {
  try {
    return read().trim();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return '';
  }
}
