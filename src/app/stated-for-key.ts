/**
 * Whether a sandbox elsewhere honours idempotency keys, believed of nobody but who has the API key: a header, or an answer
 * of the control surface alone, could come from something in front of another service (decision 0030).
 */
import type { SandboxAdmin } from '../contract/sandbox/admin-calls.ts';
import { CliError } from '../core/errors.ts';
import { digestOf, statedForKey } from '../core/key-print.ts';
import type { Secret } from '../core/secret.ts';
import type { Randomness } from '../platform/host.ts';

const NONCE_BYTES = 16;

/** Undefined where its control surface cannot be asked, or proves nothing about this key. */
export async function statedFor(
  admin: () => Promise<SandboxAdmin>,
  { key, random }: { readonly key: Secret; readonly random: Randomness },
): Promise<boolean | undefined> {
  const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('hex');
  try {
    const { result } = await (await admin()).send('dialect.show', { nonce });
    const honoursKeys = result.honours_keys;
    return result.stated_for?.includes(statedForKey(digestOf(key.expose()), { nonce, honoursKeys }))
      ? honoursKeys
      : undefined;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return undefined;
  }
}
