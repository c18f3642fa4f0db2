/** Limits of a run: those of the managed file and of the profile; those of the journal join them where a change is claimed. */
import { CliError } from '../core/errors.ts';
import {
  LIMIT_NAMES,
  limitWords,
  readLimits,
  type SourcedLimits,
  type StrictestLimits,
  sourceWords,
  strictest,
} from '../limits/limits.ts';
import { type ManagedLimits, readManagedLimits } from '../limits/managed-file.ts';
import type { AppHost } from './app-host.ts';
import { type Connections, once } from './connections.ts';

/** A limit for people. */
export interface ShownLimit {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

export interface RunLimits {
  /** Throws `guarded` for a managed file that does not count. */
  managed(): Promise<ManagedLimits>;
  sources(): Promise<readonly SourcedLimits[]>;
  strictest(): Promise<StrictestLimits>;
  /** Each limit that is set, and by whom. */
  shown(): Promise<readonly ShownLimit[]>;
}

export function runLimits(host: AppHost, opened: Connections): RunLimits {
  const managed = once(async () => {
    const { mode, baseUrl } = await opened.identity();
    return readManagedLimits(host.limitsFile, mode === 'sandbox' ? undefined : new URL(baseUrl).origin);
  });
  const sources = once(async (): Promise<readonly SourcedLimits[]> => {
    const [{ profile }, settings] = [await opened.identity(), await opened.settings()];
    const read = readLimits(settings);
    if ('wrong' in read)
      throw new CliError('internal', { message: `${read.wrong} of profile ${profile} cannot be read` });
    const own: SourcedLimits = { source: { kind: 'profile', name: profile }, limits: read.limits };
    return [...(await managed()).sources, own];
  });
  return {
    managed,
    sources,
    strictest: async () => strictest(await sources()),
    async shown() {
      const limits = strictest(await sources());
      const { reveal, path } = await managed();
      const shown = LIMIT_NAMES.flatMap(name => {
        const set = limits[name];
        return set === undefined ? [] : [{ name, value: limitWords(name, set.value), source: sourceWords(set.source) }];
      });
      return reveal === undefined ? shown : [...shown, { name: 'reveal', value: reveal, source: path }];
    },
  };
}
