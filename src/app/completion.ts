/**
 * What completion offers where a word names a card, a profile and the like (docs/design/terminal.md, "Completion"):
 * from files of this machine alone. No key is opened here, no program of the user is run, and nothing is asked.
 */
import { lstat } from 'node:fs/promises';
import type { AnyField } from '../contract/field.ts';
import { readShown } from '../id-cache/shown.ts';
import { profilePath, readOnlyProfiles } from '../profile/profile-file.ts';
import { type ResolvedProfile, resolveProfile } from '../profile/resolve.ts';
import { whoseOf } from './account.ts';
import type { AppHost } from './process-host.ts';

export interface Candidate {
  readonly value: string;
  /** Shown beside it by zsh and fish. */
  readonly means?: string | undefined;
}

/** What a word under the cursor is the name of, and where it stands. */
export interface WantedName {
  readonly names: NonNullable<AnyField['names']>;
  /** Words of the command; undefined before it is named. */
  readonly path: string | undefined;
  /** States of cards that it starts from; undefined when it asks for none. */
  readonly states: () => Promise<readonly string[] | undefined>;
  /** Options on the line, by their long names: `--profile` decides whose cards there are. */
  readonly options: ReadonlyMap<string, string>;
}

/** Candidates for a name. Empty when nothing is known; nobody is asked anything. */
export type ValueProvider = (wanted: WantedName) => Promise<readonly Candidate[]>;

const MOST_OPS = 50;

export async function completionValues(
  host: AppHost,
  { names, path, states, options }: WantedName,
): Promise<readonly Candidate[]> {
  switch (names) {
    case 'card':
    case 'bin':
    case 'webhook': {
      const shown = await readShown(host, whoseOf(host, await profileOf(host, options)));
      const fitting = names === 'card' ? await states() : undefined;
      return shown[names]
        .filter(({ status }) => fitting === undefined || status === undefined || fitting.includes(status))
        .map(({ id, about, status, label }) => {
          const facts = [about, status, label && JSON.stringify(label)];
          return { value: id, means: facts.filter(Boolean).join(', ') };
        });
    }
    case 'profile': {
      const { profiles } = await readOnlyProfiles(host.folders.config);
      const rows = [...profiles.values()].map(({ name, mode, base_url }) => {
        return { value: name, means: `${mode}, ${base_url}`, mode };
      });
      // `--live` names a live profile; what is done to a profile is done to a saved one.
      if (options.get('--live') === '') return rows.filter(({ mode }) => mode === 'live');
      const takesAny = !path?.startsWith('profiles ') || path === 'profiles use';
      return takesAny ? [...rows, { value: 'sandbox', means: 'built in, offline' }] : rows;
    }
    case 'op':
      return (await recentOps(host, path !== 'ops show')).map(({ id, command, touched }) => {
        return { value: id, means: `${command}, ${new Date(touched).toISOString().slice(0, 10)}` };
      });
    // Fleets that this machine has applied: the file of one of them may be lost.
    case 'fleet': {
      const marks = (await recentOps(host, false)).map(({ plan }) => plan.markerPrefix ?? '');
      const found = new Set(marks.flatMap(mark => /^fleet\/([^/]+)\/$/.exec(mark)?.[1] ?? []));
      return [...found].map(value => ({ value, means: 'a fleet of this machine' }));
    }
    case 'event': {
      const { EVENTS } = await import('../contract/events.ts');
      return Object.entries(EVENTS).map(([value, { meaning }]) => ({ value, means: meaning }));
    }
    // Every other kind of value lives in the service.
    default:
      return [];
  }
}

async function recentOps(host: AppHost, unfinished: boolean) {
  return (await import('./journal.ts')).recentOps(host, { unfinished, most: MOST_OPS });
}

/** The profile that a run on a terminal would choose. Throws as that would, and then nothing is offered. */
function profileOf(host: AppHost, options: WantedName['options']): Promise<ResolvedProfile> {
  const [profile, contract] = [options.get('--profile'), options.get('--contract')];
  return resolveProfile({
    flags: { sandbox: options.has('--sandbox'), ...(profile && { profile }), ...(contract && { contract }) },
    env: host.env,
    interactive: true,
    store: async () => ({
      path: profilePath(host.folders.config),
      file: await readOnlyProfiles(host.folders.config),
      key: () => Promise.reject(new Error('completion opens no key')),
    }),
    async readKeyFile(path) {
      // A pipe gives its key once, and not to a key press.
      if (!(await lstat(path)).isFile()) throw new Error('not an ordinary file');
      return host.readFile(path);
    },
  });
}
