/**
 * `sandbox start`: the store of the data folder, served to other programs on a port of this machine, with timers and deliveries
 * live. One such server a store; embedded commands share the store with it. The files by which others find it (where it is,
 * its key, its admin token) are 0600, beside the store. The key is kept from one start to the next, the token is not.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type CompleteOf, must } from '../../contract/field.ts';
import { integer, text } from '../../contract/own-field.ts';
import { ADMIN_OPERATIONS, type ServerOptions } from '../../contract/sandbox/admin.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { shapeProblem } from '../../contract/violation.ts';
import { CliError, notSent } from '../../core/errors.ts';
import { isSameKey } from '../../core/key-print.ts';
import { isObject, jsonOrUndefined } from '../../core/objects.ts';
import { Secret } from '../../core/secret.ts';
import { isLocked, withLock } from '../../engine/lock.ts';
import {
  type FileDependencies,
  privateFolder,
  readPrivate,
  systemCode,
  writePrivate,
} from '../../files/private-files.ts';
import { readyFile } from '../../files/users-file.ts';
import type { Host } from '../../platform/host.ts';
import type { PageFiles } from '../page/inspector-sessions.ts';
import { proofOf } from '../requests/exchange.ts';
import type { ScenarioPlayer } from '../service/service.ts';
import { StoreBroken } from '../store/sql.ts';
import { assemble, randomSecret } from './assemble.ts';
import { askLocally, storeFile, storeFolder } from './start.ts';

/** What `server.json` says: address of the service with `/v1`, real time in ISO 8601, and which store it serves. */
const SERVER_FACTS = {
  url: must(text('Address.')),
  pid: must(integer('Process.')),
  started_at: must(text('Time.')),
  instance: must(text('Store.')),
} as const;
export type ServerFacts = CompleteOf<typeof SERVER_FACTS>;

/** The lock is held while a sandbox is started on the store. */
function serverPaths(data: string) {
  const below = (name: string) => join(storeFolder(data), name);
  return {
    facts: below('server.json'),
    key: below('api-key'),
    token: below('admin-token'),
    lock: below('server.lock'),
  };
}

/** Undefined when there is none, or what stands there is not whole. */
async function readFacts(path: string, around: FileDependencies): Promise<ServerFacts | undefined> {
  const json = await readPrivate(path, around);
  if (json === undefined) return undefined;
  const facts = jsonOrUndefined(json) as ServerFacts;
  if (!isObject(facts) || shapeProblem(SERVER_FACTS, facts) !== undefined) return undefined;
  return /^http:\/\/127\.0\.0\.1:\d{1,5}\/v1$/.test(facts.url) ? facts : undefined;
}

export async function writeSecret(path: string, secret: Secret, around: FileDependencies): Promise<void> {
  await writePrivate(path, `${secret.expose()}\n`, around);
}

/** Undefined when there is no file. Throws `guarded` for one that holds something else than what we write there. */
export async function readSecret(path: string, around: FileDependencies): Promise<Secret | undefined> {
  const line = await readPrivate(path, around);
  if (line === undefined) return undefined;
  const found = /^((?:sk_test_|sandbox_)[\w-]{20,})\n$/.exec(line)?.[1];
  if (found !== undefined) return new Secret(found);
  throw notSent('guarded', `${path} does not hold what cardwright writes there`, {
    notes: ['Nothing was overwritten. Move the file away to get a new one.'],
  });
}

// Finding the server, and believing nobody who has not proved to be it.

/** What a server of this machine is found, stopped and moved aside by. */
type Surroundings = Pick<Host, 'folders' | 'clock' | 'platform'>;

/** For one answer; on this machine it takes two ms. */
const PATIENCE = { ms: 2_000, bytes: 4_096 } as const;

/**
 * The server that `server.json` names, once it has proved by an HMAC over fresh random bytes that it knows the admin token;
 * undefined when nobody answers there, or somebody else. No key leaves before. `origin` is that of the control surface, as
 * `CARDWRIGHT_SANDBOX_URL` takes it.
 */
export async function findServer(data: string, around: FileDependencies) {
  const paths = serverPaths(data);
  const facts = await readFacts(paths.facts, around);
  const adminToken = facts && (await readSecret(paths.token, around));
  if (facts === undefined || adminToken === undefined) return undefined;
  const { origin, port } = new URL(facts.url);
  const nonce = Buffer.from(around.random.bytes(24)).toString('base64url');
  const health = await answerOf(`${origin}${ADMIN_PATH}${ADMIN_OPERATIONS.health.path}?nonce=${nonce}`);
  const isOurs =
    health?.instance === facts.instance && isSameKey(String(health.proof), proofOf(adminToken, { nonce, port }));
  return isOurs ? { ...facts, origin, adminToken, keyFile: paths.key } : undefined;
}

const LONGEST_END = 20_000;
const LOOK_EVERY = 20;

/**
 * Asks it to end and waits until it has: running requests are finished first. Throws `unreachable` when it does not
 * take the request, `wait_expired` when it is still there after 20 s.
 */
export async function stopServer(
  { origin, adminToken, pid, keyFile }: NonNullable<Awaited<ReturnType<typeof findServer>>>,
  { folders, clock, platform, signal }: Surroundings & Pick<Host, 'signal'>,
): Promise<void> {
  const answer = await answerOf(`${origin}${ADMIN_PATH}${ADMIN_OPERATIONS.stop.path}`, adminToken);
  if (answer === undefined) {
    throw new CliError('unreachable', { message: `the sandbox of process ${pid} did not answer`, hint: `kill ${pid}` });
  }
  const { lock } = serverPaths(folders.data);
  const deadline = clock.monotonic() + LONGEST_END;
  while (isLocked(lock, platform)) {
    if (clock.monotonic() > deadline) {
      throw new CliError('wait_expired', {
        message: `the sandbox of process ${pid} was told to end and is still there after ${LONGEST_END / 1000} s`,
        notes: [`Its key stays in ${keyFile}.`],
        hint: `kill ${pid}`,
      });
    }
    await clock.sleep(LOOK_EVERY, signal);
  }
}

/** A question without a token, an order with one. Undefined for any answer but a whole good one. */
async function answerOf(url: string, token?: Secret) {
  const order = token && { method: 'POST', token };
  const answer = await askLocally({ url, limit: PATIENCE, ...order }).catch(() => undefined);
  const body = answer?.status === 200 ? jsonOrUndefined(answer.text) : undefined;
  return isObject(body) ? body : undefined;
}

// The way out of a store that cannot be used: aside with it. Nothing is deleted.

/** The log first: a database without it is older but whole, a log beside another database is a danger. */
const PARTS = ['-wal', '-shm', ''] as const;

/**
 * Moves the store and its two companions into a fresh 0700 folder beside it, `store-<time>`. Resolves to where they
 * are now; empty when there was no store. The next command makes a new one.
 * Throws `guarded` while a started sandbox serves it.
 */
export async function resetHard({ folders, clock, platform }: Surroundings): Promise<string[]> {
  if (isLocked(serverPaths(folders.data).lock, platform)) {
    const why = 'the store is not moved aside: a started sandbox serves it (sandbox start)';
    throw notSent('guarded', why, 'cardwright sandbox stop');
  }
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]/g, '');
  const aside = join(storeFolder(folders.data), `store-${time}`);
  const here = PARTS.map(part => storeFile(folders.data) + part).filter(path => existsSync(path));
  if (here.length > 0) await mkdir(aside, { mode: 0o700 });
  for (const path of here) {
    await rename(path, join(aside, basename(path))).catch((error: unknown) => {
      // Whoever closed the store last has put a companion into the database.
      if (systemCode(error) !== 'ENOENT' || path.endsWith('.db')) throw error;
    });
  }
  return here.map(path => join(aside, basename(path))).filter(path => existsSync(path));
}

// Starting it.

export interface StartDependencies extends Surroundings, Pick<Host, 'random' | 'pid'> {
  readonly isRunning: (pid: number) => boolean;
  /** Names of files beside, and pauses. */
  readonly noise: Host['random'];
  readonly version: string;
  /** Files of the inspector's page. */
  readonly pageFiles?: (() => PageFiles) | undefined;
  /** Plays scenarios for it. */
  readonly scenarios?: ScenarioPlayer | undefined;
  readonly warn: (text: string) => void;
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
  { clock, noise: random, platform }: StartDependencies,
  open: (end: (error?: Error) => void) => Promise<Opened<Shown>>,
): Promise<Shown & Serving> {
  let end: (error?: Error) => void = () => undefined;
  const until = new Promise<void>((resolve, reject) => {
    end = error => (error === undefined ? resolve() : reject(error));
  });
  // Whoever waits for the end is told; before that nobody may be waiting yet.
  until.catch(() => undefined);
  return new Promise((resolve, reject) => {
    const ended = withLock(path, { clock, random, platform, timeoutMs: 0 }, async () => {
      const { shown, close } = await open(end);
      resolve({ ...shown, stop: () => end(), ended });
      await until;
      await close();
    });
    ended.catch(reject);
  });
}

/**
 * Throws `guarded` when one is started on the store already, `unreachable` for a taken port, `check_failed` for a
 * store that is not whole, `usage` for a seed or data set that the store does not have.
 */
export async function startServer(around: StartDependencies, options: ServerOptions) {
  const { folders, platform, noise: random, warn, clock } = around;
  const paths = serverPaths(folders.data);
  const files: FileDependencies = { platform, random, warn };
  const removeFacts = async () => {
    await rm(paths.facts, { force: true });
    await rm(paths.token, { force: true });
  };
  const open = async (end: (error?: Error) => void) => {
    // What a killed one left would be believed by nobody, but it would be read.
    await removeFacts();
    const ready = options.readyFile === undefined ? undefined : await readyFile(options.readyFile, files);
    const path = storeFile(folders.data);
    const made = await assemble({
      ...around,
      ...options,
      host: around,
      path,
      place: { port: options.port ?? 0 },
      key: (await readSecret(paths.key, files)) ?? randomSecret('sk_test_', around),
      checked: true,
      insists: true,
      rateLimits: options.rateLimits ? 'all' : 'none',
      liveTimers: true,
      deliveries: { live: true, allowRemote: options.allowRemoteWebhooks },
      clock: undefined,
      onStop: () => end(),
      onFault: error => {
        around.onFault(error);
        if (error instanceof StoreBroken) end(brokenStore(path, error));
      },
    });
    const { url, instance } = made;
    const facts: ServerFacts = { url, pid: around.pid, started_at: new Date(clock.now()).toISOString(), instance };
    const close = async () => {
      // Who looks for the server stops finding it first.
      await ready?.remove(url);
      await removeFacts();
      await made.stop();
    };
    try {
      await writeSecret(paths.key, made.key, files);
      await writeSecret(paths.token, made.adminToken, files);
      await writePrivate(paths.facts, `${JSON.stringify(facts)}\n`, files);
      await ready?.write(url);
    } catch (error) {
      await close();
      throw error;
    }
    return { shown: { facts, keyFile: paths.key }, close };
  };
  privateFolder(storeFolder(folders.data), platform);
  if (!isLocked(paths.lock, platform)) return serveUnderLock(paths.lock, around, open);
  // It may not have said yet who it is and where it listens.
  const serving = await readFacts(paths.facts, files);
  const who = serving === undefined ? 'another process' : `process ${serving.pid}`;
  throw notSent('guarded', `a sandbox is started on this store already, by ${who}`, {
    notes: [serving === undefined ? `It holds ${paths.lock}.` : `It serves ${serving.url}.`],
    hint: 'cardwright sandbox status -o env',
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
