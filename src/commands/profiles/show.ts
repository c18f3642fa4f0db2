import { command } from '../../cli/parsing/command.ts';
import { ONE_PROFILE_COLUMNS, PROFILE_ROW, profile, profilePairs } from './columns.ts';

/** Shows one profile; of its key the prefix and the last four. */
export const showProfile = command({
  path: 'profiles show',
  summary: 'Show one profile and its settings',
  answers: { one: PROFILE_ROW },
  reach: 'files',
  ends: { not_found: 'There is no such profile.' },
  args: { profile },
  examples: [
    { does: 'In words', run: 'profiles show team' },
    { does: 'As data', run: 'profiles show team --json' },
  ],
  run: async (ctx, { profile }) => (await ctx.profiles()).get(profile),
  show: row => ({
    data: { ...row },
    noun: 'profile',
    idField: 'name',
    columns: ONE_PROFILE_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: profilePairs(row) }],
  }),
});
