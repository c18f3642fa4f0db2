/**
 * Whether a sandbox elsewhere honours idempotency keys, believed of nobody but who has the API key: a header, or an answer
 * of the control surface alone, could come from something in front of another service (decision 0030).
 */
import type { SandboxAdmin } from '../contract/sandbox/admin-calls.ts';
import { CliError } from '../core/errors.ts';
import { digestOf, statedForKey } from '../core/key-print.ts';
import type { Secret } from '../core/secret.ts';
import type { Clock, Randomness } from '../platform/host.ts';

const NONCE_BYTES = 16;
/** ms that a sandbox is asked again which says that it is busy, and the pause before each question. */
const PATIENCE = 30_000;
const PAUSE = 1_000;

interface Asking {
  readonly key: Secret;
  readonly random: Randomness;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Undefined where its control surface cannot be asked, or proves nothing about this key. */
export async function statedFor(
  admin: () => Promise<SandboxAdmin>,
  { key, random, clock, signal }: Asking,
): Promise<boolean | undefined> {
  const until = clock.monotonic() + PATIENCE;
  const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('hex');
  for (;;) {
    const stated = await askedOnce(admin, { key, nonce });
    if (stated !== 'busy') return stated;
    if (signal.aborted || clock.monotonic() >= until) return undefined;
    await clock.sleep(PAUSE, signal).catch(() => undefined);
  }
}

async function askedOnce(
  admin: () => Promise<SandboxAdmin>,
  { key, nonce }: { readonly key: Secret; readonly nonce: string },
): Promise<boolean | 'busy' | undefined> {
  try {
    const { result } = await (await admin()).send('dialect.show', { nonce });
    return isStated(key, { said: result, nonce }) ? result.honours_keys : undefined;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return thrown.facts.httpStatus === 503 ? 'busy' : undefined;
  }
}

/** What the control surface says of the dialect that it speaks, where it was asked with a nonce. */
interface Stated {
  readonly honours_keys: boolean;
  readonly stated_for?: readonly string[] | null | undefined;
}

/** Whether the account that has said it has this API key. */
export function isStated(key: Secret, { said, nonce }: { readonly said: Stated; readonly nonce: string }): boolean {
  const statement = { nonce, honoursKeys: said.honours_keys };
  return said.stated_for?.includes(statedForKey(digestOf(key.expose()), statement)) ?? false;
}
