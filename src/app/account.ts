/** Which account a run speaks for, and which sandbox its simulations go to. */
import type { Globals } from '../cli/parsing/globals.ts';
import type { SandboxAdmin } from '../contract/sandbox/admin-calls.ts';
import { ADMIN_PATH } from '../contract/sandbox/basis.ts';
import { CliError, notSent, usage } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import { Secret } from '../core/secret.ts';
import { refuseEmptyVariables } from '../core/setting-names.ts';
import type { Environment, Randomness } from '../platform/host.ts';
import { checkBaseUrl } from '../profile/parts.ts';
import type { Profile } from '../profile/profile-file.ts';
import type { ProfileChoice, ResolvedProfile } from '../profile/resolve.ts';
import type { AppHost } from './process-host.ts';

/** What a run knows before anything is chosen. */
interface Choosing {
  readonly host: AppHost;
  readonly globals: Globals;
  readonly notice: (text: string) => void;
}

/** Whether it was thrown because nothing chooses a profile. */
export function isNothingChosen(thrown: unknown): boolean {
  return thrown instanceof CliError && thrown.kind === 'not_authenticated';
}

/** The profile that the run acts as; says on stderr what a person must know of it. Throws as `resolveProfile`. */
export async function resolve(settings: Choosing & { readonly isAboutAll: () => boolean }): Promise<ResolvedProfile> {
  const { resolveProfile } = await import('../profile/resolve.ts');
  const { host, notice } = settings;
  const { stdin, stderr } = host.streams;
  const resolved = await resolveProfile({
    ...choiceOf(settings),
    interactive: stdin.isTerminal && stderr.isTerminal,
    readKeyFile: path => secretFile(settings, path, 'key file'),
  });
  for (const warning of resolved.warnings) notice(`warning: ${warning}`);
  if (resolved.mode === 'live') notice(`LIVE · ${resolved.name}`);
  if (resolved.chosenBy === 'default on a terminal' && !settings.isAboutAll())
    notice('sandbox · no profile chosen; nothing here is real money');
  return resolved;
}

/** Throws `guarded` where the sandbox of this machine is not the one that the requests of the run go to. */
export async function checkSandboxIsMeant(settings: Choosing): Promise<void> {
  const { host, globals } = settings;
  if (globals.sandbox) return;
  await checkIsMeant({
    profile: await silently(settings),
    async served() {
      const { findServer } = await import('../sandbox/serving/find-server.ts');
      const { platform, noise: random, folders } = host;
      return (await findServer(folders.data, { platform, random, warn: () => undefined }))?.origin;
    },
  });
}

/** Throws `guarded` where the key of the run is not of the account that the token of `named` opens. */
export async function checkKeyIsOf(
  named: NamedSandbox,
  { settings, admin }: { readonly settings: Choosing; readonly admin: () => Promise<SandboxAdmin> },
): Promise<void> {
  await checkOneAccount({ profile: await silently(settings), named, admin, random: settings.host.random });
}

/** The profile that the run acts as, without a word of it; undefined where nothing chooses one. */
async function silently(settings: Choosing): Promise<ResolvedProfile | undefined> {
  const { resolveProfile } = await import('../profile/resolve.ts');
  const readKeyFile = (path: string) => secretFile(settings, path, 'key file');
  const chosen = resolveProfile({ ...choiceOf(settings), interactive: false, readKeyFile });
  return chosen.catch(thrown => (isNothingChosen(thrown) ? undefined : Promise.reject(thrown)));
}

/** What chooses a profile. */
function choiceOf({ host, globals, notice }: Choosing): ProfileChoice {
  return {
    flags: {
      sandbox: globals.sandbox,
      ...(globals.profile === undefined ? {} : { profile: globals.profile }),
      ...(globals.contract === undefined ? {} : { contract: globals.contract }),
    },
    env: host.env,
    async store() {
      const { openProfileStore } = await import('../profile/store.ts');
      return openProfileStore(host, warning => notice(`warning: ${warning}`));
    },
  };
}

async function secretFile(
  { host, notice }: Choosing,
  path: string,
  called: 'key file' | 'token file',
): Promise<string> {
  const { readKeyFile } = await import('../profile/keys.ts');
  const { platform, clock, signal } = host;
  return readKeyFile(path, { platform, clock, signal, called, warn: warning => notice(`warning: ${warning}`) });
}

/** The sandbox elsewhere that the run steers; undefined for the one of this machine. Throws as `namedSandbox`. */
export async function namedElsewhere(settings: Choosing): Promise<NamedSandbox | undefined> {
  const { host, globals } = settings;
  const isOwn = globals.sandbox || globals.profile === 'sandbox';
  return namedSandbox({
    flag: isOwn ? 'sandbox' : globals.profile === undefined ? undefined : 'profile',
    env: host.env,
    readTokenFile: path => secretFile(settings, path, 'token file'),
    async profile() {
      const { savedProfile } = await import('../profile/resolve.ts');
      return savedProfile(choiceOf(settings));
    },
  });
}

/** What is told of the profile. */
export function identityOf(resolved: ResolvedProfile): Identity {
  const { name, mode, baseUrl, chosenBy, keyHint, keySource, keyHome, contractFile } = resolved;
  return { profile: name, mode, baseUrl: baseUrl ?? 'embedded', chosenBy, keyHint, keySource, keyHome, contractFile };
}

interface KeyAndToken {
  /** The profile that the run acts as; undefined where none is chosen. */
  readonly profile: ResolvedProfile | undefined;
  readonly named: NamedSandbox;
  readonly admin: () => Promise<SandboxAdmin>;
  readonly random: Randomness;
}

const NONCE_BYTES = 16;

/** Throws `guarded` where the account that the token opens does not have the key, and what the control surface throws. */
async function checkOneAccount({ profile, named, admin, random }: KeyAndToken): Promise<void> {
  if (profile === undefined || profile.mode !== 'test' || profile.baseUrl === undefined) return;
  if (serverOf(profile.baseUrl) !== serverOf(named.origin)) return;
  const key = await ifReadable(profile.key);
  if (key === undefined) return;
  const nonce = Buffer.from(random.bytes(NONCE_BYTES)).toString('hex');
  const { result } = await (await admin()).send('dialect.show', { nonce });
  if (!result.stated_for) return;
  const { isStated } = await import('./stated-for-key.ts');
  if (isStated(key, { said: result, nonce })) return;
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
  return notSent(
    'guarded',
    `the key of ${whose} and the token of ${named.namedBy} are of different accounts of ${named.origin}`,
    {
      notes: [
        'Cards would be made in one account, and commands of the sandbox would change the other',
        'To steer the account of the token alone: set CARDWRIGHT_SANDBOX_URL, CARDWRIGHT_SANDBOX_TOKEN_FILE and CARDWRIGHT_PROFILE=sandbox, and no API key',
      ],
      hint:
        named.variables === undefined
          ? `cardwright profiles set ${profile.name} sandbox_token_file PATH`
          : 'cardwright help environment',
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
async function namedSandbox({ flag, env, readTokenFile, profile }: Naming): Promise<NamedSandbox | undefined> {
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
function serverOf(address: string): string {
  const { protocol, hostname, port } = new URL(address);
  return `${protocol}//${LOOPBACK.has(hostname) ? 'localhost' : hostname}:${port}`;
}

function namedByVariables(env: Environment, readTokenFile: Naming['readTokenFile']): NamedSandbox | undefined {
  const { [URL_VARIABLE]: url, [TOKEN_VARIABLE]: token, [FILE_VARIABLE]: file } = env;
  if (url === undefined && token === undefined && file === undefined) return undefined;
  refuseEmptyVariables(env);
  if (token !== undefined && file !== undefined)
    throw usage(`${TOKEN_VARIABLE} and ${FILE_VARIABLE} are both set; set one of them`, `unset ${TOKEN_VARIABLE}`);
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
  if (profile.mode === 'live')
    throw notSent(
      'guarded',
      `profile ${profile.name} has a live key and the setting sandbox_token_file: a sandbox takes no live key`,
      `cardwright profiles set ${profile.name} sandbox_token_file none`,
    );
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
  throw usage(
    `${file} holds no token of a sandbox: one line of at least 16 visible characters`,
    'cardwright help environment',
  );
}

function halfNamed(given: string, missing: string): CliError {
  return notSent(
    'not_authenticated',
    `${given} is set without ${missing}: address and token name a sandbox together`,
    'cardwright help environment',
  );
}

interface Meant {
  /** The profile that the run acts as; undefined where none is chosen. A live one is no sandbox. */
  readonly profile: ResolvedProfile | undefined;
  /** Scheme, host and port of the server that serves the sandbox of this machine, if one does. */
  readonly served: () => Promise<string | undefined>;
}

/** Throws `guarded` where the requests of the run go to a test server that is not the sandbox of this machine. */
async function checkIsMeant({ profile, served }: Meant): Promise<void> {
  if (profile === undefined || profile.mode !== 'test' || profile.baseUrl === undefined) return;
  const { name, baseUrl, variables } = profile;
  if (new URL(baseUrl).origin === (await served())) return;
  const [missing, remedy] =
    variables === undefined
      ? [`profile ${name} has no sandbox_token_file`, `cardwright profiles set ${name} sandbox_token_file PATH`]
      : [`${ADDRESS} and ${TOKEN_FILE} are not set`, `set ${ADDRESS} and ${TOKEN_FILE}`];
  throw notSent(
    'guarded',
    `requests go to ${baseUrl}, and nothing opens the control surface of a sandbox there: ${missing}`,
    {
      notes: [`For the sandbox there: ${remedy}`, 'For the sandbox of this machine: the same with --sandbox'],
      hint: 'cardwright --sandbox sandbox status',
    },
  );
}

const ADDRESS = 'CARDWRIGHT_SANDBOX_URL';
const TOKEN_FILE = 'CARDWRIGHT_SANDBOX_TOKEN_FILE';
