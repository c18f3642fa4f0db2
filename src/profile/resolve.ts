/**
 * Which profile a run acts as: flags, environment, the current profile, in the order of
 * docs/design/cli.md, "Keys and profiles".
 */
import { CliError, notSent, usage } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import type { Secret } from '../core/secret.ts';
import { refuseEmptyVariables } from '../core/setting-names.ts';
import type { Environment } from '../platform/host.ts';
import { checkBaseUrl, checkProfileName, type KeyMode, keyMode, readKey, unknownProfile } from './parts.ts';
import type { Profile } from './profile-file.ts';
import type { ProfileSettings } from './settings.ts';
import type { ProfileStore } from './store.ts';

/** How the key comes: as the profile says, from `CARDWRIGHT_API_KEY` or `CARDWRIGHT_API_KEY_FILE`, or none is needed. */
type KeySource = Profile['key_source'] | 'environment' | 'embedded';

/** Who this call acts as, and why. */
export interface ResolvedProfile {
  /** `sandbox`, `env` for a key of the environment, or the saved name. `--live` must name it. */
  readonly name: string;
  readonly mode: 'sandbox' | KeyMode;
  /** Without a slash at the end; undefined for the embedded sandbox. */
  readonly baseUrl: string | undefined;
  readonly keySource: KeySource;
  /** Where the key itself is, for people: a variable's name, a path, `keychain`, a command's program. */
  readonly keyHome: string;
  /** Opens the key; throws `internal` for the sandbox, which has its own. */
  readonly key: () => Promise<Secret>;
  readonly keyHint: string | undefined;
  /** What decided: `--profile`, `--sandbox`, a variable's name, `current profile` or `default on a terminal`. */
  readonly chosenBy: string;
  /** Variables of the environment that name address and key, where it is they that do. */
  readonly variables?: readonly string[];
  readonly contractFile: string | undefined;
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

export interface ResolveInput extends ProfileChoice {
  /** Standard input and standard error are terminals. */
  readonly interactive: boolean;
  readonly readKeyFile: (path: string) => Promise<string>;
}

type Question = ResolveInput & { readonly variables: ReturnType<typeof readVariables> };

interface Choice {
  readonly name: string;
  readonly chosenBy: string;
}

/**
 * Who we are, in the order of docs/design/cli.md, "Keys and profiles". Throws `usage` for contradicting choices,
 * `not_authenticated` when nothing chooses, `not_found` for an unknown profile, `guarded` when a key would go to
 * another origin than its own or a live key is forbidden. Nothing is read from the working folder.
 */
export async function resolveProfile(input: ResolveInput): Promise<ResolvedProfile> {
  const question: Question = { ...input, variables: readVariables(input.env) };
  const choice = await choiceOf(input);
  if (choice === undefined && !input.interactive)
    throw notSent(
      'not_authenticated',
      'no profile chosen: use --sandbox (for good: cardwright profiles use sandbox), or set CARDWRIGHT_API_KEY and CARDWRIGHT_BASE_URL, or run cardwright login and name its profile with --profile',
      'cardwright help environment',
    );
  const { name, chosenBy } = choice ?? { name: 'sandbox', chosenBy: 'default on a terminal' };
  const resolve = name === 'env' ? environment : name === 'sandbox' ? sandbox : saved;
  const resolved = await resolve(question, { name, chosenBy });
  if (resolved.mode === 'live' && question.variables.testOnly) {
    throw notSent(
      'guarded',
      `CARDWRIGHT_TEST_ONLY forbids live keys, and ${resolved.name} has one`,
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
  if (choice === undefined || choice.name === 'env' || choice.name === 'sandbox') return undefined;
  return lookedUp(await input.store(), choice);
}

/** What chooses the profile; undefined where nothing does. */
async function choiceOf({ flags, env, store }: ProfileChoice): Promise<Choice | undefined> {
  const { key, keyFile, profile } = readVariables(env);
  const named = namedByFlags(flags);
  if (named !== undefined) return named;
  if (key !== undefined) return { name: 'env', chosenBy: 'CARDWRIGHT_API_KEY' };
  if (keyFile !== undefined) return { name: 'env', chosenBy: 'CARDWRIGHT_API_KEY_FILE' };
  const chosenBy = 'CARDWRIGHT_PROFILE';
  if (profile !== undefined) return { name: of(chosenBy, () => checkProfileName(profile)), chosenBy };
  const { current } = (await store()).file;
  return current === undefined ? undefined : { name: current, chosenBy: 'current profile' };
}

function lookedUp({ file }: Pick<ProfileStore, 'file'>, { name, chosenBy }: Choice): Profile {
  const found = file.profiles.get(name);
  if (found === undefined) throw unknownProfile(name, ` (named by ${chosenBy})`);
  return found;
}

/** The `CARDWRIGHT_` variables that take part; none is empty. */
function readVariables(env: Environment) {
  refuseEmptyVariables(env);
  return {
    key: env['CARDWRIGHT_API_KEY'],
    keyFile: env['CARDWRIGHT_API_KEY_FILE'],
    baseUrl: env['CARDWRIGHT_BASE_URL'],
    profile: env['CARDWRIGHT_PROFILE'],
    contract: env['CARDWRIGHT_CONTRACT'],
    // A guard errs to the safe side: only a clear no turns it off.
    testOnly: !['0', 'false'].includes(env['CARDWRIGHT_TEST_ONLY'] ?? '0'),
  };
}

function namedByFlags({ profile, sandbox }: ResolveInput['flags']): Choice | undefined {
  const name = profile === undefined ? undefined : checkProfileName(profile);
  if (sandbox !== true) return name === undefined ? undefined : { name, chosenBy: '--profile' };
  if (name === undefined || name === 'sandbox') return { name: 'sandbox', chosenBy: '--sandbox' };
  throw usage(
    `--sandbox and --profile ${name} name two different profiles; give one of them`,
    'cardwright profiles list',
  );
}

async function saved(question: Question, choice: Choice): Promise<ResolvedProfile> {
  const store = await question.store();
  const profile = lookedUp(store, choice);
  const warnings = [...unusedKey(question, choice), ...unusedAddress(question, choice, profile)];
  return {
    ...choice,
    mode: profile.mode,
    baseUrl: profile.base_url,
    keySource: profile.key_source,
    keyHome: homeOf(profile, store.path),
    key: () => store.key(choice.name),
    keyHint: profile.hint,
    contractFile: contractFile(question) ?? profile.contract,
    settings: profile.settings,
    warnings,
  };
}

function sandbox(question: Question, choice: Choice): ResolvedProfile {
  const { baseUrl } = question.variables;
  const unused = baseUrl === undefined ? [] : ['CARDWRIGHT_BASE_URL is not used: the sandbox is built in'];
  return {
    ...choice,
    mode: 'sandbox',
    baseUrl: undefined,
    keySource: 'embedded',
    keyHome: 'new for each command; cards are kept in the data folder',
    key: () => Promise.reject(new CliError('internal', { message: 'the sandbox has no stored key' })),
    keyHint: undefined,
    contractFile: contractFile(question),
    settings: {},
    warnings: [...unusedKey(question, choice), ...unused],
  };
}

/** The key of the environment. */
async function environment(question: Question, choice: Choice): Promise<ResolvedProfile> {
  const { key, keyFile, baseUrl, profile } = question.variables;
  const variable = key === undefined ? 'CARDWRIGHT_API_KEY_FILE' : 'CARDWRIGHT_API_KEY';
  if (key !== undefined && keyFile !== undefined) {
    throw usage(
      'CARDWRIGHT_API_KEY and CARDWRIGHT_API_KEY_FILE are both set; set one of them',
      'unset CARDWRIGHT_API_KEY_FILE',
    );
  }
  const text = key ?? (keyFile === undefined ? undefined : await question.readKeyFile(keyFile));
  if (text === undefined) {
    const keptBack = profile === 'env' ? '; the programs of cards exec and cards lease are not given them' : '';
    throw incomplete(`profile env needs CARDWRIGHT_API_KEY or CARDWRIGHT_API_KEY_FILE${keptBack}`);
  }
  if (baseUrl === undefined) throw incomplete(`${variable} is set without CARDWRIGHT_BASE_URL`);
  const secret = of(variable, () => readKey(text));
  const mode = keyMode(secret);
  const address = of('CARDWRIGHT_BASE_URL', () => checkBaseUrl(baseUrl, mode));
  const warnings: string[] = [];
  if (profile !== undefined && profile !== '' && profile !== 'env') {
    const other = of('CARDWRIGHT_PROFILE', () => checkProfileName(profile));
    warnings.push(`${variable} overrides CARDWRIGHT_PROFILE: profile ${other} is not used`);
  }
  return {
    ...choice,
    mode,
    baseUrl: address.href,
    keySource: key === undefined ? 'key_file' : 'environment',
    keyHome: key === undefined ? `the key file ${keyFile}` : variable,
    key: () => Promise.resolve(secret),
    keyHint: secret.hint(),
    variables: ['CARDWRIGHT_BASE_URL', variable],
    contractFile: contractFile(question),
    settings: {},
    warnings,
  };
}

function homeOf({ key_source, file, command }: Profile, path: string): string {
  if (key_source === 'stored') return `the profile file ${path}`;
  if (key_source === 'key_file') return `the key file ${file}`;
  return key_source === 'key_command' ? `told by ${command?.[0]}` : 'the keychain of this system';
}

function contractFile({ flags, variables }: Question): string | undefined {
  if (flags.contract !== '') return flags.contract ?? variables.contract;
  throw usage('--contract needs the path of a file');
}

function unusedKey({ variables }: Question, { name, chosenBy }: Choice): string[] {
  const set = [variables.key && 'CARDWRIGHT_API_KEY', variables.keyFile && 'CARDWRIGHT_API_KEY_FILE'].filter(
    variable => variable !== undefined,
  );
  return set.map(variable => `${variable} is set and not used: ${chosenBy} chose profile ${name}`);
}

/**
 * A stored key goes to its own origin alone. A profile that a flag names wins with its own address, and the variable is
 * said; where nothing but the environment or a habit chose it, another address is no reason to follow, but to stop.
 */
function unusedAddress({ variables: { baseUrl } }: Question, { chosenBy }: Choice, profile: Profile): string[] {
  if (baseUrl === undefined) return [];
  if (chosenBy === '--profile') {
    const isSame = URL.canParse(baseUrl) && new URL(baseUrl).href.replace(/\/$/, '') === profile.base_url;
    return isSame ? [] : [`CARDWRIGHT_BASE_URL is not used: --profile names ${profile.name}, at ${profile.base_url}`];
  }
  const bound = checkBaseUrl(profile.base_url, profile.mode);
  const wanted = of('CARDWRIGHT_BASE_URL', () => checkBaseUrl(baseUrl, profile.mode));
  if (wanted.origin !== bound.origin) {
    throw notSent(
      'guarded',
      `the key of profile ${profile.name} is bound to ${bound.origin}, and CARDWRIGHT_BASE_URL names ${wanted.origin}`,
      'unset CARDWRIGHT_BASE_URL',
    );
  }
  if (wanted.href === bound.href) return [];
  return [`CARDWRIGHT_BASE_URL is not used: profile ${profile.name} has its own address ${bound.href}`];
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

const API_KEYS = ['CARDWRIGHT_API_KEY', 'CARDWRIGHT_API_KEY_FILE'];
const SANDBOX_TOKENS = ['CARDWRIGHT_SANDBOX_TOKEN', 'CARDWRIGHT_SANDBOX_TOKEN_FILE'];

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
    ...(handsKeys ? [] : SANDBOX_TOKENS),
    ...(isOtherAddress ? ['CARDWRIGHT_BASE_URL'] : []),
  ]);
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== undefined && !leftOut.has(name))),
    ...(identity !== undefined && { CARDWRIGHT_PROFILE: identity.profile }),
    ...(contract !== undefined && { CARDWRIGHT_CONTRACT: contract }),
  };
}
