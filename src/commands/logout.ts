import { tells } from '../cli/answer-fields.ts';
import { command } from '../cli/parsing/command.ts';
import { usage } from '../cli/parsing/values.ts';
import { showRemoved } from './profiles/removed.ts';

/** Removes a profile with its key, as `profiles remove` does, and asks nothing. */
export const logout = command({
  path: 'logout',
  summary: 'Remove a profile with its key and settings from this machine',
  answers: { one: { name: tells.text('Name of the profile.'), removed: tells.yes('Always true.') } },
  effect: 'irreversible',
  about: [
    'The profile is the one of --profile, else the current one. Nothing is asked: login makes it again, without its settings such as spend limits. The key stays valid at the service.',
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
