import { command } from '../../cli/command.ts';
import { confirmed } from '../../cli/confirm.ts';
import { profile } from './columns.ts';

/** Removes a profile and every copy of its key. */
export const removeProfile = command({
  path: 'profiles remove',
  summary: 'Remove a profile and its key',
  effect: 'irreversible',
  args: { profile },
  examples: [{ does: 'In a script', run: 'profiles remove team --yes' }],
  async run(ctx, { profile }) {
    const profiles = await ctx.profiles();
    const row = await profiles.get(profile);
    await confirmed(ctx, {
      intent: `Remove profile ${row.name}`,
      question: `Remove profile ${row.name} and its key ${row.key}?`,
      command: `cardwright profiles remove ${row.name} --yes`,
    });
    await profiles.remove(profile);
    return { name: profile, removed: true };
  },
  show: ({ name }) => ({
    noun: 'profile',
    idField: 'name',
    columns: [
      { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
      { field: 'removed', title: 'REMOVED', kind: 'boolean', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Removed ${name} and its key.` }],
  }),
});
