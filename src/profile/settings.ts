/** Settings of a profile: their names, what each means, and what it may be. */
import { usage } from '../core/errors.ts';
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

type SettingValue = boolean | string | number | readonly string[];

interface SettingRow<Value extends SettingValue> {
  readonly means: string;
  /** The form of a value, with its unit. */
  readonly form: string;
  /** A value that works when it is copied. */
  readonly example: string;
  /** The value of a typed text, undefined when the text does not have the form. `none` never reaches it. */
  readonly parse: (text: string) => Value | undefined;
  /** Its value is a path: the caller makes it absolute first, because nothing here knows a working folder. */
  readonly isPath?: true;
}

/** How a profile keeps a limit: amounts are text, `250.00`. */
function limit(name: LimitName, means: string, form: string, example: string): SettingRow<SettingValue> {
  const parse = (text: string) => {
    const value = parseLimit(name, text);
    return value !== undefined && isAmountLimit(name) ? limitText(name, value) : value;
  };
  return { means, form, example, parse };
}

const usd = (name: LimitName, means: string, example: string) =>
  limit(name, means, 'an amount in USD, or none', example);
const onOff = (name: LimitName, means: string) => limit(name, means, 'true or false', 'true');
const whole = (name: LimitName, means: string, example: string, range = '') =>
  limit(name, means, `a whole number${range}, or none`, example);
const path = (means: string, example: string): SettingRow<string> => ({
  means,
  form: 'a path, or none',
  example,
  parse: text => (isAbsolutePath(text) ? text : undefined),
  isPath: true,
});

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

/** What a profile keeps under `settings`, in the order in which it is shown. */
const KEPT = {
  allow_unattended_reveal: {
    means: 'reveal live cards with nobody at the terminal',
    form: 'true or false',
    example: 'true',
    parse: text => (text === 'true' ? true : text === 'false' ? false : undefined),
  },
  read_only: onOff('read_only', 'refuse every operation that writes'),
  max_per_call: usd('max_per_call', 'most one operation may move', '50.00'),
  max_per_run: usd('max_per_run', 'most one run, single or bulk, may move', '250.00'),
  max_per_day: usd('max_per_day', 'most that may leave the wallet on a day (UTC), counted from the journal', '500.00'),
  max_cards: whole('max_cards', 'most cards one run may create', '20'),
  bins: limit('bins', 'the only BINs cards may be created from', 'BIN ids separated by commas, or none', 'bin_1,bin_2'),
  approve_above: usd(
    'approve_above',
    'most one operation may take from the wallet without approval of other persons',
    '1000.00',
  ),
  approve_day: usd('approve_day', 'most that may leave the wallet on a day (UTC) without approval', '2000.00'),
  approve_irreversible: onOff('approve_irreversible', 'hold what cannot be undone until it is approved'),
  approve_rows: whole(
    'approve_rows',
    'most rows of one run without approval; rows that freeze cards do not count',
    '50',
  ),
  approvals_needed: whole('approvals_needed', 'persons who must approve, 1 when not set', '2', ' from 1 to 9'),
  approve_within_hours: whole(
    'approve_within_hours',
    'hours that a request for approval stands, 24 when not set',
    '48',
    ' from 1 to 168',
  ),
  approvers_file: path('file of those who may approve, one key a line', './approvers'),
  journal: {
    means: 'shared journal that operations are kept in, without a password',
    form: 'an address, local, or none',
    example: 'postgres://db.example.com/cards',
    parse: parseJournal,
  },
  sandbox_token_file: path(
    'file with the admin token of the sandbox at this address; commands of the sandbox go there',
    './admin-token',
  ),
  mirror: {
    means: 'whether a copy of the account may lie on this machine',
    form: 'on or off',
    example: 'off',
    parse: text => (text === 'on' || text === 'off' ? text : undefined),
  },
  policy: path(
    'file of rules that policy check and policy apply read when none is named, checked at once',
    './policy.yaml',
  ),
} as const satisfies Readonly<Record<string, SettingRow<SettingValue>>>;

export type KeptSetting = keyof typeof KEPT;

export const KEPT_SETTINGS = Object.keys(KEPT) as readonly KeptSetting[];

/** All that `profiles set` changes; the last two are properties of the profile itself. */
export const SETTINGS = {
  ...KEPT,
  contract: path('file with contract overrides, checked at once', './overrides.json'),
  base_url: {
    means: 'base address of the service; scheme, host and port stay those the key is bound to',
    form: 'an https address',
    example: 'https://api.example.com/v2',
    // It is judged together with the key's mode, where that is known.
    parse: text => text,
  },
} as const satisfies Readonly<Record<string, SettingRow<SettingValue>>>;

export type SettingName = keyof typeof SETTINGS;

/** Settings of a profile; what is absent is not limited and not allowed. Amounts are decimal USD text, `250.00`. */
export type ProfileSettings = {
  readonly [Name in KeptSetting]?: NonNullable<ReturnType<(typeof KEPT)[Name]['parse']>>;
};

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
  const { form, example, parse } = SETTINGS[name];
  if (text === 'none' && form.includes('or none')) return undefined;
  const value = parse(text);
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
  return JSON.stringify(KEPT[kept].parse(parts.join(','))) === JSON.stringify(value);
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
