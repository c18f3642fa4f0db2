import { constants } from 'node:fs';
import { copyFile, link, readFile, rm } from 'node:fs/promises';
import { CliError } from '../errors.ts';
import type { Clock, Randomness } from '../host.ts';
import { createPrivate, systemCode } from './private-files.ts';
import { identify, type IsRunning, isProvablyGone, type ProcessIdentity } from './process-identity.ts';

export interface LockOptions {
  readonly pid: number;
  readonly clock: Clock;
  readonly random: Randomness;
  /** How long to wait for another holder, milliseconds; 0 tries once. */
  readonly timeoutMs: number;
  /** Lets a lock be taken over on systems without /proc; without it a left lock stays until removed by hand. */
  readonly isRunning?: IsRunning;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

interface Holder extends ProcessIdentity {
  readonly nonce: string;
}

type Attempt = { readonly taken: true } | { readonly taken: false; readonly holder: Holder | undefined };

// A crash while taking over leaves a lock on the taking over; more than a few in a row is not worth more names.
const DEEPEST_TAKEOVER = 3;

/**
 * Runs `work` while this process alone holds the lock file `path`, whose folder must exist. The file names its
 * holder by pid, start time, boot and a nonce; only a holder that is provably gone loses it. Throws `guarded`
 * with the holder's pid when the time is over. Not re-entrant.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const nonce = Buffer.from(options.random.bytes(8)).toString('hex');
  const us: Holder = { ...(await identify(options.pid)), nonce };
  await waitFor(path, us, options);
  try {
    return await work();
  } finally {
    await release(path, us);
  }
}

async function waitFor(path: string, us: Holder, options: LockOptions): Promise<void> {
  const { clock, random } = options;
  const deadline = clock.monotonic() + options.timeoutMs;
  for (let pause = 4; ; pause = Math.min(pause * 2, 64)) {
    const attempt = await take({ path, us, depth: 0 }, options.isRunning);
    if (attempt.taken) return;
    const left = deadline - clock.monotonic();
    if (left <= 0) throw held(path, attempt.holder);
    await clock.sleep(Math.min(left, 1 + random.fraction() * pause), options.signal);
  }
}

interface Wanted {
  readonly path: string;
  readonly us: Holder;
  readonly depth: number;
}

async function take({ path, us, depth }: Wanted, isRunning: IsRunning | undefined): Promise<Attempt> {
  if (await createWhole(path, us)) return { taken: true };
  const holder = await readHolder(path);
  if (holder === undefined || depth === DEEPEST_TAKEOVER) return { taken: false, holder };
  if (!(await isProvablyGone(holder, us, isRunning))) return { taken: false, holder };
  // Two waiters may see the same dead holder. Only one may remove its file, or the second removes the lock the
  // first has just taken; so removing is itself done under a lock, and looked at again inside.
  const takeover = { path: `${path}.takeover`, us, depth: depth + 1 };
  if (!(await take(takeover, isRunning)).taken) return { taken: false, holder };
  try {
    if ((await readHolder(path))?.nonce === holder.nonce) await rm(path);
    return (await createWhole(path, us)) ? { taken: true } : { taken: false, holder: await readHolder(path) };
  } finally {
    await release(takeover.path, us);
  }
}

/** A lock file appears under its name with its content in it: a crash cannot leave one that names nobody. */
async function createWhole(path: string, us: Holder): Promise<boolean> {
  const candidate = `${path}.${us.pid}-${us.nonce}`;
  await createPrivate(candidate, `${JSON.stringify(us)}\n`);
  try {
    await linkOrCopy(candidate, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(candidate, { force: true });
  }
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // File systems without hard links: still exclusive, only a crash in between needs a hand.
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(systemCode(error) ?? '')) throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

async function release(path: string, us: Holder): Promise<void> {
  const holder = await readHolder(path);
  if (holder?.nonce === us.nonce && holder.pid === us.pid) await rm(path, { force: true });
}

/** Undefined when the file is gone or names nobody; then there is nobody to call gone either. */
async function readHolder(path: string): Promise<Holder | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return '';
    throw error;
  });
  const fields = /^\{"pid":\d+,"started":"[^"]*","boot":"[^"]*","pids":"[^"]*","machine":"[^"]*","nonce":"\w*"\}\n$/;
  return fields.test(text) ? (JSON.parse(text) as Holder) : undefined;
}

function held(path: string, holder: Holder | undefined): CliError {
  const who = holder === undefined ? 'an unknown process' : `process ${holder.pid} on ${holder.machine}`;
  return new CliError('guarded', {
    message: `${path} is held by ${who}`,
    notes: ['If that process is no longer there, remove the file and repeat the command.'],
    hint: 'cardwright doctor',
    outcome: 'not_sent',
  });
}
