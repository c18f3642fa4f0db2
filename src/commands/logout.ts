import { command } from '../cli/command.ts';
import { usage } from '../cli/values.ts';

/** Removes the key of a profile from this machine. */
export const logout = command({
  path: 'logout',
  summary: 'Remove the key of a profile from this machine',
  effect: 'irreversible',
  about: ['The profile is the one of --profile, else the current one.'],
  examples: [{ does: 'The current profile', run: 'logout' }],
  async run(ctx) {
    const profiles = await ctx.profiles();
    const name = ctx.profileName ?? (await profiles.current());
    if (name === undefined || name === 'sandbox') throw usage('no saved profile is in use', 'cardwright profiles list');
    await profiles.remove(name);
    return { name, removed: true };
  },
  show: ({ name }) => ({
    noun: 'profile',
    idField: 'name',
    columns: [
      { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
      { field: 'removed', title: 'REMOVED', kind: 'boolean', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Logged out of ${name}: its key is gone from this machine.` }],
  }),
});
