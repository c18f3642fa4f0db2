import { orNull, tells } from '../../cli/answer-fields.ts';
import type { ProfileRow } from '../../cli/context.ts';
import { argument, OURS } from '../../cli/parsing/flag.ts';
import { text } from '../../contract/field.ts';
import { GIVEN_NAME_RULE } from '../../core/given-name.ts';
import { KEPT_SETTINGS } from '../../core/setting-names.ts';
import type { Column } from '../../terminal/view.ts';

export const PROFILE_COLUMNS: readonly Column[] = [
  { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
  { field: 'current', title: 'CURRENT', kind: 'boolean', priority: 1 },
  { field: 'mode', title: 'MODE', kind: 'word', priority: 1 },
  { field: 'base_url', title: 'BASE ADDRESS', kind: 'text', priority: 2 },
  { field: 'key', title: 'KEY', kind: 'text', priority: 3 },
  { field: 'key_source', title: 'KEPT IN', kind: 'word', priority: 5 },
  { field: 'contract', title: 'CONTRACT', kind: 'text', priority: 6, wideOnly: true },
];

/** The columns of one profile: every setting too, set or not, under the names that `--fields` and the JSON have. */
export const ONE_PROFILE_COLUMNS: readonly Column[] = [
  ...PROFILE_COLUMNS,
  ...KEPT_SETTINGS.map(
    // A list of BINs; every other value is one word.
    (name): Column => ({ field: `settings.${name}`, title: name.toUpperCase(), kind: 'list', priority: 7 }),
  ),
];

export const profile = argument(
  text({ doc: `Name of the profile. It has ${GIVEN_NAME_RULE}.`, basis: OURS, names: 'profile' }),
);

/** Label and value lines of a profile; the key as prefix and last four only. */
export function profilePairs(row: ProfileRow): [string, string][] {
  return [
    ['Profile', `${row.name}${row.current ? ' (current)' : ''}`],
    ['Mode', row.mode],
    ['Base address', row.base_url],
    ['Key', `${row.key} (${row.key_source})`],
    ['Contract', row.contract ?? 'as assumed'],
    ...Object.entries(row.settings).map(([name, value]): [string, string] => [name, String(value)]),
  ];
}

/** A profile as data. */
export const PROFILE_ROW = {
  name: tells.text('Name.'),
  current: tells.yes('Whether it is used when none is named.'),
  mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
  base_url: tells.text('Address of the service.'),
  key: tells.text('Prefix and last four characters of the key.'),
  key_source: tells.text('Where the key is kept.'),
  contract: orNull(tells.text('File of contract overrides.')),
  settings: tells.json('Settings that differ from none.'),
} as const;
