/** The saved profiles on the disk: conf reads and writes them, under our lock and with our modes. */
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type Conf from 'conf';
import { type CliError, notSent } from '../core/errors.ts';
import type { Secret } from '../core/secret.ts';
import { shellWord } from '../core/shell-quote.ts';
import {
  checkPrivateFolder,
  type FileDependencies,
  inOurWords,
  preparePrivateFolder,
  readPrivate,
  syncFolder,
} from '../files/private-files.ts';
import { keyKeeper, type NewKey, type ProfileHost, type Remains } from './keys.ts';
import { checkBaseUrl, checkNewProfileName, checkProfileName, keyMode, readKey, unknownProfile } from './parts.ts';
import {
  FILE_NAME,
  NO_PROFILES,
  type Profile,
  type ProfileFile,
  ProfileFileDamage,
  parseProfileFile,
  profileFileText,
  profilePath,
} from './profile-file.ts';
import { checkSettingName, parseSetting, type SettingName, withSetting } from './settings.ts';

/** What to save. */
type NewProfile = { readonly name: string; readonly base_url: string } & NewKey;

const LOCK_PATIENCE_MS = 10_000;

/**
 * Opens the profiles; nothing is written and no folder is made. Throws `check_failed` for a damaged file, which
 * stays as it is, and `guarded` for an unsafe one.
 */
export async function openProfileStore(host: ProfileHost, warn: (text: string) => void): Promise<ProfileStore> {
  const store = new ProfileStore(host, warn);
  await store.load();
  return store;
}

/**
 * The saved profiles of this user. Reading is from memory, as of opening or the last write here; every write
 * re-reads under a lock. Writes throw `guarded` when the file cannot be used or stays locked, and names that
 * are not saved throw `not_found`.
 */
export class ProfileStore {
  readonly path: string;
  readonly #host: ProfileHost;
  readonly #around: FileDependencies;
  readonly #keys: ReturnType<typeof keyKeeper>;
  #file = NO_PROFILES;

  constructor(host: ProfileHost, warn: (text: string) => void) {
    this.path = profilePath(host.folders.config);
    this.#host = host;
    this.#around = { platform: host.platform, random: host.random, warn };
    this.#keys = keyKeeper(host, this.#around);
  }

  async load(): Promise<void> {
    if (!(await checkPrivateFolder(this.#host.folders.config, this.#around))) return;
    const isThere = (await readPrivate(this.path, this.#around)) !== undefined;
    if (isThere) this.#file = (await this.#open()).get('file', NO_PROFILES);
  }

  get file(): ProfileFile {
    return this.#file;
  }

  /** Opens the key. Throws `guarded` when it is of another mode than when it was saved. */
  async key(name: string): Promise<Secret> {
    return this.#keys.fetch(existing(this.#file, name));
  }

  /** Adds a profile, or gives an existing one a new key and address while keeping its settings. */
  async save(profile: NewProfile): Promise<Profile> {
    const name = checkNewProfileName(profile.name);
    // Judged first: a key is put nowhere before its address is known to be usable.
    if ('key' in profile) checkBaseUrl(profile.base_url, keyMode(readKey(profile.key.expose())));
    const place = await this.#keys.keep(name, profile);
    const base_url = checkBaseUrl(profile.base_url, place.mode).href;
    const replaced = this.#file.profiles.get(name);
    if (replaced?.key_source === 'keychain' && place.key_source !== 'keychain') {
      const left = await this.#keys.forget(replaced);
      if (left) this.#around.warn(`the key before this one may still be in ${left.place}: ${left.why}`);
    }
    return this.#change(name, file => {
      const { mode, contract, settings: before = {} } = file.profiles.get(name) ?? {};
      // The leave to reveal unattended was given for another key's mode; limits are kept.
      const settings = mode === place.mode ? before : withSetting(before, 'allow_unattended_reveal', undefined);
      return { name, base_url, ...place, contract, settings };
    });
  }

  async use(name: string): Promise<void> {
    if (checkProfileName(name) !== 'sandbox') existing(this.#file, name);
    await this.#update(file => {
      if (name !== 'sandbox') existing(file, name);
      return { ...file, current: name };
    });
  }

  /** Changes one setting. Throws `usage` for a bad value, `guarded` for another origin. */
  async set(name: string, setting: string, value: string): Promise<Profile> {
    const which = checkSettingName(setting);
    return this.#change(name, file => changed(existing(file, name), which, value));
  }

  /**
   * Removes the profile. Resolves to where the key still is: a place of the user's own, or one that did not give it up.
   */
  async remove(name: string): Promise<Remains | undefined> {
    const profile = existing(this.#file, name);
    await this.#update(file => {
      existing(file, name);
      const profiles = new Map([...file.profiles].filter(([other]) => other !== name));
      return file.current === name ? { current: undefined, profiles } : { ...file, profiles };
    });
    return this.#keys.forget(profile);
  }

  async #change(name: string, make: (file: ProfileFile) => Profile): Promise<Profile> {
    const file = await this.#update(before => {
      return { ...before, profiles: new Map([...before.profiles, [name, make(before)]]) };
    });
    return existing(file, name);
  }

  async #update(change: (file: ProfileFile) => ProfileFile): Promise<ProfileFile> {
    const { folders } = this.#host;
    await preparePrivateFolder(folders.config, this.#around);
    const { withLock } = await import('../engine/lock.ts');
    return withLock(`${this.path}.lock`, { ...this.#host, timeoutMs: LOCK_PATIENCE_MS }, () =>
      inOurWords(this.path, async () => {
        // Judged and repaired before conf follows the name: a symlink or a file of another user is refused here.
        await readPrivate(this.path, this.#around);
        const conf = await this.#open();
        const next = change(conf.get('file', NO_PROFILES));
        conf.set('file', next);
        await syncFolder(folders.config, this.#host.platform);
        // Under the lock nobody else is writing: what looks unfinished was left by a process that was killed.
        await removeUnfinished(this.path);
        this.#file = next;
        return next;
      }),
    );
  }

  /** Home of conf, which reads, and writes whole beside the file. It takes no lock and judges no owner: we do. */
  async #open(): Promise<Conf<{ file: ProfileFile }>> {
    const { default: Conf } = await import('conf');
    try {
      return new Conf<{ file: ProfileFile }>({
        cwd: this.#host.folders.config,
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
      if (error instanceof ProfileFileDamage) throw this.#damaged(error.message);
      throw error;
    }
  }

  #damaged(why: string): CliError {
    return notSent('check_failed', `the profile file ${this.path} is damaged: ${why}`, {
      notes: ['Nothing was changed.', 'Repair the file, or remove it and log in again.'],
      hint: `rm ${shellWord(this.path)} && cardwright login`,
    });
  }
}

function existing(file: ProfileFile, name: string): Profile {
  const found = file.profiles.get(checkNewProfileName(name));
  if (found !== undefined) return found;
  throw unknownProfile(name);
}

function changed(profile: Profile, setting: SettingName, text: string): Profile {
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
}

async function removeUnfinished(path: string): Promise<void> {
  const folder = dirname(path);
  for (const name of await readdir(folder))
    if (name.startsWith(`${basename(path)}.tmp-`)) await rm(join(folder, name), { force: true });
}
