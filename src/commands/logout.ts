import { command } from '../cli/parsing/command.ts';
import { tells } from '../cli/parsing/flag.ts';
import { usage } from '../cli/parsing/values.ts';
import { showRemoved } from './profiles/profiles.ts';

/** Removes a profile with its key, as `profiles remove` does, and asks nothing. */
export const logout = command({
  path: 'logout',
  summary: 'Remove a profile with its key and settings from this machine',
  answers: { one: { name: tells.text('Name of the profile.'), removed: tells.yes('Always true.') } },
  effect: 'irreversible',
  about: [
    'Uses the profile of --profile, or the current one. Asks no question. login can save the key again, but settings such as spend limits are gone. The key stays valid at the service.',
  ],
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
  show: removed => showRemoved(removed),
});
