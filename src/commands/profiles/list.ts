import { command } from '../../cli/parsing/command.ts';
import { PROFILE_COLUMNS, PROFILE_ROW } from './columns.ts';

/** Lists saved profiles. */
export const listProfiles = command({
  path: 'profiles list',
  summary: 'List saved profiles',
  answers: { list: PROFILE_ROW },
  reach: 'files',
  examples: [
    { does: 'All of them', run: 'profiles list' },
    { does: 'The names alone', run: 'profiles list -o id' },
  ],
  run: async ctx => (await ctx.profiles()).list(),
  show(rows) {
    async function* batches() {
      yield rows.map(row => ({ ...row }));
    }
    return {
      listing: {
        batches: batches(),
        page: () => ({ total: rows.length }),
        footer: count =>
          count === 0
            ? 'No profiles saved. The sandbox is always there: --sandbox   Save a key: cardwright login'
            : undefined,
      },
      noun: 'profile',
      idField: 'name',
      columns: PROFILE_COLUMNS,
    };
  },
});
