/** Presets of new cards: one private file in the profiles' folder, the same for every profile. */

import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { GIVEN_NAME, GIVEN_NAME_RULE } from '../core/given-name.ts';
import { isObject } from '../core/objects.ts';
import { shellWord } from '../core/shell-quote.ts';
import { withLock } from '../files/lock.ts';
import { type FileDependencies, preparePrivateFolder, readPrivate, writePrivate } from '../files/private-files.ts';
import type { IsRunning } from '../files/process-identity.ts';
import type { Host } from '../platform/host.ts';
import { quoted } from './name.ts';

/** What of a preset the file holds; what the members mean is the caller's. */
export interface StoredPreset {
  readonly name: string;
}

export interface PresetFile<Preset extends StoredPreset> {
  list(): Promise<readonly Preset[]>;
  get(name: string): Promise<Preset>;
  save(preset: Preset): Promise<void>;
  remove(name: string): Promise<void>;
}

type PresetHost = Pick<Host, 'folders' | 'clock' | 'random' | 'pid' | 'platform'> & { readonly isRunning: IsRunning };

const LOCK_PATIENCE_MS = 10_000;

/**
 * Opens the presets; nothing is written and no folder is made. Reading throws `check_failed` for a damaged file, which
 * stays as it is, and `guarded` for an unsafe one; a name nobody saved is `not_found`.
 */
export function openPresets<Preset extends StoredPreset>(
  host: PresetHost,
  warn: (text: string) => void,
): PresetFile<Preset> {
  const path = join(host.folders.config, 'presets.json');
  const around: FileDependencies = { platform: host.platform, random: host.random, warn };

  async function read(): Promise<readonly Preset[]> {
    const text = await readPrivate(path, around);
    return text === undefined ? [] : parsed<Preset>(path, text);
  }

  async function change(how: (presets: readonly Preset[]) => readonly Preset[]): Promise<void> {
    await preparePrivateFolder(host.folders.config, around);
    const { pid, clock, random, isRunning } = host;
    const lock = { pid, clock, random, isRunning, timeoutMs: LOCK_PATIENCE_MS };
    await withLock(`${path}.lock`, lock, async () => {
      const presets = how(await read()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
      await writePrivate(path, `${JSON.stringify({ presets }, null, 2)}\n`, around);
    });
  }

  return {
    list: read,
    async get(name) {
      const presets = await read();
      return presets.find(preset => preset.name === name) ?? unknown(name, presets);
    },
    async save(preset) {
      if (!GIVEN_NAME.test(preset.name)) throw notAName(preset.name);
      await change(presets => [...presets.filter(({ name }) => name !== preset.name), preset]);
    },
    async remove(name) {
      await change(presets => {
        if (!presets.some(preset => preset.name === name)) unknown(name, presets);
        return presets.filter(preset => preset.name !== name);
      });
    },
  };
}

function parsed<Preset extends StoredPreset>(path: string, text: string): readonly Preset[] {
  const whole = asJson(text);
  const presets = isObject(whole) ? whole['presets'] : undefined;
  if (Array.isArray(presets) && presets.every(isPreset)) return presets as Preset[];
  throw new CliError('check_failed', {
    message: `${path} is damaged; it was not changed. Move it to another name, then save the presets again`,
    hint: `mv ${shellWord(path)} ${shellWord(`${path}.damaged`)}`,
    outcome: 'not_sent',
  });
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A name, and beside it what flags could have said: texts, positive numbers, lists and records of texts. */
function isPreset(value: unknown): boolean {
  if (!isObject(value) || typeof value['name'] !== 'string' || !GIVEN_NAME.test(value['name'])) return false;
  return Object.entries(value).every(([name, member]) => PRESET_MEMBERS[name]?.(member) === true);
}

const isText = (value: unknown) => typeof value === 'string';
const isAmount = (value: unknown) => typeof value === 'number' && value > 0;

const PRESET_MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  name: isText,
  bin: isText,
  label: isText,
  amount: isAmount,
  spending_limit: isAmount,
  auto_freeze_at: isAmount,
  allowed_categories: value => Array.isArray(value) && value.every(isText),
  metadata: value => isObject(value) && Object.values(value).every(isText),
};

function unknown(name: string, presets: readonly StoredPreset[]): never {
  const known = presets.map(preset => preset.name).join(', ');
  throw new CliError('not_found', {
    message: `no preset ${quoted(name)} is saved${known === '' ? '' : `; there are ${known}`}`,
    hint: 'cardwright cards presets list',
    outcome: 'not_sent',
  });
}

function notAName(text: string): CliError {
  return new CliError('usage', {
    message: `not a name for a preset: ${quoted(text)}; it has ${GIVEN_NAME_RULE}`,
    outcome: 'not_sent',
  });
}
