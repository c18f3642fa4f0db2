/** The profile file as text: what is written, and what is read back or refused. */

import { createHash } from 'node:crypto';
import { CliError } from '../core/errors.ts';
import { isObject } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import { checkBaseUrl } from './base-url.ts';
import { type KeyMode, keyMode, readKey } from './key.ts';
import { checkNewProfileName, quoted } from './name.ts';
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
  /** The checksum beside it, where it does not fit: not we have written what stands here. It is kept until accepted. */
  readonly staleChecksum?: string | undefined;
}

/** The whole profile file. A map, because `constructor` is a lawful profile name. */
export interface ProfileFile {
  readonly current: string | undefined;
  readonly profiles: ReadonlyMap<string, StoredProfile>;
  /** As of a profile: not we have chosen this one. */
  readonly staleCurrent?: string | undefined;
}

export const EMPTY_PROFILE_FILE: ProfileFile = { current: undefined, profiles: new Map() };

/** Files of version 1 have no checksums: they are taken as they are, and get them at the next write. */
const VERSION = 2;
const CHECKSUM = /^[0-9a-f]{16}$/;

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
  if (typeof whole['version'] === 'number' && whole['version'] > VERSION) {
    throw new ProfileFileDamage('it was written by a newer cardwright');
  }
  const { version } = whole;
  need(version === 1 || version === VERSION, 'version');
  const summed = version === VERSION;
  onlyKeys(whole, ['version', 'current', 'profiles', ...(summed ? ['current_checksum'] : [])], 'the file');
  const profiles = new Map<string, StoredProfile>();
  for (const [name, entry] of Object.entries(asRecord(whole['profiles'], 'profiles'))) {
    profiles.set(name, parseProfile(name, entry, summed));
  }
  const { current, current_checksum: sum } = whole;
  if (current === undefined) {
    need(sum === undefined, 'current');
    return { current: undefined, profiles };
  }
  need(typeof current === 'string' && (current === 'sandbox' || profiles.has(current)), 'current');
  const staleCurrent = summed ? staleness(sum, checksumOf(current), 'current_checksum') : undefined;
  return { current, profiles, staleCurrent };
}

/** The checksum of a file where it is not the one that fits. */
function staleness(found: unknown, fitting: string, where: string): string | undefined {
  need(typeof found === 'string' && CHECKSUM.test(found), where);
  return found === fitting ? undefined : found;
}

/** 64 bits over what a profile says, in whatever order its members stand. Tells mistakes, and no attacker. */
export function profileChecksum(profile: StoredProfile): string {
  return checksumOf([profile.name, entryOf(profile)]);
}

function checksumOf(value: unknown): string {
  const text = JSON.stringify(value, (_, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The only place where stored keys are exposed. */
function entryOf({ base_url, source, contract, settings }: StoredProfile): JsonRecord {
  const { kind, ...parts } = source;
  const key = source.kind === 'stored' ? { key: source.key.expose() } : parts;
  return { base_url, key_source: kind, ...key, contract, settings };
}

/** The text to write, its checksums with it. */
export function profileFileText(file: ProfileFile): string {
  const profiles = [...file.profiles.values()].map(profile => {
    const checksum = profile.staleChecksum ?? profileChecksum(profile);
    return [profile.name, { ...entryOf(profile), checksum }] as const;
  });
  const { current } = file;
  const whole = {
    version: VERSION,
    current,
    ...(current !== undefined && { current_checksum: file.staleCurrent ?? checksumOf(current) }),
    profiles: Object.fromEntries(profiles),
  };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
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

function parseProfile(name: string, entry: unknown, summed: boolean): StoredProfile {
  const at = `profiles.${quoted(name)}`;
  valid(() => checkNewProfileName(name), 'profiles (a name)');
  const record = asRecord(entry, at);
  const known = ['base_url', 'key_source', 'key', 'file', 'command', 'account', 'mode', 'hint', 'contract', 'settings'];
  onlyKeys(record, summed ? [...known, 'checksum'] : known, at);
  const source = parseSource(record, at);
  const address = asText(record['base_url'], `${at}.base_url`);
  const base_url = valid(() => checkBaseUrl(address, storedMode(source)), `${at}.base_url`).href;
  const contract = record['contract'];
  need(contract === undefined || (typeof contract === 'string' && isAbsolutePath(contract)), `${at}.contract`);
  const settings = asRecord(record['settings'], `${at}.settings`);
  for (const [setting, value] of Object.entries(settings)) {
    need(isStoredSetting(setting, value), `${at}.settings`);
  }
  const profile = { name, base_url, source, contract, settings };
  if (!summed) return profile;
  return { ...profile, staleChecksum: staleness(record['checksum'], profileChecksum(profile), `${at}.checksum`) };
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
