/**
 * Refuses a run whose API key and whose token of the sandbox are of two accounts of one server: its cards would be made in
 * one account, and its `sandbox reset` would empty the other.
 */
import type { SandboxAdmin } from '../contract/sandbox/admin-calls.ts';
import { CliError } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import type { Randomness } from '../platform/host.ts';
import type { ResolvedProfile } from '../profile/resolve.ts';
import { type NamedSandbox, serverOf } from './named-sandbox.ts';
import { isStated } from './stated-for-key.ts';

export interface KeyAndToken {
  /** The profile that the run acts as; undefined where none is chosen. */
  readonly profile: ResolvedProfile | undefined;
  readonly named: NamedSandbox;
  readonly admin: () => Promise<SandboxAdmin>;
  readonly random: Randomness;
}

const NONCE_BYTES = 16;

/** Throws `guarded` where the account that the token opens does not have the key, and what the control surface throws. */
export async function checkOneAccount({ profile, named, admin, random }: KeyAndToken): Promise<void> {
  if (profile === undefined || profile.mode !== 'test' || profile.baseUrl === undefined) return;
  if (serverOf(profile.baseUrl) !== serverOf(named.origin)) return;
  const key = await ifReadable(profile.key);
  if (key === undefined) return;
  const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('hex');
  const { result } = await (await admin()).send('dialect.show', { nonce });
  if (!result.stated_for || isStated(key, { said: result, nonce })) return;
  throw ofTwoAccounts(profile, named);
}

/** What steers a sandbox needs no key: one that cannot be read now is no reason to refuse. */
async function ifReadable(key: () => Promise<Secret>): Promise<Secret | undefined> {
  try {
    return await key();
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return undefined;
  }
}

function ofTwoAccounts(profile: ResolvedProfile, named: NamedSandbox): CliError {
  const whose = profile.variables === undefined ? `profile ${profile.name}` : 'the environment';
  return new CliError('guarded', {
    message: `the key of ${whose} and the token of ${named.namedBy} are of different accounts of ${named.origin}`,
    notes: [
      'Cards would be made in one account, and commands of the sandbox would change the other',
      'To steer the account of the token alone: set CARDWRIGHT_SANDBOX_URL, CARDWRIGHT_SANDBOX_TOKEN_FILE and CARDWRIGHT_PROFILE=sandbox, and no API key',
    ],
    hint:
      named.variables === undefined
        ? `cardwright profiles set ${profile.name} sandbox_token_file PATH`
        : 'cardwright help environment',
    outcome: 'not_sent',
  });
}
