/** The settings of a profile in words, for help, completion and errors; `profile/settings.ts` says what each may be. */
import { usage } from './errors.ts';

interface SettingWords {
  readonly means: string;
  /** The form of a value, with its unit. */
  readonly form: string;
  /** A value that works when it is copied. */
  readonly example: string;
}

const usd = (means: string, example: string): SettingWords => ({ means, form: 'an amount in USD, or none', example });
const onOff = (means: string): SettingWords => ({ means, form: 'true or false', example: 'true' });
const path = (means: string, example: string): SettingWords => ({ means, form: 'a path, or none', example });
const whole = (means: string, example: string, range = ''): SettingWords => ({
  means,
  form: `a whole number${range}, or none`,
  example,
});

/** What a profile keeps under `settings`, in the order in which it is shown. */
const KEPT = {
  allow_unattended_reveal: onOff('reveal live cards with nobody at the terminal'),
  read_only: onOff('refuse every operation that writes'),
  max_per_call: usd('most one operation may move', '50.00'),
  max_per_run: usd('most one run, single or bulk, may move', '250.00'),
  max_per_day: usd('most that may leave the wallet on a day (UTC), counted from the journal', '500.00'),
  max_cards: whole('most cards one run may create', '20'),
  bins: {
    means: 'the only BINs cards may be created from',
    form: 'BIN ids separated by commas, or none',
    example: 'bin_1,bin_2',
  },
  approve_above: usd('most one operation may take from the wallet without approval of other persons', '1000.00'),
  approve_day: usd('most that may leave the wallet on a day (UTC) without approval', '2000.00'),
  approve_irreversible: onOff('hold what cannot be undone until it is approved'),
  approve_rows: whole('most rows of one run without approval; rows that freeze cards do not count', '50'),
  approvals_needed: whole('persons who must approve, 1 when not set', '2', ' from 1 to 9'),
  approve_within_hours: whole('hours that a request for approval stands, 24 when not set', '48', ' from 1 to 168'),
  approvers_file: path('file of those who may approve, one key a line', './approvers'),
  journal: {
    means: 'shared journal that operations are kept in, without a password',
    form: 'an address, local, or none',
    example: 'postgres://db.example.com/cards',
  },
  sandbox_token_file: path(
    'file with the admin token of the sandbox at this address; commands of the sandbox go there',
    './admin-token',
  ),
  mirror: { means: 'whether a copy of the account may lie on this machine', form: 'on or off', example: 'off' },
  policy: path(
    'file of rules that policy check and policy apply read when none is named, checked at once',
    './policy.yaml',
  ),
} as const satisfies Record<string, SettingWords>;

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
  },
} as const satisfies Record<string, SettingWords>;

export type SettingName = keyof typeof SETTINGS;

// The `CARDWRIGHT_` variables of the environment, as all of them are read.

const OURS = 'CARDWRIGHT_';

/** What help and `docs/guide/service.md` say of it. */
export const EMPTY_VARIABLES = `A variable ${OURS}… that is set and empty is refused (exit 2).`;

/**
 * Throws `usage` for a variable of ours that is set and empty: a CI job that lacks a secret or a setting has one, and what
 * it should have chosen must not be chosen otherwise.
 */
export function refuseEmptyVariables(env: Readonly<Record<string, string | undefined>>): void {
  const empty = Object.keys(env).find(name => name.startsWith(OURS) && env[name] === '');
  if (empty === undefined) return;
  throw usage(`${empty} is set and empty`, `unset ${empty}`);
}
