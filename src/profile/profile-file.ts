/** The profile file as text: what is written, and what is read back or refused. */

import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import { readOrdinary } from '../files/private-files.ts';
import { checkBaseUrl, checkNewProfileName, type KeyMode, keyMode, quoted, readKey } from './parts.ts';
import { isAbsolutePath, isStoredSetting, type ProfileSettings } from './settings.ts';

/** Where a profile's key is: in the profile file, in a file of its own, told by a command, or in the keychain. */
export type StoredSource =
  | { readonly kind: 'stored'; readonly key: Secret }
  | { readonly kind: 'key_file'; readonly file: string; readonly mode: KeyMode; readonly hint: string }
  | {
      readonly kind: 'key_command';
      readonly command: readonly string[];
      readonly mode: KeyMode;
      readonly hint: string;
    }
  | { readonly kind: 'keychain'; readonly account: string; readonly mode: KeyMode; readonly hint: string };

/** One profile as the file holds it. */
export interface StoredProfile {
  readonly name: string;
  readonly base_url: string;
  readonly source: StoredSource;
  readonly contract: string | undefined;
  readonly settings: ProfileSettings;
}

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

/** The whole profile file. A map, because `constructor` is a lawful profile name. */
export interface ProfileFile {
  readonly current: string | undefined;
  readonly profiles: ReadonlyMap<string, StoredProfile>;
}

/** Without its ending. */
export const FILE_NAME = 'config';

/** Where the file stands. */
export const profilePath = (configFolder: string) => join(configFolder, `${FILE_NAME}.json`);

const VERSION = 1;

/** Why a profile file cannot be read; the text quotes no value of the file. */
export class ProfileFileDamage extends Error {
  override readonly name = 'ProfileFileDamage';
}

/** The mode of a profile's key: the stored key's own, or what was seen when the profile was saved. */
export function storedMode(source: StoredSource): KeyMode {
  return source.kind === 'stored' ? keyMode(source.key) : source.mode;
}

/** Text of the file as `ProfileFile`. Throws `ProfileFileDamage`; unknown keys are damage, for a rewrite would lose them. */
export function parseProfileFile(text: string): ProfileFile {
  const whole = asRecord(parseJson(text), 'the file');
  need(typeof whole['version'] === 'number', 'version');
  if (whole['version'] !== VERSION) throw new ProfileFileDamage('another cardwright has written it, in another form');
  onlyKeys(whole, ['version', 'current', 'profiles'], 'the file');
  const profiles = new Map<string, StoredProfile>();
  for (const [name, entry] of Object.entries(asRecord(whole['profiles'], 'profiles'))) {
    profiles.set(name, parseProfile(name, entry));
  }
  const { current } = whole;
  if (current === undefined) return { current, profiles };
  need(typeof current === 'string' && (current === 'sandbox' || profiles.has(current)), 'current');
  return { current, profiles };
}

/** The profiles of this user, only looked at: none where the file cannot be read, and nothing is repaired or warned of. */
export async function readOnlyProfiles(configFolder: string) {
  const path = profilePath(configFolder);
  const { current, profiles } = await readOrdinary(path)
    .then(bytes => parseProfileFile(bytes.toString('utf8')))
    .catch((): ProfileFile => ({ current: undefined, profiles: new Map() }));
  const seen = new Map([...profiles.values()].map(profile => [profile.name, shown(profile)]));
  return {
    path,
    list: () => [...seen.values()],
    get: (name: string) => seen.get(name),
    current: () => current,
    key: () => Promise.reject(new CliError('internal', { message: 'a read-only view opens no key' })),
  };
}

/** The only place where stored keys are exposed. */
function entryOf({ base_url, source, contract, settings }: StoredProfile): JsonRecord {
  const { kind, ...parts } = source;
  const key = source.kind === 'stored' ? { key: source.key.expose() } : parts;
  return { base_url, key_source: kind, ...key, contract, settings };
}

/** The text to write. */
export function profileFileText({ current, profiles }: ProfileFile): string {
  const entries = [...profiles.values()].map(profile => [profile.name, entryOf(profile)] as const);
  return `${JSON.stringify({ version: VERSION, current, profiles: Object.fromEntries(entries) }, undefined, 2)}\n`;
}

type JsonRecord = Readonly<Record<string, unknown>>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text around the mistake, which may be a key.
    throw new ProfileFileDamage('it is not JSON');
  }
}

function parseProfile(name: string, entry: unknown): StoredProfile {
  const at = `profiles.${quoted(name)}`;
  valid(() => checkNewProfileName(name), 'profiles (a name)');
  const record = asRecord(entry, at);
  const known = ['base_url', 'key_source', 'key', 'file', 'command', 'account', 'mode', 'hint', 'contract', 'settings'];
  onlyKeys(record, known, at);
  const source = parseSource(record, at);
  const address = asText(record['base_url'], `${at}.base_url`);
  const base_url = valid(() => checkBaseUrl(address, storedMode(source)), `${at}.base_url`).href;
  const contract = record['contract'];
  need(contract === undefined || (typeof contract === 'string' && isAbsolutePath(contract)), `${at}.contract`);
  const settings = asRecord(record['settings'], `${at}.settings`);
  for (const [setting, value] of Object.entries(settings)) {
    need(isStoredSetting(setting, value), `${at}.settings`);
  }
  return { name, base_url, source, contract, settings };
}

function parseSource(record: JsonRecord, at: string): StoredSource {
  const kind = record['key_source'];
  if (kind === 'stored') {
    const text = asText(record['key'], `${at}.key`);
    return { kind, key: valid(() => readKey(text), `${at}.key`) };
  }
  const mode = record['mode'];
  need(mode === 'test' || mode === 'live', `${at}.mode`);
  const hint = asText(record['hint'], `${at}.hint`);
  need(/^sk_(?:test|live)_…[A-Za-z0-9_-]{0,4}$/.test(hint), `${at}.hint`);
  if (kind === 'key_file') {
    const file = asText(record['file'], `${at}.file`);
    need(isAbsolutePath(file), `${at}.file`);
    return { kind, file, mode, hint };
  }
  if (kind === 'keychain') {
    const account = asText(record['account'], `${at}.account`);
    need(/^[a-z0-9@_-]{1,64}$/.test(account), `${at}.account`);
    return { kind, account, mode, hint };
  }
  need(kind === 'key_command', `${at}.key_source`);
  const command: unknown = record['command'];
  need(Array.isArray(command) && command.every(part => typeof part === 'string'), `${at}.command`);
  need(isAbsolutePath(command[0] ?? ''), `${at}.command`);
  return { kind, command, mode, hint };
}

function need(condition: boolean, where: string): asserts condition {
  if (!condition) throw new ProfileFileDamage(`${where} is missing or not as it should be`);
}

function asRecord(value: unknown, where: string): JsonRecord {
  need(isObject(value), where);
  return value as JsonRecord;
}

function asText(value: unknown, where: string): string {
  need(typeof value === 'string', where);
  return value;
}

function onlyKeys(record: JsonRecord, known: readonly string[], where: string): void {
  const odd = Object.keys(record).find(key => !known.includes(key));
  if (odd !== undefined) throw new ProfileFileDamage(`${where} holds something unknown`);
}

function valid<T>(check: () => T, where: string): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof CliError) throw new ProfileFileDamage(`${where}: ${error.message}`);
    throw error;
  }
}
