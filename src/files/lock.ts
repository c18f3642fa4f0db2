/** Lock files, which a later process takes over from a dead one, and identities of processes. */

import { createHash } from 'node:crypto';
// What of it gives promises is loaded when it is first asked for: most commands hold no lock.
import { constants, promises, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { type CliError, notSent } from '../core/errors.ts';
import { withDigits, withoutDigits } from '../core/names.ts';
import type { Host } from '../platform/host.ts';
import { between } from '../platform/time.ts';
import { createPrivate, inOurWords, nothingThere, readOrdinary, systemCode } from './private-files.ts';

interface LockOptions extends Pick<Host, 'pid' | 'clock' | 'random'> {
  /** How long to wait for one other holder, milliseconds, and anew for the next; 0 tries once. */
  readonly timeoutMs: number;
  /** Lets a lock be taken over on systems without /proc; without it a left lock stays until removed by hand. */
  readonly isRunning?: IsRunning | undefined;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

interface Holder extends ProcessIdentity {
  readonly nonce: string;
}

/** What stands under the lock's name. What cannot be read is neither taken over nor removed. */
type Seen = Holder | 'nobody' | 'unreadable';

// A crash while taking over leaves a lock on the taking over; more than a few in a row is not worth more names.
const DEEPEST_TAKEOVER = 3;

/**
 * Runs `work` while this process alone holds the lock file `path`, whose folder must exist. The file names its
 * holder by pid, start time, boot and a nonce; only a holder that is provably gone loses it. Throws `guarded`
 * with the holder's pid when one holder kept it for too long. Not re-entrant.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const nonce = Buffer.from(options.random.bytes(8)).toString('hex');
  const us: Holder = { ...identify(options.pid), nonce };
  await inOurWords(path, () => waitFor(path, us, options));
  try {
    return await work();
  } finally {
    await release(path, us);
  }
}

/** The pid of the process that holds the lock file and is not provably gone. Changes nothing. */
export async function holderOf(
  path: string,
  us: { readonly pid: number },
  isRunning?: IsRunning,
): Promise<number | 'nobody' | 'unreadable'> {
  const holder = await inOurWords(path, () => readHolder(path));
  if (typeof holder !== 'object') return holder;
  return isProvablyGone(holder, identify(us.pid), isRunning) ? 'nobody' : holder.pid;
}

async function waitFor(path: string, us: Holder, options: LockOptions): Promise<void> {
  const { clock, random } = options;
  let deadline = clock.monotonic() + options.timeoutMs;
  let before: string | undefined;
  for (let pause = 4; ; pause = Math.min(pause * 2, 64)) {
    const seen = await take(path, us, options.isRunning);
    if (seen === 'taken') return;
    const holder = typeof seen === 'object' ? seen.nonce : seen;
    // Taken in turns it does not hang, however many wait and however slow the machine is.
    if (before !== undefined && holder !== before) deadline = clock.monotonic() + options.timeoutMs;
    before = holder;
    const left = deadline - clock.monotonic();
    if (left <= 0) throw held(path, seen);
    await clock.sleep(Math.min(left, between(random, 1, 1 + pause)), options.signal);
  }
}

/** Tries once. Resolves to what stands under the name where it was not taken. */
async function take(path: string, us: Holder, isRunning: IsRunning | undefined, depth = 0): Promise<Seen | 'taken'> {
  const holder = await readHolder(path);
  if (holder === 'nobody') return takeFree(path, us);
  if (holder === 'unreadable' || depth === DEEPEST_TAKEOVER || !isProvablyGone(holder, us, isRunning)) return holder;
  // Two waiters may see the same dead holder. Only one may remove its file, or the second removes the lock the
  // first has just taken; so removing is itself done under a lock, and looked at again inside.
  const takeover = `${path}.takeover`;
  if ((await take(takeover, us, isRunning, depth + 1)) !== 'taken') return holder;
  try {
    const now = await readHolder(path);
    if (typeof now === 'object' && now.nonce === holder.nonce) await promises.rm(path);
    return await takeFree(path, us);
  } finally {
    await release(takeover, us);
  }
}

/** A lock file appears under its name with its content in it: a crash cannot leave one that names nobody. */
async function takeFree(path: string, us: Holder): Promise<Seen | 'taken'> {
  const temporary = `${path}.${us.pid}-${us.nonce}`;
  await createPrivate(temporary, `${JSON.stringify(us)}\n`);
  try {
    await promises.link(temporary, path).catch(async (error: unknown) => {
      // File systems without hard links: still exclusive, only a crash in between needs a hand.
      if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(systemCode(error) ?? '')) throw error;
      await promises.copyFile(temporary, path, constants.COPYFILE_EXCL);
    });
    return 'taken';
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return readHolder(path);
    throw error;
  } finally {
    await promises.rm(temporary, { force: true });
  }
}

async function release(path: string, us: Holder): Promise<void> {
  const holder = await readHolder(path);
  if (typeof holder === 'object' && holder.nonce === us.nonce && holder.pid === us.pid) {
    await promises.rm(path, { force: true });
  }
}

const HOLDER_LINE = /^\{"pid":\d+,"started":"[^"]*","boot":"[^"]*","pids":"[^"]*","machine":"[^"]*","nonce":"\w*"\}\n$/;

async function readHolder(path: string): Promise<Seen> {
  const bytes = await readOrdinary(path).catch(nothingThere);
  if (bytes === undefined) return 'nobody';
  const text = bytes.toString('utf8');
  return HOLDER_LINE.test(text) ? (JSON.parse(text) as Holder) : 'unreadable';
}

function held(path: string, holder: Seen): CliError {
  const who = typeof holder === 'object' ? `process ${holder.pid} on ${holder.machine}` : 'an unknown process';
  return notSent('guarded', `${path} is held by ${who}`, {
    notes: ['If that process is no longer there, remove the file and repeat the command.'],
    hint: 'cardwright doctor',
  });
}

// Processes told apart, also from a later one with the same pid: who holds a lock, a lease, a folder.

/** Empty text: this system does not say. */
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

// Each of these files takes microseconds, and a turn of the thread pool for it many times that.

/** Who the process with this pid is, on this machine, now. */
export function identify(pid: number): ProcessIdentity {
  return {
    pid,
    started: processRow(pid)?.started ?? '',
    boot: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
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
  return withoutDigits([pid, started, boot && digest(boot, 4), digest(`${machine} ${pids}`, 8)].join('_'));
}

/** Whether the process of that name is provably gone. What cannot be known is no proof; then a lease decides. */
export function isNamedGone(name: string, us: string, isRunning?: IsRunning): boolean {
  return name !== us && isProvablyGone(identityIn(name), identityIn(us), isRunning);
}

function identityIn(name: string): ProcessIdentity {
  const [pid = '', started = '', boot = '', machine = ''] = withDigits(name).split('_');
  return { pid: Number(pid), started, boot, pids: '', machine };
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
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
