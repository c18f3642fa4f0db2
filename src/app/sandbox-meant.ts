/**
 * Whether the commands of the sandbox mean the sandbox of this machine, where nothing names one elsewhere. They do not
 * where the requests of the run go to a test server: its account would look as if it were the one that is shown.
 */
import { CliError } from '../core/errors.ts';
import type { ResolvedProfile } from '../profile/resolve.ts';

export interface Meant {
  /** The profile that the run acts as; undefined where none is chosen. A live one is no sandbox. */
  readonly profile: ResolvedProfile | undefined;
  /** Scheme, host and port of the server that serves the sandbox of this machine, if one does. */
  readonly served: () => Promise<string | undefined>;
}

/** Throws `guarded` where the requests of the run go to a test server that is not the sandbox of this machine. */
export async function checkIsMeant({ profile, served }: Meant): Promise<void> {
  if (profile === undefined || profile.mode !== 'test' || profile.baseUrl === undefined) return;
  const { name, baseUrl, variables } = profile;
  if (new URL(baseUrl).origin === (await served())) return;
  const [missing, remedy] =
    variables === undefined
      ? [`profile ${name} has no sandbox_token_file`, `cardwright profiles set ${name} sandbox_token_file PATH`]
      : [`${ADDRESS} and ${TOKEN_FILE} are not set`, `set ${ADDRESS} and ${TOKEN_FILE}`];
  throw new CliError('guarded', {
    message: `requests go to ${baseUrl}, and nothing opens the control surface of a sandbox there: ${missing}`,
    notes: [`For the sandbox there: ${remedy}`, 'For the sandbox of this machine: the same with --sandbox'],
    hint: 'cardwright --sandbox sandbox status',
    outcome: 'not_sent',
  });
}

const ADDRESS = 'CARDWRIGHT_SANDBOX_URL';
const TOKEN_FILE = 'CARDWRIGHT_SANDBOX_TOKEN_FILE';
