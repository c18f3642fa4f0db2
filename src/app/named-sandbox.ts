/**
 * The sandbox elsewhere that a run steers: a flag decides before the environment, the environment before the current
 * profile, as for its other requests. Where nothing names one, the sandbox of this machine is meant.
 */
import { ADMIN_PATH } from '../contract/sandbox/basis.ts';
import { CliError } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import { refuseEmptyVariables } from '../core/variables.ts';
import type { Environment } from '../platform/host.ts';
import { checkBaseUrl } from '../profile/base-url.ts';
import type { Profile } from '../profile/profile-file.ts';

export interface NamedSandbox {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Base address of its control surface. */
  readonly baseUrl: string;
  /** What names it: `CARDWRIGHT_SANDBOX_URL`, or `profile ana`. */
  readonly namedBy: string;
  readonly token: () => Promise<Secret>;
  /** Variables of the environment that name it, where they do. */
  readonly variables?: readonly string[];
}

interface Naming {
  /** What of the run names a profile: `sandbox` is the sandbox of this machine, whatever the environment says. */
  readonly flag: 'sandbox' | 'profile' | undefined;
  readonly env: Environment;
  /** Text of a file. Throws `guarded` for one that is open to everybody. */
  readonly readTokenFile: (path: string) => Promise<string>;
  /** The saved profile that is chosen, if one is. */
  readonly profile: () => Promise<Profile | undefined>;
}

const URL_VARIABLE = 'CARDWRIGHT_SANDBOX_URL';
const TOKEN_VARIABLE = 'CARDWRIGHT_SANDBOX_TOKEN';
const FILE_VARIABLE = 'CARDWRIGHT_SANDBOX_TOKEN_FILE';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Throws `not_authenticated` for half a pair of variables, `usage` for an address or a token that is none. */
export async function namedSandbox({ flag, env, readTokenFile, profile }: Naming): Promise<NamedSandbox | undefined> {
  if (flag === 'sandbox') return undefined;
  const byEnvironment = () => namedByVariables(env, readTokenFile);
  if (flag === undefined) return byEnvironment() ?? byProfile(await profile(), readTokenFile);
  const chosen = await profile();
  const named = byProfile(chosen, readTokenFile) ?? byEnvironment();
  // A token that the environment has for another server opens nothing of this profile.
  return chosen !== undefined && named !== undefined && serverOf(named.origin) !== serverOf(chosen.base_url)
    ? undefined
    : named;
}

/** One text for each spelling of a server of this machine. */
export function serverOf(address: string): string {
  const { protocol, hostname, port } = new URL(address);
  return `${protocol}//${LOOPBACK.has(hostname) ? 'localhost' : hostname}:${port}`;
}

function namedByVariables(env: Environment, readTokenFile: Naming['readTokenFile']): NamedSandbox | undefined {
  const { [URL_VARIABLE]: url, [TOKEN_VARIABLE]: token, [FILE_VARIABLE]: file } = env;
  if (url === undefined && token === undefined && file === undefined) return undefined;
  refuseEmptyVariables(env);
  if (token !== undefined && file !== undefined) throw twice();
  const variable = token === undefined ? FILE_VARIABLE : TOKEN_VARIABLE;
  // A half-set pair must not steer the sandbox of this user by mistake.
  if (url === undefined) throw halfNamed(variable, URL_VARIABLE);
  const read = secretOf(token, file, readTokenFile);
  if (read === undefined) throw halfNamed(URL_VARIABLE, `${TOKEN_VARIABLE} or ${FILE_VARIABLE}`);
  return { ...placeOf(url), namedBy: URL_VARIABLE, token: read, variables: [URL_VARIABLE, variable] };
}

function secretOf(
  token: string | undefined,
  file: string | undefined,
  readTokenFile: Naming['readTokenFile'],
): (() => Promise<Secret>) | undefined {
  if (token !== undefined) return async () => new Secret(token);
  return file === undefined ? undefined : async () => tokenIn(await readTokenFile(file), file);
}

function byProfile(profile: Profile | undefined, readTokenFile: Naming['readTokenFile']): NamedSandbox | undefined {
  const file = profile?.settings.sandbox_token_file;
  if (profile === undefined || file === undefined) return undefined;
  if (profile.mode === 'live') throw liveProfile(profile.name);
  return {
    ...placeOf(profile.base_url),
    namedBy: `profile ${profile.name}`,
    token: async () => tokenIn(await readTokenFile(file), file),
  };
}

/** The address of the service is taken too: its version is no part of the control surface's. */
function placeOf(address: string): Pick<NamedSandbox, 'origin' | 'baseUrl'> {
  const { origin, href } = checkBaseUrl(`${address.replace(/\/(?:v1\/?)?$/, '')}${ADMIN_PATH}`, 'test');
  return { origin, baseUrl: href };
}

/** Throws `usage` for a text that is no token. */
export function tokenIn(text: string, file: string): Secret {
  const token = text.replace(/\r?\n$/, '');
  if (/^[\x21-\x7e]{16,512}$/.test(token)) return new Secret(token);
  throw new CliError('usage', {
    message: `${file} holds no token of a sandbox: one line of at least 16 visible characters`,
    hint: 'cardwright help environment',
    outcome: 'not_sent',
  });
}

function twice(): CliError {
  return new CliError('usage', {
    message: `${TOKEN_VARIABLE} and ${FILE_VARIABLE} are both set; set one of them`,
    hint: `unset ${TOKEN_VARIABLE}`,
    outcome: 'not_sent',
  });
}

function halfNamed(given: string, missing: string): CliError {
  return new CliError('not_authenticated', {
    message: `${given} is set without ${missing}: address and token name a sandbox together`,
    hint: 'cardwright help environment',
    outcome: 'not_sent',
  });
}

function liveProfile(name: string): CliError {
  return new CliError('guarded', {
    message: `profile ${name} has a live key and the setting sandbox_token_file: a sandbox takes no live key`,
    hint: `cardwright profiles set ${name} sandbox_token_file none`,
    outcome: 'not_sent',
  });
}
