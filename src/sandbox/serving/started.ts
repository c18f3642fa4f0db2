/**
 * `sandbox start`: the store of the data folder, served to other programs on a port of this machine, with timers and deliveries
 * live. One such server a store; embedded commands share the store with it.
 */
import { rm } from 'node:fs/promises';
import type { ServerOptions } from '../../contract/sandbox/admin.ts';
import type { DialectName } from '../../contract/sandbox/faults.ts';
import { CliError } from '../../core/errors.ts';
import { holderOf, withLock } from '../../files/lock.ts';
import { type FileDependencies, privateFolder, writePrivate } from '../../files/private-files.ts';
import { clearReadyFile, removeReadyFile, writeReadyFile } from '../../files/users-file.ts';
import type { Host } from '../../platform/host.ts';
import { SERVICE_PATH } from '../http/request.ts';
import type { PageFiles } from '../page/inspector-sessions.ts';
import type { ScenarioPlayer } from '../service/service.ts';
import { StoreBroken } from '../store/sql.ts';
import { assemble, randomKey } from './assemble.ts';
import { readFacts, readSecret, type ServerFacts, type ServerPaths, serverPaths, writeSecret } from './server-files.ts';
import { storeFile, storeFolder } from './start.ts';

export interface StartDependencies extends Pick<Host, 'folders' | 'clock' | 'random' | 'pid' | 'platform'> {
  readonly isRunning: (pid: number) => boolean;
  /** Names of files beside and of locks. */
  readonly noise: Host['random'];
  readonly version: string;
  /** Files of the inspector's page. */
  readonly pageFiles?: (() => PageFiles) | undefined;
  /** Plays scenarios for it. */
  readonly scenarios?: ScenarioPlayer | undefined;
  readonly warn: (text: string) => void;
  /** Told what takes long. */
  readonly notice: (text: string) => void;
  /** Told about errors nobody expected; their requests were answered 500. */
  readonly onFault: (error: unknown) => void;
}

export interface Serving {
  /** Begins the end: running requests are finished. */
  stop(): void;
  /** Settles when everything is closed and the port is free. Rejects with `check_failed` when the store broke. */
  readonly ended: Promise<void>;
}

/** What is served, and how that ends. */
interface Opened<Shown> {
  readonly shown: Shown;
  close(): Promise<void>;
}

/** Holds the lock from before something is opened until it is closed. Throws what `open` does, and `guarded` for a lock that is held. */
export function serveUnderLock<Shown extends object>(
  path: string,
  { pid, clock, noise: random, isRunning }: StartDependencies,
  open: (end: (error?: Error) => void) => Promise<Opened<Shown>>,
): Promise<Shown & Serving> {
  let end: (error?: Error) => void = () => undefined;
  const until = new Promise<void>((resolve, reject) => {
    end = error => (error === undefined ? resolve() : reject(error));
  });
  // Whoever waits for the end is told; before that nobody may be waiting yet.
  until.catch(() => undefined);
  return new Promise((resolve, reject) => {
    const ended = withLock(path, { pid, clock, random, isRunning, timeoutMs: 0 }, async () => {
      const { shown, close } = await open(end);
      resolve({ ...shown, stop: () => end(), ended });
      await until;
      await close();
    });
    ended.catch(reject);
  });
}

interface StartedSandbox extends Serving {
  readonly facts: ServerFacts;
  readonly store: string;
  readonly dialect: DialectName;
  readonly keyFile: string;
  readonly tokenFile: string;
}

/**
 * Throws `guarded` when one is started on the store already, `unreachable` for a taken port, `check_failed` for a
 * store that is not whole, `usage` for a seed or data set that the store does not have.
 */
export async function startServer(around: StartDependencies, options: ServerOptions): Promise<StartedSandbox> {
  const { folders, platform, noise: random, warn, isRunning } = around;
  const paths = serverPaths(folders.data);
  const files: FileDependencies = { platform, random, warn };
  const refuseSecond = async () => {
    const holder = await holderOf(paths.lock, around, isRunning);
    // Where it says that it listens; it may not have said so yet.
    if (holder !== 'nobody') throw alreadyStarted(holder, paths, (await readFacts(paths.facts, files))?.url);
  };
  privateFolder(storeFolder(folders.data), platform);
  await refuseSecond();
  let isOurs = false;
  try {
    return await serveUnderLock(paths.lock, around, end => {
      isOurs = true;
      return open(around, options, { paths, files, end });
    });
  } catch (error) {
    // Another start took the lock since it was looked at.
    if (!isOurs) await refuseSecond();
    throw error;
  }
}

interface Opening {
  readonly paths: ServerPaths;
  readonly files: FileDependencies;
  readonly end: (error?: Error) => void;
}

async function open(
  around: StartDependencies,
  options: ServerOptions,
  { paths, files, end }: Opening,
): Promise<Opened<Omit<StartedSandbox, keyof Serving>>> {
  const { folders, clock, version } = around;
  const { readyFile, rateLimits, virtualLimits, dialect, size } = options;
  const removeFacts = async () => {
    await rm(paths.facts, { force: true });
    await rm(paths.token, { force: true });
  };
  // What a killed one left would be believed by nobody, but it would be read.
  await removeFacts();
  if (readyFile !== undefined) await clearReadyFile(readyFile);
  const path = storeFile(folders.data);
  const made = await assemble({
    host: around,
    path,
    place: { port: options.port ?? 0, ipv6: options.ipv6 },
    seed: options.seed,
    data: options.data,
    key: (await readSecret(paths.key, files)) ?? randomKey(around),
    checked: true,
    onLongCheck: records =>
      around.notice(`Looking through the store before it is served: ${records} transactions and events.`),
    size,
    insists: { seed: options.seed, data: options.data, size },
    rateLimits: rateLimits ? 'all' : 'none',
    virtualLimits,
    liveTimers: true,
    dialect,
    deliveries: { live: true, allowRemote: options.allowRemoteWebhooks },
    pageFiles: around.pageFiles,
    scenarios: around.scenarios,
    version,
    onStop: () => end(),
    onFault: error => {
      around.onFault(error);
      if (error instanceof StoreBroken) end(brokenStore(path, error));
    },
  });
  const url = made.origin + SERVICE_PATH;
  const { instance } = made;
  const facts = { url, pid: around.pid, started_at: new Date(clock.now()).toISOString(), instance };
  const close = async () => {
    // Who looks for the server stops finding it first.
    if (readyFile !== undefined) await removeReadyFile(readyFile, url);
    await removeFacts();
    await made.stop();
  };
  try {
    await writeSecret(paths.key, made.key, files);
    await writeSecret(paths.token, made.adminToken, files);
    await writePrivate(paths.facts, `${JSON.stringify(facts)}\n`, files);
    if (readyFile !== undefined) await writeReadyFile(readyFile, url, files);
  } catch (error) {
    await close();
    throw error;
  }
  return { shown: { facts, store: path, dialect: made.dialect, keyFile: paths.key, tokenFile: paths.token }, close };
}

function alreadyStarted(holder: number | 'unreadable', { lock }: ServerPaths, url: string | undefined): CliError {
  const who = holder === 'unreadable' ? 'an unknown process' : `process ${holder}`;
  return new CliError('guarded', {
    message: `a sandbox is started on this store already, by ${who}`,
    notes: [url === undefined ? `It holds ${lock}.` : `It serves ${url}.`],
    hint: 'cardwright sandbox status -o env',
    outcome: 'not_sent',
  });
}

function brokenStore(path: string, cause: StoreBroken): CliError {
  return new CliError('check_failed', {
    message: `the sandbox store ${path} could not be written, and nobody knows what of the last requests lasted`,
    notes: ['The server ended without answering them. The store is looked through at the next start.'],
    hint: 'cardwright sandbox start',
    cause,
  });
}
