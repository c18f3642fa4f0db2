/** How a command to copy names the shared journal that this machine has noted, where the command of this run does not. */
import { shellWord } from '../core/shell-quote.ts';
import { byAddress, type MovedTo } from '../journal/store/moved.ts';
import type { Profile } from '../profile/profile.ts';
import type { ProfileSettings } from '../profile/settings.ts';
import type { AppHost } from './app-host.ts';
import type { Connections } from './connections.ts';
import { chosenUrl } from './team-journal.ts';

interface Around {
  readonly host: AppHost;
  readonly opened: Pick<Connections, 'settings'>;
  /** Filled with what must be taken out of all output. */
  readonly keys: Set<string>;
}

/**
 * As it is where the environment or the profile names that journal and `--journal local` has put it aside; with a profile that
 * does, or with the address. Undefined where nobody knows how it is reached.
 */
export async function commandOverShared(around: Around, note: MovedTo, command: string): Promise<string | undefined> {
  const { host, opened } = around;
  const settings = await opened.settings().catch(() => ({}));
  if (await isNamedBy(around, note, { settings, env: host.env })) return `cardwright ${command}`;
  for (const profile of await profilesOf(around)) {
    if (!actsAt(profile, note) || !(await isNamedBy(around, note, { settings: profile.settings, env: {} }))) continue;
    return `cardwright -p ${shellWord(profile.name)} ${command}`;
  }
  return byAddress(note, command);
}

interface Naming {
  readonly settings: ProfileSettings;
  readonly env: AppHost['env'];
}

/** A release that has noted no address takes the one that is named for it. */
async function isNamedBy({ host, keys }: Around, note: MovedTo, { settings, env }: Naming): Promise<boolean> {
  const chosen = { host: { ...host, env }, keys, flag: undefined, settings: async () => settings };
  // A file that cannot be read names nothing, and another command says so.
  const url = await chosenUrl(chosen).catch(() => undefined);
  const account = env['CARDWRIGHT_JOURNAL_ACCOUNT'] ?? settings.journal_account;
  return url !== undefined && account === note.account && (note.address === undefined || url.shown === note.address);
}

async function profilesOf({ host }: Around): Promise<readonly Profile[]> {
  const { openProfileStore } = await import('../profile/store.ts');
  return openProfileStore(host, () => undefined).then(
    store => store.list(),
    () => [],
  );
}

function actsAt({ mode, base_url }: Profile, { mode: noted, origin }: MovedTo): boolean {
  return mode === noted && (base_url === origin || new URL(base_url).origin === origin);
}
