/** Finds the sandbox that was started on a store, and believes nobody who has not proved to be it. */
import { timingSafeEqual } from 'node:crypto';
import { request } from 'node:http';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { ADMIN_PATH } from '../../contract/sandbox/basis.ts';
import { CliError } from '../../core/errors.ts';
import type { Secret } from '../../core/secret.ts';
import { holderOf } from '../../files/lock.ts';
import type { FileDependencies } from '../../files/private-files.ts';
import type { Host } from '../../platform/host.ts';
import { proofOf } from '../requests/authorize.ts';
import { readFacts, readSecret, type ServerFacts, serverPaths } from './started.ts';

interface FoundServer extends ServerFacts {
  /** Address of the control surface's origin, as `CARDWRIGHT_SANDBOX_URL` takes it. */
  readonly origin: string;
  readonly adminToken: Secret;
  readonly keyFile: string;
}

/** ms for one answer; on this machine it takes two. */
const PATIENCE = 2_000;
const MOST_BYTES = 4_096;

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
  const health = await parsed(`${origin}${ADMIN_PATH}${ADMIN_OPERATIONS.health.path}?nonce=${nonce}`);
  const isOurs =
    health?.instance === facts.instance && isSame(String(health.proof), proofOf(adminToken, { nonce, port }));
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
  const told = await parsed(`${origin}${ADMIN_PATH}${ADMIN_OPERATIONS.stop.path}`, adminToken);
  if (told === undefined) {
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
function parsed(url: string, token?: Secret): Promise<Told | undefined> {
  return new Promise(resolve => {
    const order = token && { method: 'POST', headers: { Authorization: `Bearer ${token.expose()}` } };
    const asked = request(url, { agent: false, signal: AbortSignal.timeout(PATIENCE), ...order }, response => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MOST_BYTES) response.destroy();
        else chunks.push(chunk);
      });
      response.on('close', () => resolve(response.complete && response.statusCode === 200 ? read(chunks) : undefined));
    });
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}

function read(chunks: readonly Buffer[]): Told | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Told) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
