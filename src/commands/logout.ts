import { command } from '../cli/parsing/command.ts';
import { usage } from '../core/errors.ts';
import { REMOVED, removed, showRemoved } from './profiles/profiles.ts';

export const logout = command({
  path: 'logout',
  summary: 'Remove the profile in use with its key and settings, after asking',
  answers: { one: REMOVED },
  effect: 'irreversible',
  about:
    'Uses the profile of --profile, or the current one. login can save the key again, but settings such as spend limits are gone. The key stays valid at the service.',
  examples: {
    'The current profile, asked first': 'logout',
    'In a script': 'logout --profile team --yes',
  },
  async run(ctx) {
    const profiles = await ctx.profiles();
    const name = ctx.profileName ?? (await profiles.current());
    if (name === undefined || name === 'sandbox') throw usage('no saved profile is in use', 'cardwright profiles list');
    return removed(ctx, name);
  },
  show: gone => showRemoved(gone),
});
