/** Which profile a run acts as. */
import { CliError, notSent, usage } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import type { Secret } from '../core/secret.ts';
import type { Environment } from '../platform/host.ts';
import { checkBaseUrl, checkProfileName, keyMode, readKey, unknownProfile } from './parts.ts';
import type { Profile } from './profile-file.ts';
import type { ProfileSettings } from './settings.ts';
import type { ProfileStore } from './store.ts';

/** Who this call acts as, and why; `profile` is `sandbox`, `env` for a key of the environment, or the saved name. */
export interface ResolvedProfile extends Identity {
  /** Opens the key; throws `internal` for the sandbox, which has its own. */
  readonly key: () => Promise<Secret>;
  /** Variables of the environment that name address and key, where it is they that do. */
  readonly variables?: readonly string[];
  readonly settings: ProfileSettings;
  /** For stderr, one line each. */
  readonly warnings: readonly string[];
}

/** What a profile is chosen by. */
export interface ProfileChoice {
  readonly flags: { readonly profile?: string; readonly sandbox?: boolean; readonly contract?: string };
  readonly env: Environment;
  /** Opened only when a saved profile has to be looked up. */
  readonly store: () => Promise<Pick<ProfileStore, 'path' | 'file' | 'key'>>;
}

const API_KEYS = ['CARDWRIGHT_API_KEY', 'CARDWRIGHT_API_KEY_FILE'];

export interface ResolveInput extends ProfileChoice {
  /** Standard input and standard error are terminals. */
  readonly interactive: boolean;
  readonly readKeyFile: (path: string) => Promise<string>;
}

type Choice = Pick<Identity, 'profile' | 'chosenBy'>;

/**
 * Who we are, in the order of docs/design/cli.md, "Keys and profiles". Throws `usage` for contradicting choices,
 * `not_authenticated` when nothing chooses, `not_found` for an unknown profile, `guarded` when a key would go to
 * another origin than its own or a live key is forbidden. Nothing is read from the working folder.
 */
export async function resolveProfile(input: ResolveInput): Promise<ResolvedProfile> {
  const choice = await choiceOf(input);
  if (choice === undefined && !input.interactive)
    throw notSent(
      'not_authenticated',
      'no profile chosen: use --sandbox (for good: cardwright profiles use sandbox), or set CARDWRIGHT_API_KEY and CARDWRIGHT_BASE_URL, or run cardwright login and name its profile with --profile',
      'cardwright help environment',
    );
  const { profile, chosenBy } = choice ?? { profile: 'sandbox', chosenBy: 'default on a terminal' };
  const resolve = profile === 'env' ? environment : profile === 'sandbox' ? sandbox : saved;
  const resolved = await resolve(input, { profile, chosenBy });
  // A guard errs to the safe side: only a clear no turns it off.
  if (resolved.mode === 'live' && !['0', 'false'].includes(input.env['CARDWRIGHT_TEST_ONLY'] ?? '0')) {
    throw notSent(
      'guarded',
      `CARDWRIGHT_TEST_ONLY forbids live keys, and ${profile} has one`,
      'cardwright profiles list',
    );
  }
  return resolved;
}

/**
 * The saved profile that is chosen, without a look at its key; undefined for the sandbox, a key of the environment, and
 * where nothing chooses. Throws as `resolveProfile` does for a profile that is not there.
 */
export async function savedProfile(input: ProfileChoice): Promise<Profile | undefined> {
  const choice = await choiceOf(input);
  if (choice === undefined || choice.profile === 'env' || choice.profile === 'sandbox') return undefined;
  return lookedUp(await input.store(), choice);
}

/** What chooses the profile; undefined where nothing does. */
async function choiceOf({ flags, env, store }: ProfileChoice): Promise<Choice | undefined> {
  const named = namedByFlags(flags);
  if (named !== undefined) return named;
  const variable = API_KEYS.find(name => env[name] !== undefined);
  if (variable !== undefined) return { profile: 'env', chosenBy: variable };
  const [chosenBy, profile] = ['CARDWRIGHT_PROFILE', env['CARDWRIGHT_PROFILE']];
  if (profile !== undefined) return { profile: of(chosenBy, () => checkProfileName(profile)), chosenBy };
  const { current } = (await store()).file;
  return current === undefined ? undefined : { profile: current, chosenBy: 'current profile' };
}

function lookedUp({ file }: Pick<ProfileStore, 'file'>, { profile, chosenBy }: Choice): Profile {
  const found = file.profiles.get(profile);
  if (found === undefined) throw unknownProfile(profile, ` (named by ${chosenBy})`);
  return found;
}

function namedByFlags({ profile: name, sandbox }: ProfileChoice['flags']): Choice | undefined {
  const profile = name === undefined ? undefined : checkProfileName(name);
  if (sandbox !== true) return profile === undefined ? undefined : { profile, chosenBy: '--profile' };
  if (profile === undefined || profile === 'sandbox') return { profile: 'sandbox', chosenBy: '--sandbox' };
  throw usage(
    `--sandbox and --profile ${profile} name two different profiles; give one of them`,
    'cardwright profiles list',
  );
}

async function saved(input: ResolveInput, choice: Choice): Promise<ResolvedProfile> {
  const store = await input.store();
  const profile = lookedUp(store, choice);
  return {
    ...choice,
    mode: profile.mode,
    baseUrl: profile.base_url,
    keySource: profile.key_source,
    keyHome: homeOf(profile, store.path),
    key: () => store.key(profile.name),
    keyHint: profile.hint,
    contractFile: contractFile(input) ?? profile.contract,
    settings: profile.settings,
    warnings: [...unusedKey(input, choice), ...unusedAddress(input, choice, profile)],
  };
}

function sandbox(input: ResolveInput, choice: Choice): ResolvedProfile {
  const hasAddress = input.env['CARDWRIGHT_BASE_URL'] !== undefined;
  const unused = hasAddress ? ['CARDWRIGHT_BASE_URL is not used: the sandbox is built in'] : [];
  return {
    ...choice,
    mode: 'sandbox',
    baseUrl: 'embedded',
    keySource: 'embedded',
    keyHome: 'new for each command; cards are kept in the data folder',
    key: () => Promise.reject(new CliError('internal', { message: 'the sandbox has no stored key' })),
    keyHint: undefined,
    contractFile: contractFile(input),
    settings: {},
    warnings: [...unusedKey(input, choice), ...unused],
  };
}

/** The key of the environment. */
async function environment(input: ResolveInput, choice: Choice): Promise<ResolvedProfile> {
  const {
    CARDWRIGHT_API_KEY: key,
    CARDWRIGHT_API_KEY_FILE: keyFile,
    CARDWRIGHT_BASE_URL: baseUrl,
    CARDWRIGHT_PROFILE: profile = 'env',
  } = input.env;
  const variable = key === undefined ? 'CARDWRIGHT_API_KEY_FILE' : 'CARDWRIGHT_API_KEY';
  if (key !== undefined && keyFile !== undefined) {
    throw usage(
      'CARDWRIGHT_API_KEY and CARDWRIGHT_API_KEY_FILE are both set; set one of them',
      'unset CARDWRIGHT_API_KEY_FILE',
    );
  }
  const text = key ?? (keyFile === undefined ? undefined : await input.readKeyFile(keyFile));
  if (text === undefined) {
    const keptBack =
      input.env['CARDWRIGHT_PROFILE'] === 'env'
        ? '; the programs of cards exec and cards lease are not given them'
        : '';
    throw incomplete(`profile env needs CARDWRIGHT_API_KEY or CARDWRIGHT_API_KEY_FILE${keptBack}`);
  }
  if (baseUrl === undefined) throw incomplete(`${variable} is set without CARDWRIGHT_BASE_URL`);
  const secret = of(variable, () => readKey(text));
  const mode = keyMode(secret);
  const other = of('CARDWRIGHT_PROFILE', () => checkProfileName(profile));
  return {
    ...choice,
    mode,
    baseUrl: of('CARDWRIGHT_BASE_URL', () => checkBaseUrl(baseUrl, mode)).href,
    keySource: key === undefined ? 'key_file' : 'environment',
    keyHome: key === undefined ? `the key file ${keyFile}` : variable,
    key: () => Promise.resolve(secret),
    keyHint: secret.hint(),
    variables: ['CARDWRIGHT_BASE_URL', variable],
    contractFile: contractFile(input),
    settings: {},
    warnings: other === 'env' ? [] : [`${variable} overrides CARDWRIGHT_PROFILE: profile ${other} is not used`],
  };
}

function homeOf({ key_source, file, command }: Profile, path: string): string {
  if (key_source === 'stored') return `the profile file ${path}`;
  if (key_source === 'key_file') return `the key file ${file}`;
  return key_source === 'key_command' ? `told by ${command?.[0]}` : 'the keychain of this system';
}

function contractFile({ flags, env }: ResolveInput): string | undefined {
  if (flags.contract !== '') return flags.contract ?? env['CARDWRIGHT_CONTRACT'];
  throw usage('--contract needs the path of a file');
}

function unusedKey({ env }: ResolveInput, { profile, chosenBy }: Choice): string[] {
  const set = API_KEYS.filter(variable => env[variable] !== undefined);
  return set.map(variable => `${variable} is set and not used: ${chosenBy} chose profile ${profile}`);
}

/**
 * A stored key goes to its own origin alone. A profile that a flag names wins with its own address, and the variable is
 * said; where nothing but the environment or a habit chose it, another origin is no reason to follow, but to stop.
 */
function unusedAddress({ env }: ResolveInput, { chosenBy }: Choice, { name, mode, base_url }: Profile): string[] {
  const given = env['CARDWRIGHT_BASE_URL'];
  if (given === undefined) return [];
  if (chosenBy !== '--profile') {
    const [bound, wanted] = [new URL(base_url), of('CARDWRIGHT_BASE_URL', () => checkBaseUrl(given, mode))];
    if (wanted.origin !== bound.origin)
      throw notSent(
        'guarded',
        `the key of profile ${name} is bound to ${bound.origin}, and CARDWRIGHT_BASE_URL names ${wanted.origin}`,
        'unset CARDWRIGHT_BASE_URL',
      );
  }
  const isSame = URL.canParse(given) && new URL(given).href.replace(/\/$/, '') === base_url;
  return isSame ? [] : [`CARDWRIGHT_BASE_URL is not used: profile ${name} has its own address ${base_url}`];
}

/** Runs the check; its error says which variable it speaks of. */
function of<T>(variable: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof CliError ? error.with({ message: `${variable}: ${error.message}` }) : error;
  }
}

function incomplete(message: string): CliError {
  return notSent('not_authenticated', message, 'cardwright help environment');
}

interface ProgramAccount {
  /** Who the command acts as; undefined where nothing chose a profile. */
  readonly identity: Pick<Identity, 'profile' | 'baseUrl'> | undefined;
  /** Path of the overrides that an option named. */
  readonly contract: string | undefined;
  /** Whether the program gets the key and the token that the environment of the command has. */
  readonly handsKeys: boolean;
}

/**
 * The variables of `env`, with the profile of the command in `CARDWRIGHT_PROFILE`. A key, an address or a token that
 * would make another account of it is left out.
 */
export function programEnvironment(env: Environment, { identity, contract, handsKeys }: ProgramAccount): Environment {
  const isSaved = identity !== undefined && identity.profile !== 'env';
  const isOtherAddress = isSaved && env['CARDWRIGHT_BASE_URL']?.replace(/\/+$/, '') !== identity.baseUrl;
  const leftOut = new Set([
    'CARDWRIGHT_WEBHOOK_SECRET',
    // A key of the environment goes before CARDWRIGHT_PROFILE.
    ...(isSaved || !handsKeys ? API_KEYS : []),
    ...(handsKeys ? [] : ['CARDWRIGHT_SANDBOX_TOKEN', 'CARDWRIGHT_SANDBOX_TOKEN_FILE']),
    ...(isOtherAddress ? ['CARDWRIGHT_BASE_URL'] : []),
  ]);
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== undefined && !leftOut.has(name))),
    ...(identity !== undefined && { CARDWRIGHT_PROFILE: identity.profile }),
    ...(contract !== undefined && { CARDWRIGHT_CONTRACT: contract }),
  };
}
