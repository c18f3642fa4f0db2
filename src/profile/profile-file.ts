/** The profile file as text: what is written, and what is read back or refused. */

import { join } from 'node:path';
import { CliError, notSent } from '../core/errors.ts';
import { isObject, jsonOrUndefined, type Values } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import { readOrdinary } from '../files/private-files.ts';
import { checkBaseUrl, checkNewProfileName, type KeyMode, keyMode, quoted, readKey } from './parts.ts';
import { isAbsolutePath, isStoredSetting, type ProfileSettings } from './settings.ts';

/** Where a profile's key is: in the profile file, in a file of its own, told by a command, or in the keychain. */
export interface KeyPlace {
  readonly key_source: keyof typeof KEY_PARTS;
  readonly mode: KeyMode;
  /** Prefix and last four of the key. */
  readonly hint: string;
  readonly key?: Secret;
  readonly file?: string;
  readonly command?: readonly string[];
  readonly account?: string;
}

/** A saved profile. */
export interface Profile extends KeyPlace {
  readonly name: string;
  /** Without a slash at the end; the key goes to this origin alone. */
  readonly base_url: string;
  /** Absolute path of a file with contract overrides. */
  readonly contract?: string | undefined;
  readonly settings: ProfileSettings;
}

/** The whole profile file. A map, because `constructor` is a lawful profile name. */
export interface ProfileFile {
  readonly current: string | undefined;
  readonly profiles: ReadonlyMap<string, Profile>;
}

export const NO_PROFILES: ProfileFile = { current: undefined, profiles: new Map() };

/** Without its ending. */
export const FILE_NAME = 'config';

/** Where the file stands. */
export const profilePath = (configFolder: string) => join(configFolder, `${FILE_NAME}.json`);

const VERSION = 1;

/** Why the file cannot be read; the text quotes no value of it. The store says which file it is. */
const damaged = (why: string) => notSent('check_failed', why);

/** Text of the file as `ProfileFile`. Throws `check_failed`; unknown keys are damage, for a rewrite would lose them. */
export function parseProfileFile(text: string): ProfileFile {
  const read = jsonOrUndefined(text);
  if (read === undefined) throw damaged('it is not JSON');
  const whole = asRecord(read, 'the file');
  need(typeof whole['version'] === 'number', 'version');
  if (whole['version'] !== VERSION) throw damaged('another cardwright has written it, in another form');
  onlyKeys(whole, ['version', 'current', 'profiles'], 'the file');
  const profiles = new Map<string, Profile>();
  for (const [name, entry] of Object.entries(asRecord(whole['profiles'], 'profiles'))) {
    profiles.set(name, parseProfile(name, entry));
  }
  const { current } = whole;
  if (current === undefined) return { current, profiles };
  need(typeof current === 'string' && (current === 'sandbox' || profiles.has(current)), 'current');
  return { current, profiles };
}

/** The profiles of this user, only looked at: none where the file cannot be read, and nothing is repaired or warned of. */
export async function readOnlyProfiles(configFolder: string): Promise<ProfileFile> {
  return readOrdinary(profilePath(configFolder))
    .then(bytes => parseProfileFile(bytes.toString('utf8')))
    .catch(() => NO_PROFILES);
}

/** The text to write. */
export function profileFileText({ current, profiles }: ProfileFile): string {
  // The only place where stored keys are exposed. What such a key tells of itself is not written beside it.
  const entries = [...profiles.values()].map(({ name, key, mode, hint, ...entry }) => {
    return [name, { ...entry, ...(key === undefined ? { mode, hint } : { key: key.expose() }) }] as const;
  });
  return `${JSON.stringify({ version: VERSION, current, profiles: Object.fromEntries(entries) }, undefined, 2)}\n`;
}

/** What the file has of a key beside its source, and what that is. Of a key in the file itself nothing else is kept. */
const KEY_PARTS = {
  stored: ['key', isText],
  key_file: ['file', isPath],
  key_command: ['command', (value: unknown) => Array.isArray(value) && value.every(isText) && isPath(value[0])],
  keychain: ['account', (value: unknown) => isText(value) && /^[a-z0-9@_-]{1,64}$/.test(value)],
} as const;

function parseProfile(name: string, entry: unknown): Profile {
  const at = `profiles.${quoted(name)}`;
  valid(() => checkNewProfileName(name), 'profiles (a name)');
  const record = asRecord(entry, at);
  const { base_url: address, contract } = record;
  const parts = Object.values(KEY_PARTS).map(([part]) => part);
  onlyKeys(record, ['base_url', 'key_source', ...parts, 'mode', 'hint', 'contract', 'settings'], at);
  const place = parsePlace(record, at);
  need(isText(address), `${at}.base_url`);
  const base_url = valid(() => checkBaseUrl(address, place.mode), `${at}.base_url`).href;
  need(contract === undefined || isPath(contract), `${at}.contract`);
  const settings = asRecord(record['settings'], `${at}.settings`);
  for (const [setting, value] of Object.entries(settings)) need(isStoredSetting(setting, value), `${at}.settings`);
  return { name, base_url, ...place, contract, settings };
}

function parsePlace(record: Values, at: string): KeyPlace {
  const { key_source, mode, hint } = record;
  need(isText(key_source) && Object.hasOwn(KEY_PARTS, key_source), `${at}.key_source`);
  const kind = key_source as KeyPlace['key_source'];
  const [part, fits] = KEY_PARTS[kind];
  const value = record[part];
  need(fits(value), `${at}.${part}`);
  if (kind === 'stored') return storedKey(valid(() => readKey(String(value)), `${at}.key`));
  need(mode === 'test' || mode === 'live', `${at}.mode`);
  need(isText(hint) && /^sk_(?:test|live)_…[A-Za-z0-9_-]{0,4}$/.test(hint), `${at}.hint`);
  return { key_source: kind, [part]: value, mode, hint };
}

/** A key that is kept in the profile file. */
export function storedKey(key: Secret): KeyPlace {
  return { key_source: 'stored', key, mode: keyMode(key), hint: key.hint() };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isPath(value: unknown): value is string {
  return isText(value) && isAbsolutePath(value);
}

function need(condition: boolean, where: string): asserts condition {
  if (!condition) throw damaged(`${where} is missing or not as it should be`);
}

function asRecord(value: unknown, where: string): Values {
  need(isObject(value), where);
  return value;
}

function onlyKeys(record: Values, known: readonly string[], where: string): void {
  const odd = Object.keys(record).find(key => !known.includes(key));
  if (odd !== undefined) throw damaged(`${where} holds something unknown`);
}

function valid<T>(check: () => T, where: string): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof CliError) throw damaged(`${where}: ${error.message}`);
    throw error;
  }
}
