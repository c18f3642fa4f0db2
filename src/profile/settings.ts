/** Settings of a profile: their names, and what each may be. */
import { usage } from '../core/errors.ts';
import { KEPT_SETTINGS, type KeptSetting, SETTINGS, type SettingName } from '../core/setting-names.ts';
import {
  isAmountLimit,
  isLimitName,
  isLooser,
  LIMIT_NAMES,
  type LimitName,
  limitText,
  parseLimit,
  readLimits,
} from '../limits/limits.ts';
import { quoted } from './parts.ts';

type SettingValue = boolean | string | number | readonly string[];

/** How a profile keeps a limit: amounts are text, `250.00`. */
const limit = (name: LimitName) => (text: string) => {
  const value = parseLimit(name, text);
  return value !== undefined && isAmountLimit(name) ? limitText(name, value) : value;
};

const LIMITS = Object.fromEntries(LIMIT_NAMES.map(name => [name, limit(name)])) as Readonly<
  Record<LimitName, ReturnType<typeof limit>>
>;

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

/** The value of a typed text by setting, undefined when the text does not have the form. `none` never reaches it. */
const PARSERS = {
  allow_unattended_reveal: (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined),
  ...LIMITS,
  approvers_file: parsePath,
  journal: parseJournal,
  sandbox_token_file: parsePath,
  mirror: (text: string) => (text === 'on' || text === 'off' ? text : undefined),
  policy: parsePath,
  contract: parsePath,
  // The address is judged together with the key's mode, where that is known.
  base_url: (text: string) => text,
} as const satisfies Record<SettingName, (text: string) => SettingValue | undefined>;

/** Their value is a path: the caller makes it absolute first, because nothing here knows a working folder. */
export const PATH_SETTINGS: ReadonlySet<string> = new Set([
  'approvers_file',
  'sandbox_token_file',
  'policy',
  'contract',
]);

/** Settings of a profile; what is absent is not limited and not allowed. Amounts are decimal USD text, `250.00`. */
export type ProfileSettings = { readonly [Name in KeptSetting]?: NonNullable<ReturnType<(typeof PARSERS)[Name]>> };

/** The setting of that name. Throws `usage` listing them all. */
export function checkSettingName(text: string): SettingName {
  if (Object.hasOwn(SETTINGS, text)) return text as SettingName;
  throw usage(
    `no such setting: ${quoted(text)}; there are ${Object.keys(SETTINGS).join(', ')}`,
    'cardwright profiles set --help',
  );
}

/** The value of a typed text, undefined for `none` where a setting can be unset. Throws `usage` naming the form. */
export function parseSetting(name: SettingName, text: string): SettingValue | undefined {
  const { form, example } = SETTINGS[name];
  if (text === 'none' && form.includes('or none')) return undefined;
  const value = PARSERS[name](text);
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
  const kept = KEPT_SETTINGS.find(each => each === name);
  if (kept === undefined) return false;
  const parts: unknown[] = Array.isArray(value) ? value : [value];
  if (parts.some(part => typeof part === 'object')) return false;
  return JSON.stringify(PARSERS[kept](parts.join(','))) === JSON.stringify(value);
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
