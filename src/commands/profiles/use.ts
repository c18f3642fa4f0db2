import { command } from '../../cli/parsing/command.ts';
import { ONE_PROFILE_COLUMNS, PROFILE_ROW, profile } from './columns.ts';

/** Makes a profile the current one. */
export const useProfile = command({
  path: 'profiles use',
  summary: 'Make a profile the current one',
  answers: { one: PROFILE_ROW },
  effect: 'reversible',
  ends: { not_found: 'There is no such profile.' },
  args: { profile },
  examples: [
    { does: 'From now on', run: 'profiles use team' },
    { does: 'Back to the sandbox', run: 'profiles use sandbox' },
  ],
  run: async (ctx, { profile }) => (await ctx.profiles()).use(profile),
  show: row => ({
    data: { ...row },
    noun: 'profile',
    idField: 'name',
    columns: ONE_PROFILE_COLUMNS,
    blocks: [{ kind: 'line', text: `Now using ${row.name} (${row.mode}, ${row.base_url}).` }],
  }),
});
