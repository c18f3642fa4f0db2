/**
 * What completion offers where a word names a card, a profile and the like (docs/design/terminal.md, "Completion"):
 * from files of this machine alone. Where those are old another process looks at the service, and a key press waits for
 * it only for a moment. No key is opened here, no program of the user is run, and nothing is asked.
 */

import { lstat } from 'node:fs/promises';
import type { Candidate, ValueProvider, WantedName } from '../cli/completion/complete.ts';
import { contractValues } from '../cli/completion/contract-values.ts';
import { statesFor } from '../cli/completion/states.ts';
import { HOUR, MINUTE } from '../core/durations.ts';
import type { CachedId, IdCache, SectionName } from '../id-cache/contents.ts';
import { changeIdCache, readIdCache, type Whose } from '../id-cache/file.ts';
import { readOnlyProfiles } from '../profile/read-only-profiles.ts';
import { type ResolvedProfile, resolveProfile } from '../profile/resolve.ts';
import { storeFile } from '../sandbox/serving/private-socket.ts';
import type { AppHost } from './app-host.ts';
import { whoseOf } from './id-cache.ts';

/** ms; younger rows are the answer as they are. What an issuer offers changes rarely. */
const FRESH_MS: Readonly<Record<SectionName, number>> = { card: MINUTE, bin: HOUR, webhook: MINUTE };
/** ms until somebody is sent to look again, whatever became of the look before. */
const AGAIN_MS = 15_000;
/** ms a key press waits for a look; with the start of both programs that stays below 300. */
const PATIENCE_MS = 220;
const MOST_OPS = 50;

export function completionValues(host: AppHost): ValueProvider {
  return async wanted => {
    switch (wanted.names) {
      case 'card':
      case 'bin':
      case 'webhook':
        return fromShelf(host, wanted, wanted.names);
      case 'profile':
        return profiles(host, wanted);
      case 'op':
        return ops(host, wanted);
      case 'fleet':
        return fleets(host);
      default:
        return contractValues(wanted);
    }
  };
}

async function fromShelf(host: AppHost, { command, options }: WantedName, section: SectionName) {
  const profile = await profileOf(host, options);
  const whose = whoseOf(host, profile);
  const known = await refreshed(host, { profile, whose, section });
  const states = section === 'card' ? statesFor(command?.operation) : undefined;
  const { rows } = known.sections[section];
  return rows
    .filter(({ status }) => states === undefined || status === undefined || states.includes(status))
    .map(candidate);
}

interface Asked {
  readonly profile: ResolvedProfile;
  readonly whose: Whose;
  readonly section: SectionName;
}

async function refreshed(host: AppHost, { profile, whose, section }: Asked): Promise<IdCache> {
  const known = await readIdCache(host, whose);
  const { listed, asked } = known.sections[section];
  const now = host.clock.now();
  if (now - listed < FRESH_MS[section] || now - asked < AGAIN_MS || !(await mayLook(host, profile))) return known;
  await changeIdCache(host, whose, ({ place, sections }) => ({
    place,
    sections: { ...sections, [section]: { ...sections[section], asked: now } },
  }));
  const contract = profile.contractFile === undefined ? [] : ['--contract', profile.contractFile];
  await host.runInBackground(['__look', section, '--profile', profile.name, ...contract], PATIENCE_MS);
  return readIdCache(host, whose);
}

/** A command or a keychain may ask the user; a sandbox nobody has used is not made by a key press. */
async function mayLook(host: AppHost, { keySource }: ResolvedProfile): Promise<boolean> {
  if (keySource === 'key_command' || keySource === 'keychain') return false;
  return keySource !== 'embedded' || isThere(storeFile(host.folders.data));
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    found => found.isFile(),
    () => false,
  );
}

/** As a run on a terminal would choose it. Throws as that would, and then nothing is offered. */
function profileOf(host: AppHost, options: WantedName['options']): Promise<ResolvedProfile> {
  const [profile, contract] = [options.get('--profile'), options.get('--contract')];
  return resolveProfile({
    flags: { sandbox: options.has('--sandbox'), ...(profile && { profile }), ...(contract && { contract }) },
    env: host.env,
    interactive: true,
    store: () => readOnlyProfiles(host.folders.config),
    async readKeyFile(path) {
      // A pipe gives its key once, and not to a key press.
      if (!(await isThere(path))) throw new Error('not an ordinary file');
      return host.readFile(path);
    },
  });
}

function candidate({ id, about, status, label }: CachedId): Candidate {
  const facts = [about, status, label && JSON.stringify(label)];
  return { value: id, means: facts.filter(Boolean).join(', ') };
}

async function profiles(host: AppHost, { command, options }: WantedName): Promise<readonly Candidate[]> {
  const saved = (await readOnlyProfiles(host.folders.config)).list();
  const rows = saved.map(({ name, mode, base_url }) => ({ value: name, means: `${mode}, ${base_url}`, mode }));
  // `--live` names a live profile; what is done to a profile is done to a saved one.
  if (options.has('--live') && options.get('--live') === '') return rows.filter(({ mode }) => mode === 'live');
  const takesAny = command === undefined || !command.path.startsWith('profiles ') || command.path === 'profiles use';
  return takesAny ? [...rows, { value: 'sandbox', means: 'built in, offline' }] : rows;
}

async function ops(host: AppHost, { command }: WantedName): Promise<readonly Candidate[]> {
  const { recentOps } = await import('../journal/store/recent-ops.ts');
  const unfinished = command?.path !== 'ops show' && command?.path !== 'explain';
  const found = await recentOps(host.folders.state, { unfinished, most: MOST_OPS });
  return found.map(({ op, command: asked, at }) => {
    const day = new Date(at).toISOString().slice(0, 10);
    return { value: op, means: [asked, day].filter(Boolean).join(', ') };
  });
}

/** Fleets that this machine has applied: the file of one of them may be lost. */
async function fleets(host: AppHost): Promise<readonly Candidate[]> {
  const { recentOps } = await import('../journal/store/recent-ops.ts');
  const found = await recentOps(host.folders.state, { unfinished: false, most: MOST_OPS });
  const names = new Set(found.flatMap(({ fleet }) => fleet ?? []));
  return [...names].map(value => ({ value, means: 'a fleet of this machine' }));
}
