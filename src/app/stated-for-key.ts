/**
 * Whether a sandbox elsewhere honours idempotency keys, believed of nobody but who has the API key: a header, or an answer
 * of the control surface alone, could come from something in front of another service (decision 0030).
 */
import type { ResultOf } from '../contract/operation.ts';
import type { AdminOperations, SandboxAdmin } from '../contract/sandbox/admin.ts';
import { CliError } from '../core/errors.ts';
import { digestOf, statedForKey } from '../core/key-print.ts';
import type { Secret } from '../core/secret.ts';
import type { Host, Randomness } from '../platform/host.ts';

/** What a statement is asked with, so that an old one proves nothing. */
export const newNonce = (random: Randomness) => Buffer.from(random.bytes(16)).toString('hex');

/** ms that a sandbox is asked again which says that it is busy, and the pause before each question. */
const PATIENCE = 30_000;
const PAUSE = 1_000;

type Stated = ResultOf<AdminOperations['dialect.show']>;

/** Undefined where its control surface cannot be asked, or proves nothing about this key. */
export async function statedFor(
  admin: () => Promise<SandboxAdmin>,
  key: Secret,
  { random, clock, signal }: Pick<Host, 'random' | 'clock' | 'signal'>,
): Promise<boolean | undefined> {
  const until = clock.monotonic() + PATIENCE;
  const nonce = newNonce(random);
  for (;;) {
    try {
      const { result } = await (await admin()).send('dialect.show', { nonce });
      return isStated(key, { said: result, nonce }) ? result.honours_keys : undefined;
    } catch (thrown) {
      if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
      const isBusy = thrown.facts.httpStatus === 503;
      if (!isBusy || signal.aborted || clock.monotonic() >= until) return undefined;
    }
    await clock.sleep(PAUSE, signal).catch(() => undefined);
  }
}

/** Whether the account that has said it has this API key. */
export function isStated(key: Secret, { said, nonce }: { readonly said: Stated; readonly nonce: string }): boolean {
  const statement = { nonce, honoursKeys: said.honours_keys };
  return said.stated_for?.includes(statedForKey(digestOf(key.expose()), statement)) ?? false;
}
