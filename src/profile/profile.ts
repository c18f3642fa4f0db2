/** What a saved profile is, without its key. */
import { CliError } from '../core/errors.ts';
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
  /** Its checksum does not fit: it is used for nothing until somebody has accepted what it says now. */
  readonly changed?: true;
}

/** What a profile that something else has written is refused with, wherever it would be used. */
export function changedOutside(path: string, name: string): CliError {
  return new CliError('guarded', {
    message: `profile ${name} in ${path} was changed by something else than cardwright: its checksum does not fit`,
    notes: ['Its address, its key or its limits may be other ones now. Look at them, and accept what is right.'],
    hint: `cardwright profiles accept ${name}`,
    outcome: 'not_sent',
  });
}

/** The public side of a stored profile. */
export function shown({ name, base_url, source, contract, settings, staleChecksum }: StoredProfile): Profile {
  const changed = staleChecksum === undefined ? {} : ({ changed: true } as const);
  const common = { name, base_url, settings, mode: storedMode(source), ...(contract && { contract }), ...changed };
  if (source.kind === 'stored') return { ...common, key_source: 'stored', key_hint: source.key.hint() };
  const seen = { ...common, key_hint: source.hint };
  if (source.kind === 'keychain') return { ...seen, key_source: 'keychain' };
  return source.kind === 'key_file'
    ? { ...seen, key_source: 'key_file', key_file: source.file }
    : { ...seen, key_source: 'key_command', key_command: source.command };
}
