/** Locks between processes: files that one of several makes, and that a later one takes over from the dead. */

import { rm } from 'node:fs/promises';
import { CliError } from '../core/errors.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import { between } from '../platform/jitter.ts';
import { createWhole } from './create-whole.ts';
import { inOurWords, readOrdinary, systemCode } from './private-files.ts';
import {
  type IsRunning,
  identify,
  isProvablyGone,
  isProvablyRunning,
  type ProcessIdentity,
} from './process-identity.ts';

export interface LockOptions {
  readonly pid: number;
  readonly clock: Clock;
  readonly random: Randomness;
  /** How long to wait for one other holder, milliseconds, and anew for the next; 0 tries once. */
  readonly timeoutMs: number;
  /** Lets a lock be taken over on systems without /proc; without it a left lock stays until removed by hand. */
  readonly isRunning?: IsRunning;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

interface Holder extends ProcessIdentity {
  readonly nonce: string;
}

/** What stands under the lock's name. What cannot be read is neither taken over nor removed. */
type Seen = Holder | 'nobody' | 'unreadable';

type Attempt = { readonly taken: true } | { readonly taken: false; readonly holder: Seen };

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

/** Whether a process that is not provably gone holds the lock file. Changes nothing. */
export async function isLocked(path: string, us: { readonly pid: number }, isRunning?: IsRunning): Promise<boolean> {
  return (await holderOf(path, us, isRunning)) !== 'nobody';
}

/** Whether the process that holds the lock file is known to run; one of another container or machine is not. Changes nothing. */
export async function isLockedByRunning(path: string, us: { readonly pid: number }): Promise<boolean> {
  const holder = await inOurWords(path, () => readHolder(path));
  return typeof holder === 'object' && isProvablyRunning(holder, identify(us.pid));
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
    const attempt = await take({ path, us, depth: 0 }, options.isRunning);
    if (attempt.taken) return;
    const holder = typeof attempt.holder === 'object' ? attempt.holder.nonce : attempt.holder;
    // Taken in turns it does not hang, however many wait and however slow the machine is.
    if (before !== undefined && holder !== before) deadline = clock.monotonic() + options.timeoutMs;
    before = holder;
    const left = deadline - clock.monotonic();
    if (left <= 0) throw held(path, attempt.holder);
    await clock.sleep(Math.min(left, between(random, 1, 1 + pause)), options.signal);
  }
}

interface Wanted {
  readonly path: string;
  readonly us: Holder;
  readonly depth: number;
}

async function take({ path, us, depth }: Wanted, isRunning: IsRunning | undefined): Promise<Attempt> {
  const holder = await readHolder(path);
  if (holder === 'nobody') return takeFree(path, us);
  if (holder === 'unreadable' || depth === DEEPEST_TAKEOVER) return { taken: false, holder };
  if (!isProvablyGone(holder, us, isRunning)) return { taken: false, holder };
  // Two waiters may see the same dead holder. Only one may remove its file, or the second removes the lock the
  // first has just taken; so removing is itself done under a lock, and looked at again inside.
  const takeover = { path: `${path}.takeover`, us, depth: depth + 1 };
  if (!(await take(takeover, isRunning)).taken) return { taken: false, holder };
  try {
    const now = await readHolder(path);
    if (typeof now === 'object' && now.nonce === holder.nonce) await rm(path);
    return await takeFree(path, us);
  } finally {
    await release(takeover.path, us);
  }
}

/** A lock file appears under its name with its content in it: a crash cannot leave one that names nobody. */
async function takeFree(path: string, us: Holder): Promise<Attempt> {
  try {
    await createWhole(path, `${JSON.stringify(us)}\n`, `${path}.${us.pid}-${us.nonce}`);
    return { taken: true };
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return { taken: false, holder: await readHolder(path) };
    throw error;
  }
}

async function release(path: string, us: Holder): Promise<void> {
  const holder = await readHolder(path);
  if (typeof holder === 'object' && holder.nonce === us.nonce && holder.pid === us.pid) {
    await rm(path, { force: true });
  }
}

const HOLDER_LINE = /^\{"pid":\d+,"started":"[^"]*","boot":"[^"]*","pids":"[^"]*","machine":"[^"]*","nonce":"\w*"\}\n$/;

async function readHolder(path: string): Promise<Seen> {
  const bytes = await readOrdinary(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined) return 'nobody';
  const text = bytes.toString('utf8');
  return HOLDER_LINE.test(text) ? (JSON.parse(text) as Holder) : 'unreadable';
}

function held(path: string, holder: Seen): CliError {
  const who = typeof holder === 'object' ? `process ${holder.pid} on ${holder.machine}` : 'an unknown process';
  return new CliError('guarded', {
    message: `${path} is held by ${who}`,
    notes: ['If that process is no longer there, remove the file and repeat the command.'],
    hint: 'cardwright doctor',
    outcome: 'not_sent',
  });
}
