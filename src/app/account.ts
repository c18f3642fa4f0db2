/** Which account a run speaks for, and which sandbox its simulations go to; what is kept of them for completion. */
import { resolve as resolvePath } from 'node:path';
import { ADMIN_PATH } from '../contract/sandbox/basis.ts';
import { notSent, undefinedOn, usage } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import { refuseEmptyVariables } from '../core/variables.ts';
import type { FileDependencies } from '../files/private-files.ts';
import type { Whose } from '../id-cache/shown.ts';
import { checkBaseUrl } from '../profile/parts.ts';
import type { Profile } from '../profile/profile-file.ts';
import type { ProfileChoice, ResolvedProfile } from '../profile/resolve.ts';
import type { Globals } from './globals.ts';
import type { AppHost } from './process-host.ts';

/** What of a run tells whom it speaks for. */
interface SpeakingRun {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly files: FileDependencies;
  readonly notice: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** The profile that the run acts as; says on stderr what a person must know of it. Throws as `resolveProfile`. */
export async function resolve(run: SpeakingRun): Promise<ResolvedProfile> {
  const { host, notice, warn } = run;
  const { stdin, stderr } = host.streams;
  const resolved = await chosenProfile(run, stdin.isTerminal && stderr.isTerminal);
  for (const warning of resolved.warnings) warn(warning);
  if (resolved.mode === 'live') notice(`LIVE · ${resolved.profile}`);
  if (resolved.chosenBy === 'default on a terminal') notice('sandbox · no profile chosen; nothing here is real money');
  return resolved;
}

async function chosenProfile(run: SpeakingRun, interactive: boolean): Promise<ResolvedProfile> {
  const { resolveProfile } = await import('../profile/resolve.ts');
  const readKeyFile = (path: string) => secretFile(run, path, 'key file');
  return resolveProfile({ ...choiceOf(run), interactive, readKeyFile });
}

/** What chooses a profile. */
function choiceOf({ host, globals, warn }: SpeakingRun): ProfileChoice {
  const { sandbox, profile, contract } = globals;
  return {
    flags: { sandbox, ...(profile !== undefined && { profile }), ...(contract !== undefined && { contract }) },
    env: host.env,
    async store() {
      const { openProfileStore } = await import('../profile/store.ts');
      return openProfileStore(host, warn);
    },
  };
}

async function secretFile(
  { host, warn }: SpeakingRun,
  path: string,
  called: 'key file' | 'token file',
): Promise<string> {
  const { readKeyFile } = await import('../profile/keys.ts');
  const { platform, signal } = host;
  return readKeyFile(path, { platform, signal, called, warn });
}

const URL_VARIABLE = 'CARDWRIGHT_SANDBOX_URL';
const TOKEN_VARIABLE = 'CARDWRIGHT_SANDBOX_TOKEN';
const FILE_VARIABLE = 'CARDWRIGHT_SANDBOX_TOKEN_FILE';

/** Throws `guarded` where the requests of the run go to a test server that is not the sandbox of this machine. */
export async function checkSandboxIsMeant(run: SpeakingRun): Promise<void> {
  if (run.globals.sandbox) return;
  const profile = await undefinedOn('not_authenticated', chosenProfile(run, false));
  if (profile?.mode !== 'test') return;
  const { findServer } = await import('../sandbox/serving/started.ts');
  const served = await findServer(run.host.folders.data, run.files);
  const { profile: name, baseUrl, variables } = profile;
  if (new URL(baseUrl).origin === served?.origin) return;
  const [missing, remedy] =
    variables === undefined
      ? [`profile ${name} has no sandbox_token_file`, `cardwright profiles set ${name} sandbox_token_file PATH`]
      : [`${URL_VARIABLE} and ${FILE_VARIABLE} are not set`, `set ${URL_VARIABLE} and ${FILE_VARIABLE}`];
  throw notSent(
    'guarded',
    `requests go to ${baseUrl}, and nothing opens the control surface of a sandbox there: ${missing}`,
    {
      notes: [`For the sandbox there: ${remedy}`, 'For the sandbox of this machine: the same with --sandbox'],
      hint: 'cardwright --sandbox sandbox status',
    },
  );
}

export interface NamedSandbox {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Base address of its control surface. */
  readonly baseUrl: string;
  /** What names it: `CARDWRIGHT_SANDBOX_URL`, or `profile ana`. */
  readonly namedBy: string;
  /** Its admin token. */
  readonly key: () => Promise<Secret>;
  /** Variables of the environment that name it, where they do. */
  readonly variables?: readonly string[];
}

/**
 * The sandbox elsewhere that the run steers; undefined for the one of this machine, which `--sandbox` names whatever the
 * environment says. Throws `not_authenticated` for half a pair of variables, `usage` for an address or a token that is none.
 */
export async function namedElsewhere(run: SpeakingRun): Promise<NamedSandbox | undefined> {
  const { sandbox, profile: flag } = run.globals;
  if (sandbox || flag === 'sandbox') return undefined;
  // A token that the environment has may be for another server than that of a profile which is named.
  const named = flag === undefined ? namedByVariables(run) : undefined;
  if (named !== undefined) return named;
  const { savedProfile } = await import('../profile/resolve.ts');
  return byProfile(run, await savedProfile(choiceOf(run)));
}

function namedByVariables(run: SpeakingRun): NamedSandbox | undefined {
  const { env } = run.host;
  const { [URL_VARIABLE]: url, [TOKEN_VARIABLE]: token, [FILE_VARIABLE]: file } = env;
  if (url === undefined && token === undefined && file === undefined) return undefined;
  refuseEmptyVariables(env);
  if (token !== undefined && file !== undefined)
    throw usage(`${TOKEN_VARIABLE} and ${FILE_VARIABLE} are both set; set one of them`, `unset ${TOKEN_VARIABLE}`);
  const variable = token === undefined ? FILE_VARIABLE : TOKEN_VARIABLE;
  // A half-set pair must not steer the sandbox of this user by mistake.
  if (url === undefined || (token === undefined && file === undefined)) {
    const [given, missing] =
      url === undefined ? [variable, URL_VARIABLE] : [URL_VARIABLE, `${TOKEN_VARIABLE} or ${FILE_VARIABLE}`];
    const message = `${given} is set without ${missing}: address and token name a sandbox together`;
    throw notSent('not_authenticated', message, 'cardwright help environment');
  }
  const key = async () => (token === undefined ? tokenOf(run, file ?? '') : new Secret(token));
  return { ...placeOf(url), namedBy: URL_VARIABLE, key, variables: [URL_VARIABLE, variable] };
}

function byProfile(run: SpeakingRun, profile: Profile | undefined): NamedSandbox | undefined {
  const file = profile?.settings.sandbox_token_file;
  if (profile === undefined || file === undefined) return undefined;
  const { name, mode, base_url } = profile;
  if (mode === 'live')
    throw notSent(
      'guarded',
      `profile ${name} has a live key and the setting sandbox_token_file: a sandbox takes no live key`,
      `cardwright profiles set ${name} sandbox_token_file none`,
    );
  return { ...placeOf(base_url), namedBy: `profile ${name}`, key: () => tokenOf(run, file) };
}

async function tokenOf(run: SpeakingRun, file: string): Promise<Secret> {
  return tokenIn(await secretFile(run, file, 'token file'), file);
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
  throw usage(
    `${file} holds no token of a sandbox: one line of at least 16 visible characters`,
    'cardwright help environment',
  );
}

/** What is seen with another key, address or contract, or in another dialect, is another's. */
export function whoseOf(host: AppHost, profile: ResolvedProfile): Whose {
  const { mode, baseUrl, keyHint, contractFile } = profile;
  const dialect = mode === 'sandbox' ? host.env['CARDWRIGHT_SANDBOX_DIALECT'] : undefined;
  const contract = contractFile === undefined ? undefined : resolvePath(host.cwd, contractFile);
  const parts = [mode, baseUrl, keyHint, contract, dialect];
  return { profile: profile.profile, place: JSON.stringify(parts.map(part => part ?? null)) };
}
