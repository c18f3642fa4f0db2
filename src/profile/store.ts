/**
 * The saved profiles on the disk: conf reads and writes them, under our lock and with our modes. Their keys are put into and
 * fetched from the profile file, a key file, a command or the keychain.
 */
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type Conf from 'conf';
import { CliError, notSent, usage } from '../core/errors.ts';
import { bytesWithin, KEY_TEXT_BYTES } from '../core/input-limits.ts';
import type { Secret } from '../core/secret.ts';
import { shellWord } from '../core/shell-quote.ts';
import { openReadable } from '../files/input-file.ts';
import {
  checkPrivateFolder,
  type FileDependencies,
  inOurWords,
  preparePrivateFolder,
  readPrivate,
  syncFolder,
} from '../files/private-files.ts';
import type { Host } from '../platform/host.ts';
import { outputOf } from '../platform/programs.ts';
import type { Keychain } from './keychain.ts';
import {
  checkBaseUrl,
  checkNewProfileName,
  checkProfileName,
  keyMode,
  quoted,
  readKey,
  unknownProfile,
} from './parts.ts';
import {
  FILE_NAME,
  type KeyPlace,
  NO_PROFILES,
  type Profile,
  type ProfileFile,
  parseProfileFile,
  profileFileText,
  profilePath,
  storedKey,
} from './profile-file.ts';
import { checkSettingName, isAbsolutePath, parseSetting, withSetting } from './settings.ts';

/** What to save. Paths are absolute; the first word of a command is the absolute path of its program. */
export type NewKey =
  /** In the profile file, or in the keychain. */
  | { readonly key: Secret; readonly keychain?: boolean }
  | { readonly key_file: string }
  | { readonly key_command: readonly string[] };

/** What of the host the profiles need. */
export type ProfileHost = Pick<Host, 'folders' | 'clock' | 'random' | 'platform' | 'env' | 'signal'> & {
  readonly keychain: () => Promise<Keychain>;
};

/** Where a key still is after it was forgotten. */
export interface Remains {
  readonly place: string;
  /** Why what was ours could not be taken away; undefined for a place that is the user's own. */
  readonly why?: string;
}

const LOCK_PATIENCE_MS = 10_000;

export type ProfileStore = Awaited<ReturnType<typeof openProfileStore>>;

/**
 * The saved profiles of this user; to open them writes nothing and makes no folder. Reading is from memory, as of opening or the
 * last write here; every write re-reads under a lock. Throws `check_failed` for a damaged file, which stays as it is, and `guarded`
 * for one that is unsafe, cannot be used or stays locked; names that are not saved throw `not_found`.
 */
export async function openProfileStore(host: ProfileHost, warn: (text: string) => void) {
  const { platform, random } = host;
  const folder = host.folders.config;
  const path = profilePath(folder);
  const around: FileDependencies = { platform, random, warn };
  const isThere = (await checkPrivateFolder(folder, around)) && (await readPrivate(path, around)) !== undefined;
  let file = isThere ? (await open()).get('file', NO_PROFILES) : NO_PROFILES;

  /** Adds a profile, or gives an existing one a new key and address while keeping its settings. */
  async function save(profile: NewKey & Pick<Profile, 'name' | 'base_url'>): Promise<Profile> {
    const name = checkNewProfileName(profile.name);
    // Judged first: a key is put nowhere before its address is known to be usable.
    if ('key' in profile) checkBaseUrl(profile.base_url, keyMode(readKey(profile.key.expose())));
    const place = await keep(name, profile);
    const base_url = checkBaseUrl(profile.base_url, place.mode).href;
    const replaced = file.profiles.get(name);
    if (replaced?.key_source === 'keychain' && place.key_source !== 'keychain') {
      const left = await forget(replaced);
      if (left) warn(`the key before this one may still be in ${left.place}: ${left.why}`);
    }
    return change(name, now => {
      const { mode, contract, settings: before = {} } = now.profiles.get(name) ?? {};
      // The leave to reveal unattended was given for another key's mode; limits are kept.
      const settings = mode === place.mode ? before : withSetting(before, 'allow_unattended_reveal', undefined);
      return { name, base_url, ...place, contract, settings };
    });
  }

  async function use(name: string): Promise<void> {
    if (checkProfileName(name) !== 'sandbox') existing(file, name);
    await update(now => {
      if (name !== 'sandbox') existing(now, name);
      return { ...now, current: name };
    });
  }

  /** Changes one setting. Throws `usage` for a bad value, `guarded` for another origin. */
  async function set(name: string, typed: string, text: string): Promise<Profile> {
    const setting = checkSettingName(typed);
    return change(name, now => {
      const profile = existing(now, name);
      const value = parseSetting(setting, text);
      if (setting === 'contract') return { ...profile, contract: value === undefined ? undefined : String(value) };
      if (setting !== 'base_url') {
        return { ...profile, settings: withSetting(profile.settings, setting, value) };
      }
      const { mode } = profile;
      const address = checkBaseUrl(text, mode);
      const bound = checkBaseUrl(profile.base_url, mode).origin;
      if (address.origin === bound) return { ...profile, base_url: address.href };
      throw notSent(
        'guarded',
        `the key of profile ${profile.name} is bound to ${bound}; another origin needs its key again`,
        `cardwright login --profile ${profile.name} --base-url ${shellWord(address.href)}`,
      );
    });
  }

  /**
   * Removes the profile. Resolves to where the key still is: a place of the user's own, or one that did not give it up.
   */
  async function remove(name: string): Promise<Remains | undefined> {
    const profile = existing(file, name);
    await update(now => {
      existing(now, name);
      const profiles = new Map([...now.profiles].filter(([other]) => other !== name));
      return now.current === name ? { current: undefined, profiles } : { ...now, profiles };
    });
    return forget(profile);
  }

  async function change(name: string, make: (now: ProfileFile) => Profile): Promise<Profile> {
    const next = await update(now => ({ ...now, profiles: new Map([...now.profiles, [name, make(now)]]) }));
    return existing(next, name);
  }

  async function update(make: (now: ProfileFile) => ProfileFile): Promise<ProfileFile> {
    await preparePrivateFolder(folder, around);
    const { withLock } = await import('../engine/lock.ts');
    return withLock(`${path}.lock`, { ...host, timeoutMs: LOCK_PATIENCE_MS }, () =>
      inOurWords(path, async () => {
        // Judged and repaired before conf follows the name: a symlink or a file of another user is refused here.
        await readPrivate(path, around);
        const conf = await open();
        const next = make(conf.get('file', NO_PROFILES));
        conf.set('file', next);
        await syncFolder(folder, platform);
        // Under the lock nobody else is writing: what looks unfinished was left by a process that was killed.
        for (const name of await readdir(folder))
          if (name.startsWith(`${basename(path)}.tmp-`)) await rm(join(folder, name), { force: true });
        file = next;
        return next;
      }),
    );
  }

  /** Home of conf, which reads, and writes whole beside the file. It takes no lock and judges no owner: we do. */
  async function open(): Promise<Conf<{ file: ProfileFile }>> {
    const { default: Conf } = await import('conf');
    try {
      return new Conf<{ file: ProfileFile }>({
        cwd: folder,
        configName: FILE_NAME,
        fileExtension: 'json',
        projectSuffix: '',
        configFileMode: 0o600,
        clearInvalidConfig: false,
        accessPropertiesByDotNotation: false,
        deserialize: text => ({ file: parseProfileFile(text) }),
        serialize: ({ file }) => profileFileText(file),
      });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      throw error.with({
        message: `the profile file ${path} is damaged: ${error.message}`,
        notes: ['Nothing was changed.', 'Repair the file, or remove it and log in again.'],
        hint: `rm ${shellWord(path)} && cardwright login`,
      });
    }
  }

  /** Puts the key where it was asked to be. */
  async function keep(name: string, wanted: NewKey): Promise<KeyPlace> {
    if ('key' in wanted) {
      const key = readKey(wanted.key.expose());
      return wanted.keychain === true ? inKeychain(name, key) : storedKey(key);
    }
    const from = 'key_file' in wanted ? wanted.key_file : wanted.key_command;
    const path = typeof from === 'string' ? from : (from[0] ?? '');
    if (!isAbsolutePath(path)) {
      throw usage(`a key file or key command is named by its absolute path, not ${quoted(path)}`);
    }
    const key = await tell(from);
    const seen = { mode: keyMode(key), hint: key.hint() };
    return typeof from === 'string'
      ? { key_source: 'key_file', file: from, ...seen }
      : { key_source: 'key_command', command: from, ...seen };
  }

  /** Throws `guarded` where the keychain did not keep it: who asked for it does not want the key in a file. */
  async function inKeychain(name: string, key: Secret): Promise<KeyPlace> {
    const chain = await host.keychain();
    // Two folders of profiles must not overwrite each other's keys.
    const account = `${name}@${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
    const problem = await chain.problem();
    const failed = problem ?? (await chain.write(account, key));
    if (failed === undefined) return { key_source: 'keychain', account, mode: keyMode(key), hint: key.hint() };
    const left = problem === undefined ? await chain.remove(account) : undefined;
    throw notSent('guarded', `the keychain of this system did not keep the key: ${failed}`, {
      notes: [
        'Nothing was saved. Without --keychain the key is kept in the profile file, which only you can read.',
        ...(left === undefined ? [] : [`A copy may be left in the keychain as ${account}: ${left}`]),
      ],
      hint: 'cardwright login --help',
    });
  }

  /** Opens the key. Throws `guarded` when it is of another mode than when it was saved. */
  async function key(name: string): Promise<Secret> {
    const profile = existing(file, name);
    const { key: stored, account, file: keyFile, command = [], mode } = profile;
    if (stored !== undefined) return stored;
    const key = account === undefined ? await tell(keyFile ?? command) : await fromKeychain(profile, account);
    if (keyMode(key) === mode) return key;
    throw notSent(
      'guarded',
      `profile ${name} was saved with a ${mode} key, and its key is now ${keyMode(key)}`,
      loginFor(profile),
    );
  }

  async function fromKeychain(profile: Profile, account: string): Promise<Secret> {
    const found = await (await host.keychain()).read(account);
    if (found !== undefined) return readKey(found.expose());
    throw notSent(
      'not_authenticated',
      `the key of profile ${profile.name} is no longer in the keychain`,
      `${loginFor(profile)} --keychain`,
    );
  }

  async function tell(from: string | readonly string[]): Promise<Secret> {
    if (typeof from === 'string') return readKey(await readKeyFile(from, { platform, warn, signal: host.signal }));
    // Commands run there, never in the working folder, which may belong to anybody.
    await preparePrivateFolder(folder, around);
    return readKey(await runKeyCommand(from, host));
  }

  /** Takes away what is kept outside the profile file and is ours. Resolves to where the key still is. */
  async function forget({ file: keyFile, command, account }: KeyPlace): Promise<Remains | undefined> {
    if (keyFile !== undefined) return { place: `the key file ${keyFile}` };
    if (command !== undefined) return { place: `what ${quoted(command[0] ?? '')} reads` };
    const why = account === undefined ? undefined : await (await host.keychain()).remove(account);
    return why === undefined ? undefined : { place: `the keychain of this system as ${account}`, why };
  }

  return {
    path,
    get file(): ProfileFile {
      return file;
    },
    key,
    save,
    use,
    set,
    remove,
  };
}

function existing(file: ProfileFile, name: string): Profile {
  const found = file.profiles.get(checkNewProfileName(name));
  if (found !== undefined) return found;
  throw unknownProfile(name);
}

/** A login asks for what it is not told, and a profile does not tell it its address. */
function loginFor({ name, base_url: address }: Profile): string {
  return `cardwright login --profile ${shellWord(name)} --base-url ${shellWord(address)}`;
}

// Keys from a file that the user names.

interface KeyFileDependencies extends Pick<FileDependencies, 'platform' | 'warn'> {
  /** What the file is called in errors; `key file` when left out. */
  readonly called?: string;
  /** Ends the waiting for a pipe; its reason is thrown. */
  readonly signal: AbortSignal;
}

/**
 * The text of a key file somebody named. Symlinks and pipes are fine here (mounted secrets, `<(command)`); what
 * everybody may read or write is not. Throws `guarded` for that, `not_authenticated` when there is no such file.
 */
export async function readKeyFile(given: string, around: KeyFileDependencies): Promise<string> {
  const { called = 'key file', platform, warn, signal } = around;
  const named = `the ${called} ${quoted(given, 1024)}`;
  const refused = (why: string, hint = 'cardwright help environment') => notSent('guarded', `${named} ${why}`, hint);
  return inOurWords(named, async () => {
    await using file = await openReadable(given, signal).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      const message = `there is no ${named.slice('the '.length)}`;
      throw new CliError('not_authenticated', { message, hint: 'cardwright help environment' });
    });
    if (platform !== 'win32' && (file.mode & 0o006) !== 0)
      throw refused('is open to everybody', `chmod 600 ${shellWord(given)}`);
    if (platform !== 'win32' && (file.mode & 0o060) !== 0) warn(`${named} is open to its group`);
    const bytes = await bytesWithin(file.pieces, KEY_TEXT_BYTES);
    if (bytes === undefined) throw refused('is too large for a key');
    return bytes.toString('utf8');
  });
}

// Keys that a program of the user prints, such as a password manager.

/** Password managers may ask their user something first. */
const PATIENCE_MS = 60_000;

/**
 * What a `key_command` prints. No shell, an absolute program, none of our own variables in its environment
 * (docs/design/security.md, E13, E18). Throws `not_authenticated` without its output when it fails, prints too much or
 * takes longer than a minute.
 */
async function runKeyCommand(command: readonly string[], { clock, folders, env: all }: ProfileHost): Promise<string> {
  const [program = ''] = command;
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('CARDWRIGHT_')));
  try {
    return await outputOf(command, {
      cwd: folders.config,
      env,
      clock,
      patienceMs: PATIENCE_MS,
      maxBuffer: KEY_TEXT_BYTES,
    });
  } catch (thrown) {
    const { code, signal, syscall } = thrown as NodeJS.ErrnoException & { readonly signal?: string | null };
    const why = () => {
      if (code === 'ABORT_ERR') return 'did not answer within a minute';
      if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'prints too much';
      return syscall?.startsWith('spawn')
        ? `cannot be started (${code})`
        : `ended with ${signal ?? `exit code ${code}`}`;
    };
    throw new CliError('not_authenticated', {
      message: `the key command ${quoted(program, 1024)} ${why()}`,
      notes: ['Run it yourself to see what it says.'],
      hint: 'cardwright profiles list',
    });
  }
}
