/** Settings of a profile: their names, and what each may be. */
import { usage } from '../core/errors.ts';
import { type KeptSetting, SETTINGS, type SettingName } from '../core/setting-names.ts';
import {
  isAmountLimit,
  isLimitName,
  isLooser,
  type LimitName,
  limitText,
  parseLimit,
  readLimits,
} from '../limits/limits.ts';
import { quoted } from './parts.ts';

/** Settings of a profile; what is absent is not limited and not allowed. Amounts are decimal USD text, `250.00`. */
export interface ProfileSettings extends Partial<Record<KeptSetting, SettingValue>> {
  /** Live reveals may run with nobody watching (docs/design/cli.md, "Revealing a card"). */
  readonly allow_unattended_reveal?: boolean;
  readonly read_only?: boolean;
  readonly max_per_call?: string;
  readonly max_per_run?: string;
  readonly max_per_day?: string;
  readonly max_cards?: number;
  readonly bins?: readonly string[];
  readonly approve_above?: string;
  readonly approve_day?: string;
  readonly approve_irreversible?: boolean;
  readonly approve_rows?: number;
  readonly approvals_needed?: number;
  readonly approve_within_hours?: number;
  /** Absolute path. */
  readonly approvers_file?: string;
  /** Absolute path. */
  readonly policy?: string;
  /** `local`, or the address of a shared journal, without a password. */
  readonly journal?: string;
  /** Absolute path of a file that holds the admin token of a sandbox at the profile's address. */
  readonly sandbox_token_file?: string;
  /** `off`: no copy of this account on this machine. */
  readonly mirror?: 'on' | 'off';
  /** Whole months of records that the copy keeps. */
  readonly mirror_months?: number;
}

type SettingValue = boolean | string | number | readonly string[];

/** What a setting may be; what it means stands in `core/setting-names.ts`. */
interface SettingRow {
  /** Where the value is kept: in the profile's settings, or as a property of the profile itself. */
  readonly home: 'settings' | 'profile';
  /** A path: the caller makes it absolute first, because nothing here knows a working folder. */
  readonly isPath?: true;
  /** The value of a typed text, undefined when the text does not have the form. `none` never reaches it. */
  readonly parse: (text: string) => SettingValue | undefined;
}

function parseSwitch(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Refunds come for weeks, and counts of the last 35 days are compared: fewer months would be read again and again. */
function parseMonths(text: string): number | undefined {
  const months = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  return months !== undefined && months >= 3 && months <= 1_200 ? months : undefined;
}

/** How a profile keeps a limit: amounts are text, `250.00`. */
function limit(name: LimitName): SettingRow {
  const parse = (text: string) => {
    const value = parseLimit(name, text);
    return value !== undefined && isAmountLimit(name) ? limitText(name, value) : value;
  };
  return { home: 'settings', parse };
}

function parsePath(text: string): string | undefined {
  return isAbsolutePath(text) ? text : undefined;
}

/** An absolute path without control characters, in the style of either system. */
export function isAbsolutePath(text: string): boolean {
  return /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(text) && !/[\x00-\x1f\x7f]/.test(text);
}

/** The address itself is judged when it is used; a password has no place in a profile. */
function parseJournal(text: string): string | undefined {
  if (text === 'local') return text;
  const isAddress = /^postgres(?:ql)?:\/\/\S+$/.test(text) && URL.canParse(text) && new URL(text).password === '';
  return isAddress ? text : undefined;
}

const onOff = { home: 'settings', parse: parseSwitch } as const;
const path = { isPath: true, parse: parsePath } as const;

/** Everything `profiles set <name> <setting> <value>` knows. */
export const PROFILE_SETTINGS = {
  allow_unattended_reveal: onOff,
  read_only: limit('read_only'),
  max_per_call: limit('max_per_call'),
  max_per_run: limit('max_per_run'),
  max_per_day: limit('max_per_day'),
  max_cards: limit('max_cards'),
  bins: limit('bins'),
  approve_above: limit('approve_above'),
  approve_day: limit('approve_day'),
  approve_irreversible: limit('approve_irreversible'),
  approve_rows: limit('approve_rows'),
  approvals_needed: limit('approvals_needed'),
  approve_within_hours: limit('approve_within_hours'),
  approvers_file: { home: 'settings', ...path },
  journal: { home: 'settings', parse: parseJournal },
  sandbox_token_file: { home: 'settings', ...path },
  mirror: { home: 'settings', parse: text => (text === 'on' || text === 'off' ? text : undefined) },
  mirror_months: { home: 'settings', parse: parseMonths },
  policy: { home: 'settings', ...path },
  contract: { home: 'profile', ...path },
  // The address is judged together with the key's mode, where that is known.
  base_url: { home: 'profile', parse: text => text },
} as const satisfies Record<SettingName, SettingRow>;

/** The setting of that name. Throws `usage` listing them all. */
export function checkSettingName(text: string): SettingName {
  if (Object.hasOwn(PROFILE_SETTINGS, text)) return text as SettingName;
  throw usage(
    `no such setting: ${quoted(text)}; there are ${Object.keys(SETTINGS).join(', ')}`,
    'cardwright profiles set --help',
  );
}

/** The value of a typed text, undefined for `none` where a setting can be unset. Throws `usage` naming the form. */
export function parseSetting(name: SettingName, text: string): SettingValue | undefined {
  const row: SettingRow = PROFILE_SETTINGS[name];
  const { form, example } = SETTINGS[name];
  if (text === 'none' && form.includes('or none')) return undefined;
  const value = row.parse(text);
  if (value !== undefined) return value;
  throw usage(
    `${name} takes ${form}${form.endsWith('or none') ? `, such as ${example}` : ''}, not ${quoted(text)}`,
    'cardwright profiles set --help',
  );
}

/** Settings with one changed or, for undefined, removed. */
export function withSetting(
  settings: ProfileSettings,
  name: SettingName,
  value: SettingValue | undefined,
): ProfileSettings {
  const rest = Object.entries(settings).filter(([key]) => key !== name);
  return Object.fromEntries(value === undefined ? rest : [...rest, [name, value]]);
}

/** Whether a value read back from a file is one that setting could have written. */
export function isStoredSetting(name: string, value: unknown): boolean {
  if (!Object.hasOwn(PROFILE_SETTINGS, name)) return false;
  const row: SettingRow = PROFILE_SETTINGS[name as SettingName];
  const parts: unknown[] = Array.isArray(value) ? value : [value];
  if (parts.some(part => typeof part === 'object')) return false;
  const typed = parts.join(',');
  return row.home === 'settings' && JSON.stringify(row.parse(typed)) === JSON.stringify(value);
}

/** What the limits of a profile would be weakened by, besides a looser limit: who approves, and which service or journal they are held against. */
const WEAKENING: ReadonlySet<SettingName> = new Set(['approvers_file', 'journal', 'contract', 'base_url']);

/** Whether a setting in place of another one allows more than the limits of the profile do now. */
export function loosens(
  settings: ProfileSettings,
  name: SettingName,
  next: SettingValue | undefined,
  before: SettingValue | undefined,
): boolean {
  if (isLimitName(name)) {
    const value = (each: SettingValue | undefined) => (each === undefined ? undefined : parseLimit(name, String(each)));
    return isLooser(name, value(next), value(before));
  }
  const read = readLimits(settings);
  const hasLimits = 'wrong' in read || Object.keys(read.limits).length > 0;
  return hasLimits && WEAKENING.has(name) && next !== before;
}
