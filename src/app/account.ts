/** Which account a run speaks for, which sandbox its simulations go to, and the saved profiles as commands see them. */
import { resolve as resolvePath } from 'node:path';
import type { SecureContext } from 'node:tls';
import type { ValueOf } from '../contract/field.ts';
import { orNull, tells } from '../contract/own-field.ts';
import { ADMIN_PATH } from '../contract/sandbox/basis.ts';
import { type CliError, notSent, undefinedOn, usage } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import type { FileDependencies } from '../files/private-files.ts';
import type { Whose } from '../id-cache/shown.ts';
import { isLimitName } from '../limits/limits.ts';
import { checkBaseUrl, checkProfileName, unknownProfile } from '../profile/parts.ts';
import type { Profile } from '../profile/profile-file.ts';
import type { ProfileChoice, ResolvedProfile } from '../profile/resolve.ts';
import type { ProfileSettings } from '../profile/settings.ts';
import type { NewKey } from '../profile/store.ts';
import type { Globals } from './globals.ts';
import type { AppHost } from './process-host.ts';

export type { NewKey };

/** What of a run tells whom it speaks for, and reads files of the user. */
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

async function secretFile(run: SpeakingRun, path: string, called: 'key file' | 'token file'): Promise<string> {
  const { platform, signal } = run.host;
  const { readKeyFile } = await import('../profile/store.ts');
  return readKeyFile(path, { platform, signal, called, warn: run.warn });
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

/** A place that is spoken to, and the key for it. */
export interface Where {
  readonly baseUrl: string;
  readonly socketPath?: string;
  readonly key: () => Promise<Secret>;
  /** Whom TLS trusts, in place of Node's own list. */
  readonly secureContext?: SecureContext | undefined;
  /** Variables of the environment that name the two. */
  readonly variables?: readonly string[] | undefined;
}

/** A control surface, with the admin token as its key. */
export interface NamedSandbox extends Where {
  /** Scheme, host and port. */
  readonly origin: string;
  /** What names it: `CARDWRIGHT_SANDBOX_URL`, or `profile ana`. */
  readonly namedBy: string;
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

/** The address of the service is taken too: its version is no part of the control surface's. */
function placeOf(address: string): Pick<NamedSandbox, 'origin' | 'baseUrl'> {
  const { origin, href } = checkBaseUrl(`${address.replace(/\/(?:v1\/?)?$/, '')}${ADMIN_PATH}`, 'test');
  return { origin, baseUrl: href };
}

/** Throws `usage` for a file that holds no token. */
async function tokenOf(run: SpeakingRun, file: string): Promise<Secret> {
  const token = (await secretFile(run, file, 'token file')).replace(/\r?\n$/, '');
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

/** Profiles as commands see them: never a key, only its hint. */
export const PROFILE_ROW = {
  name: tells.text('Name.'),
  current: tells.yes('Whether it is used when none is named.'),
  mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
  base_url: tells.text('Address of the service.'),
  key: tells.text('Prefix and last four characters of the key.'),
  key_source: tells.text('Where the key is kept.'),
  contract: orNull(tells.text('File of contract overrides.')),
  settings: tells.json<Readonly<Record<string, unknown>>>('Settings that differ from none.'),
} as const;
export type ProfileRow = ValueOf<typeof PROFILE_ROW>;

/** Opens the store of profiles. Throws `check_failed` for a damaged file, `guarded` for an unsafe one. */
export async function profilesFor(run: SpeakingRun) {
  const { host, warn } = run;
  const { openProfileStore } = await import('../profile/store.ts');
  const { checkSettingName, loosens, parseSetting, SETTINGS } = await import('../profile/settings.ts');
  const { forgetShown } = await import('../id-cache/shown.ts');
  const store = await openProfileStore(host, warn);
  const rowOf = (profile: Profile): ProfileRow => ({
    name: profile.name,
    current: store.file.current === profile.name,
    mode: profile.mode,
    base_url: profile.base_url,
    key: profile.hint,
    key_source: profile.key_source,
    contract: profile.contract ?? null,
    settings: { ...profile.settings },
  });
  /** The built-in profile, which is never saved. */
  const builtIn = (): ProfileRow => ({
    ...{ name: 'sandbox', mode: 'sandbox', base_url: 'embedded', key: 'none needed', key_source: 'embedded' },
    current: store.file.current === 'sandbox',
    contract: null,
    settings: {},
  });
  const get = async (name: string): Promise<ProfileRow> => {
    if (name === 'sandbox') return builtIn();
    const found = store.file.profiles.get(name);
    if (found) return rowOf(found);
    throw unknownProfile(checkProfileName(name));
  };
  return {
    get,
    list: async () => [...store.file.profiles.values()].map(rowOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
    /** Name of the current profile. */
    current: async () => store.file.current,
    async use(name: string) {
      await store.use(name);
      return get(name);
    },
    /** What `set` would do, as text, `none` where it is not set; whether it is of the limits, and allows more. Throws as `set`. */
    async foresee(name: string, setting: string, value: string) {
      const which = checkSettingName(setting);
      const row = await get(name);
      const typed = 'isPath' in SETTINGS[which] && value !== 'none' ? resolvePath(host.cwd, value) : value;
      const next = name === 'sandbox' ? undefined : parseSetting(which, typed);
      const settings = row.settings as ProfileSettings;
      const before =
        which === 'contract' ? (row.contract ?? undefined) : which === 'base_url' ? row.base_url : settings[which];
      return {
        before: String(before ?? 'none'),
        after: String(next ?? 'none'),
        isLimit: isLimitName(which) || loosens({ read_only: true }, which, 'other', undefined),
        loosens: loosens(settings, which, next, before),
      };
    },
    async set(name: string, setting: string, value: string) {
      if (name === 'sandbox') throw builtInStays('has no settings: its money is not real and its address is fixed');
      if (!('isPath' in SETTINGS[checkSettingName(setting)]) || value === 'none')
        return rowOf(await store.set(name, setting, value));
      await get(name);
      await checkFile(run, setting, value);
      return rowOf(await store.set(name, setting, resolvePath(host.cwd, value)));
    },
    /** Resolves to where its key still is, and why when it was ours to take away. */
    async remove(name: string) {
      if (name === 'sandbox') throw builtInStays('is always there');
      const remains = await store.remove(name);
      await forgetShown(host.folders.cache, name);
      return remains;
    },
    /** Saves a key under a name, or where it comes from; it becomes the current profile. Paths may be relative. */
    async login(name: string, baseUrl: string, key: NewKey) {
      const from = 'key_file' in key ? { key_file: resolvePath(host.cwd, key.key_file) } : key;
      const saved = await store.save({ name, base_url: baseUrl, ...from });
      await store.use(name);
      return rowOf(saved);
    },
  };
}

/** What reads the file of a setting. Each throws `usage` or `guarded` for a text that cannot be read. */
const READERS: Readonly<Record<string, () => Promise<(text: string, path: string) => unknown>>> = {
  contract: async () => (await import('../contract/overrides.ts')).readOverrides,
  policy: async () => (await import('../books/policy-file.ts')).readPolicy,
  approvers_file: async () => (await import('../approvals/request.ts')).readApprovers,
};

/** A file that a setting names is read at once, so that a fault is told to whoever can mend it. Throws `usage`. */
async function checkFile(run: SpeakingRun, setting: string, path: string): Promise<void> {
  const { cwd, readFile } = run.host;
  const file = resolvePath(cwd, path);
  if (setting === 'sandbox_token_file') await tokenOf(run, file);
  else (await READERS[setting]?.())?.(await readFile(file), path);
}

function builtInStays(why: string): CliError {
  return notSent('usage', `the built-in profile sandbox ${why}`, {
    notes: [
      'To try limits, serve the sandbox, which prints its address and its key file, and save a profile for it:',
      '  cardwright login --profile rehearsal --base-url <address> --key-file <key file>',
    ],
    hint: 'cardwright sandbox start --detach',
  });
}
