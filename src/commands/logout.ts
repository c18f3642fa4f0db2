import { tells } from '../cli/answer-fields.ts';
import { command } from '../cli/parsing/command.ts';
import { usage } from '../cli/parsing/values.ts';
import { showRemoved } from './profiles/removed.ts';

/** Removes the key of a profile from this machine. */
export const logout = command({
  path: 'logout',
  summary: 'Remove the key of a profile from this machine',
  answers: { one: { name: tells.text('Name of the profile.'), removed: tells.yes('Always true.') } },
  effect: 'irreversible',
  about: ['The profile is the one of --profile, else the current one.'],
  examples: [
    { does: 'The current profile', run: 'logout' },
    { does: 'Of one profile', run: 'logout --profile team' },
  ],
  async run(ctx) {
    const profiles = await ctx.profiles();
    const name = ctx.profileName ?? (await profiles.current());
    if (name === undefined || name === 'sandbox') throw usage('no saved profile is in use', 'cardwright profiles list');
    return { name, remains: await profiles.remove(name) };
  },
  show: removed => showRemoved(removed, 'Logged out of'),
});
