import { command } from '../../cli/parsing/command.ts';
import { argument, local, OURS } from '../../cli/parsing/flag.ts';
import { text } from '../../contract/field.ts';
import { capital } from '../../core/row-words.ts';
import { SETTINGS } from '../../core/setting-names.ts';
import { ONE_PROFILE_COLUMNS, PROFILE_ROW, profile, profilePairs } from './columns.ts';

/** Changes one setting of a profile. */
export const setProfile = command({
  path: 'profiles set',
  summary: 'Change one setting of a profile',
  answers: { one: PROFILE_ROW },
  effect: 'reversible',
  ends: { not_found: 'There is no such profile.' },
  about: [
    'The limits max_per_call, max_per_run, max_per_day, max_cards and bins refuse (14) before anything is sent. The value none removes a setting. The built-in profile sandbox has no settings.',
  ],
  terms: {
    title: 'Settings',
    rows: Object.entries(SETTINGS).map(([term, { means, form, example }]) => ({
      term,
      means: `${capital(means)}: ${form}. Example: ${term} ${example}`,
    })),
  },
  args: {
    profile,
    setting: argument(text({ doc: 'Name of the setting.', basis: OURS })),
    value: argument(local('setting', 'Its value, or none.')),
  },
  examples: [
    { does: 'Refuse every change', run: 'profiles set team read_only true' },
    { does: 'Other routes than assumed', run: 'profiles set team contract ./overrides.json' },
  ],
  run: async (ctx, { profile, setting, value }) => (await ctx.profiles()).set(profile, setting, value),
  show: row => ({
    data: { ...row },
    noun: 'profile',
    idField: 'name',
    columns: ONE_PROFILE_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: profilePairs(row) }],
  }),
});
