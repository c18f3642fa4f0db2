/**
 * The files by which others find a started sandbox: where it is, its key, its admin token. All 0600, beside the store.
 * The key is kept from one start to the next, so that what was set up with it goes on; the token is not.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataSet, LoadSize } from '../../contract/sandbox/admin.ts';
import type { DialectName } from '../../contract/sandbox/faults.ts';
import { CliError } from '../../core/errors.ts';
import { Secret } from '../../core/secret.ts';
import { holderOf, withLock } from '../../files/lock.ts';
import { type FileDependencies, privateFolder, readPrivate, writePrivate } from '../../files/private-files.ts';
import { clearReadyFile, removeReadyFile, writeReadyFile } from '../../files/users-file.ts';
import type { Host } from '../../platform/host.ts';
import { SERVICE_PATH } from '../http/request.ts';
import type { PageFiles } from '../page/inspector-sessions.ts';
import type { ScenarioPlayer } from '../service/service.ts';
import { StoreBroken } from '../store/sql.ts';
import { type Assembled, assemble, randomKey, randomSeed } from './assemble.ts';
import { storeFile, storeFolder } from './embedded.ts';

/** What `server.json` says. */
export interface ServerFacts {
  /** Base address of the service, with `/v1`. */
  readonly url: string;
  readonly pid: number;
  /** ISO 8601, real time. */
  readonly started_at: string;
  /** Which store it serves. */
  readonly instance: string;
}

interface ServerPaths {
  readonly facts: string;
  readonly key: string;
  readonly token: string;
  /** Held while a sandbox is started on the store. */
  readonly lock: string;
}

export function serverPaths(data: string): ServerPaths {
  const below = (name: string) => join(storeFolder(data), name);
  return {
    facts: below('server.json'),
    key: below('api-key'),
    token: below('admin-token'),
    lock: below('server.lock'),
  };
}

/** Undefined when there is none, or what stands there is not whole. */
export async function readFacts(path: string, around: FileDependencies): Promise<ServerFacts | undefined> {
  const text = await readPrivate(path, around);
  if (text === undefined) return undefined;
  const told = parsed(text);
  const { url, pid, started_at, instance } = told;
  const isWhole =
    typeof url === 'string' &&
    /^http:\/\/127\.0\.0\.1:\d{1,5}\/v1$/.test(url) &&
    Number.isSafeInteger(pid) &&
    typeof started_at === 'string' &&
    typeof instance === 'string';
  return isWhole ? { url, pid: pid as number, started_at, instance } : undefined;
}

async function writeFacts(path: string, facts: ServerFacts, around: FileDependencies): Promise<void> {
  await writePrivate(path, `${JSON.stringify(facts)}\n`, around);
}

/** Takes away what says that a server is there; a file that is not there is no mistake. */
async function removeFacts({ facts, token }: ServerPaths): Promise<void> {
  await rm(facts, { force: true });
  await rm(token, { force: true });
}

export async function writeSecret(path: string, secret: Secret, around: FileDependencies): Promise<void> {
  await writePrivate(path, `${secret.expose()}\n`, around);
}

/** Undefined when there is no file. Throws `guarded` for one that holds something else than what we write there. */
export async function readSecret(path: string, around: FileDependencies): Promise<Secret | undefined> {
  const text = await readPrivate(path, around);
  if (text === undefined) return undefined;
  const found = /^((?:sk_test_|sandbox_)[\w-]{20,})\n$/.exec(text)?.[1];
  if (found !== undefined) return new Secret(found);
  throw new CliError('guarded', {
    message: `${path} does not hold what cardwright writes there`,
    notes: ['Nothing was overwritten. Move the file away to get a new one.'],
    outcome: 'not_sent',
  });
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

// `sandbox start`: the store of the data folder, served to other programs on a port of this machine, with timers and deliveries live. One such server a store; embedded commands share the store with it.

interface StartOptions {
  /** 0 or none: any free one. */
  readonly port?: number | undefined;
  /** On `::1` too. */
  readonly ipv6?: boolean | undefined;
  readonly dialect?: DialectName | undefined;
  /** Of a store made now. One that is there must have them already. */
  readonly seed?: number | undefined;
  readonly data?: DataSet | undefined;
  readonly size?: LoadSize | undefined;
  readonly rateLimits: boolean;
  readonly virtualLimits: boolean;
  readonly allowRemoteWebhooks: boolean;
  /** Absolute path. */
  readonly readyFile?: string | undefined;
}

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

interface StartedSandbox {
  readonly facts: ServerFacts;
  readonly store: string;
  readonly dialect: DialectName;
  readonly keyFile: string;
  readonly tokenFile: string;
  /** Begins the end: running requests are finished. */
  stop(): void;
  /** Settles when everything is closed and the port is free. Rejects with `check_failed` when the store broke. */
  readonly ended: Promise<void>;
}

/**
 * Throws `guarded` when one is started on the store already, `unreachable` for a taken port, `check_failed` for a
 * store that is not whole, `usage` for a seed or data set that the store does not have.
 */
export function startServer(around: StartDependencies, options: StartOptions): Promise<StartedSandbox> {
  const { pid, clock, noise, isRunning } = around;
  const paths = serverPaths(around.folders.data);
  const lock = { pid, clock, random: noise, timeoutMs: 0, isRunning };
  return new Promise((resolve, reject) => {
    const work = async () => {
      privateFolder(storeFolder(around.folders.data), around.platform);
      const holder = await holderOf(paths.lock, around, isRunning);
      if (holder !== 'nobody') throw alreadyStarted(holder, paths, await urlOf(paths, around));
      let isOurs = false;
      const served = withLock(paths.lock, lock, async () => {
        isOurs = true;
        const running = await open(around, options, paths);
        resolve({ ...running.shown, stop: running.stop, ended });
        await running.until;
        await running.close();
      });
      await served.catch(async (error: unknown) => {
        const other = isOurs ? 'nobody' : await holderOf(paths.lock, around, isRunning);
        // Another start took the lock since it was looked at.
        throw other === 'nobody' ? error : alreadyStarted(other, paths, await urlOf(paths, around));
      });
    };
    const ended = work();
    ended.catch(reject);
  });
}

interface Running {
  readonly shown: Omit<StartedSandbox, 'stop' | 'ended'>;
  stop(): void;
  /** Settles when the end has begun. */
  readonly until: Promise<void>;
  close(): Promise<void>;
}

async function open(around: StartDependencies, options: StartOptions, paths: ServerPaths): Promise<Running> {
  const { folders, clock, platform, noise, warn, version } = around;
  const { readyFile } = options;
  const files: FileDependencies = { platform, random: noise, warn };
  // What a killed one left would be believed by nobody, but it would be read.
  await removeFacts(paths);
  if (readyFile !== undefined) await clearReadyFile(readyFile);
  const path = storeFile(folders.data);
  const key = (await readSecret(paths.key, files)) ?? randomKey(around);
  const { promise: until, end } = ending();
  const made = await assemble({
    host: around,
    path,
    place: { port: options.port ?? 0, ipv6: options.ipv6 },
    seed: options.seed ?? randomSeed(around),
    ids: 'derived',
    data: options.data ?? 'demo',
    key,
    checked: true,
    onLongCheck: records =>
      around.notice(`Looking through the store before it is served: ${records} transactions and events.`),
    size: options.size,
    insists: { seed: options.seed, data: options.data, size: options.size },
    rateLimits: options.rateLimits ? 'all' : 'none',
    virtualLimits: options.virtualLimits,
    liveTimers: true,
    dialect: options.dialect,
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
  const { origin } = made.server;
  const url = `${origin}${SERVICE_PATH}`;
  const facts = { url, pid: around.pid, started_at: new Date(clock.now()).toISOString(), instance: made.instance };
  const close = () => closed(made, paths, readyFile, url);
  try {
    await writeSecret(paths.key, made.key, files);
    await writeSecret(paths.token, made.adminToken, files);
    await writeFacts(paths.facts, facts, files);
    if (readyFile !== undefined) await writeReadyFile(readyFile, url, files);
  } catch (error) {
    await close();
    throw error;
  }
  const shown = { facts, store: path, dialect: made.activeDialect.name, keyFile: paths.key, tokenFile: paths.token };
  return { shown, stop: () => end(), until, close };
}

/** Who looks for the server stops finding it first. */
async function closed(made: Assembled, paths: ServerPaths, readyFile: string | undefined, url: string): Promise<void> {
  if (readyFile !== undefined) await removeReadyFile(readyFile, url);
  await removeFacts(paths);
  await made.stop();
}

function ending() {
  let end: (error?: Error) => void = () => undefined;
  const promise = new Promise<void>((resolve, reject) => {
    end = error => (error === undefined ? resolve() : reject(error));
  });
  // Whoever waits for the end is told; before that nobody may be waiting yet.
  promise.catch(() => undefined);
  return { promise, end: (error?: Error) => end(error) };
}

/** Where the process that holds the lock says it listens; it may not have said so yet. */
async function urlOf({ facts }: ServerPaths, { platform, noise: random, warn }: StartDependencies) {
  return (await readFacts(facts, { platform, random, warn }))?.url;
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
