/** What a saved profile is, without its key. */
import type { KeyMode } from './key.ts';
import { type StoredProfile, storedMode } from './profile-file.ts';
import type { ProfileSettings } from './settings.ts';

/** A saved profile as everybody may see it: no key in it. */
export interface Profile {
  readonly name: string;
  /** Without a slash at the end; the key goes to this origin alone. */
  readonly base_url: string;
  readonly key_source: 'stored' | 'key_file' | 'key_command' | 'keychain';
  readonly key_file?: string;
  readonly key_command?: readonly string[];
  /** Absolute path of a file with contract overrides. */
  readonly contract?: string;
  readonly settings: ProfileSettings;
  readonly mode: KeyMode;
  /** Prefix and last four of the key. */
  readonly key_hint: string;
}

/** The public side of a stored profile. */
export function shown({ name, base_url, source, contract, settings }: StoredProfile): Profile {
  const common = { name, base_url, settings, mode: storedMode(source), ...(contract && { contract }) };
  if (source.kind === 'stored') return { ...common, key_source: 'stored', key_hint: source.key.hint() };
  const seen = { ...common, key_hint: source.hint };
  if (source.kind === 'keychain') return { ...seen, key_source: 'keychain' };
  return source.kind === 'key_file'
    ? { ...seen, key_source: 'key_file', key_file: source.file }
    : { ...seen, key_source: 'key_command', key_command: source.command };
}
