/**
 * The files by which others find a started sandbox: where it is, its key, its admin token. All 0600, beside the store.
 * The key is kept from one start to the next, so that what was set up with it goes on; the token is not.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { CliError } from '../../core/errors.ts';
import { isSameKey } from '../../core/key-print.ts';
import { Secret } from '../../core/secret.ts';
import { holderOf } from '../../files/lock.ts';
import { type FileDependencies, readPrivate, systemCode, writePrivate } from '../../files/private-files.ts';
import type { Clock, Folders, Host } from '../../platform/host.ts';
import { proofOf } from '../requests/authorize.ts';
import { askLocally, storeFile, storeFolder } from './start.ts';

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

export interface ServerPaths {
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
  const { url, pid, started_at, instance } = parsed(text) ?? {};
  const isWhole =
    typeof url === 'string' &&
    /^http:\/\/127\.0\.0\.1:\d{1,5}\/v1$/.test(url) &&
    Number.isSafeInteger(pid) &&
    typeof started_at === 'string' &&
    typeof instance === 'string';
  return isWhole ? { url, pid: pid as number, started_at, instance } : undefined;
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

// Finding the server, and believing nobody who has not proved to be it.

interface FoundServer extends ServerFacts {
  /** Address of the control surface's origin, as `CARDWRIGHT_SANDBOX_URL` takes it. */
  readonly origin: string;
  readonly adminToken: Secret;
  readonly keyFile: string;
}

/** For one answer; on this machine it takes two ms. */
const PATIENCE = { ms: 2_000, bytes: 4_096 } as const;

/**
 * The server that `server.json` names, once it has proved by an HMAC over fresh random bytes that it knows the admin token;
 * undefined when nobody answers there, or somebody else. No key leaves before.
 */
export async function findServer(data: string, around: FileDependencies): Promise<FoundServer | undefined> {
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
  { origin, adminToken, pid, keyFile }: FoundServer,
  { folders, clock, pid: us, isRunning, signal }: Stopping,
): Promise<void> {
  const answer = await answerOf(`${origin}${ADMIN_PATH}${ADMIN_OPERATIONS.stop.path}`, adminToken);
  if (answer === undefined) {
    throw new CliError('unreachable', { message: `the sandbox of process ${pid} did not answer`, hint: `kill ${pid}` });
  }
  const { lock } = serverPaths(folders.data);
  const deadline = clock.monotonic() + LONGEST_END;
  while ((await holderOf(lock, { pid: us }, isRunning)) === pid) {
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

type Stopping = Pick<Host, 'folders' | 'clock' | 'pid' | 'signal'> & { readonly isRunning: (pid: number) => boolean };

type Told = Readonly<Record<string, unknown>>;

/** A question without a token, an order with one. Undefined for any answer but a whole good one. */
async function answerOf(url: string, token?: Secret): Promise<Told | undefined> {
  const order = token && { method: 'POST', token };
  const answer = await askLocally({ url, limit: PATIENCE, ...order }).catch(() => undefined);
  return answer?.status === 200 ? parsed(answer.text) : undefined;
}

/** Undefined for what is no JSON object. */
function parsed(text: string): Told | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Told) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

// The way out of a store that cannot be used: aside with it. Nothing is deleted.

/** The log first: a database without it is older but whole, a log beside another database is a danger. */
const PARTS = ['-wal', '-shm', ''] as const;

interface Moving {
  readonly folders: Pick<Folders, 'data'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * Moves the store and its two companions into a fresh 0700 folder beside it, `store-<time>`. Resolves to where they
 * are now; empty when there was no store. The next command makes a new one.
 * Throws `guarded` while a started sandbox serves it.
 */
export async function resetHard({ folders, clock, ...us }: Moving): Promise<string[]> {
  const holder = await holderOf(serverPaths(folders.data).lock, us, us.isRunning);
  if (holder !== 'nobody') {
    throw new CliError('guarded', {
      message: `the store is not moved aside: process ${holder} serves it (sandbox start)`,
      hint: 'cardwright sandbox stop',
      outcome: 'not_sent',
    });
  }
  const time = new Date(clock.now()).toISOString().replaceAll(/[-:]/g, '');
  const aside = join(storeFolder(folders.data), `store-${time}`);
  const here = PARTS.map(part => storeFile(folders.data) + part).filter(path => existsSync(path));
  if (here.length > 0) await mkdir(aside, { mode: 0o700 });
  const moved: string[] = [];
  for (const path of here) {
    const target = join(aside, basename(path));
    if (await isMoved(path, target)) moved.push(target);
  }
  return moved;
}

/** False for a companion that is gone meanwhile: whoever closed the store last has put it into the database. */
async function isMoved(path: string, target: string): Promise<boolean> {
  try {
    await rename(path, target);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' || path.endsWith('.db')) throw error;
    return false;
  }
}
