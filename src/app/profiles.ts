/** Saved profiles as commands see them. */
import { resolve as resolvePath } from 'node:path';
import { type CliError, notSent } from '../core/errors.ts';
import { forgetShown } from '../id-cache/shown.ts';
import { isLimitName } from '../limits/limits.ts';
import type { NewKey } from '../profile/keys.ts';
import { checkProfileName, unknownProfile } from '../profile/parts.ts';
import type { Profile } from '../profile/profile-file.ts';
import { checkSettingName, loosens, type ProfileSettings, parseSetting, SETTINGS } from '../profile/settings.ts';
import type { ProfileRow } from './answer-shapes.ts';
import type { AppHost } from './process-host.ts';
import type { Run } from './run.ts';

export type { NewKey };

/** The built-in profile, which is never saved. */
const SANDBOX_ROW: ProfileRow = {
  name: 'sandbox',
  current: true,
  mode: 'sandbox',
  base_url: 'embedded',
  key: 'none needed',
  key_source: 'embedded',
  contract: null,
  settings: {},
};

/** Opens the store of profiles. Throws `check_failed` for a damaged file, `guarded` for an unsafe one. */
export async function profilesFor({ host, warn }: Run) {
  const { openProfileStore } = await import('../profile/store.ts');
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
  const builtIn = () => ({ ...SANDBOX_ROW, current: store.file.current === 'sandbox' });
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
      await checkFile(host, setting, value);
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
  sandbox_token_file: async () => (await import('./account.ts')).tokenIn,
};

/** A file that a setting names is read at once, so that a fault is told to whoever can mend it. Throws `usage`. */
async function checkFile({ platform, signal, cwd, readFile }: AppHost, setting: string, path: string): Promise<void> {
  const read = await READERS[setting]?.();
  if (read === undefined) return;
  const file = resolvePath(cwd, path);
  if (setting !== 'sandbox_token_file') return void read(await readFile(file), path);
  const { readKeyFile } = await import('../profile/keys.ts');
  read(await readKeyFile(file, { platform, signal, called: 'token file', warn: () => undefined }), path);
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
