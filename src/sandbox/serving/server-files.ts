/**
 * The files by which others find a started sandbox: where it is, its key, its admin token. All 0600, beside the store.
 * The key is kept from one start to the next, so that what was set up with it goes on; the token is not.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../../core/errors.ts';
import { Secret } from '../../core/secret.ts';
import { type FileDependencies, readPrivate, writePrivate } from '../../files/private-files.ts';
import { storeFolder } from './private-socket.ts';

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

export async function writeFacts(path: string, facts: ServerFacts, around: FileDependencies): Promise<void> {
  await writePrivate(path, `${JSON.stringify(facts)}\n`, around);
}

/** Takes away what says that a server is there; a file that is not there is no mistake. */
export async function removeFacts({ facts, token }: ServerPaths): Promise<void> {
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
