import { tells } from '../../cli/answer-fields.ts';
import { confirmed } from '../../cli/confirm.ts';
import { command } from '../../cli/parsing/command.ts';
import { usage } from '../../cli/parsing/values.ts';
import { profile } from './columns.ts';
import { showRemoved } from './removed.ts';

/** Removes a profile and every copy of its key. */
export const removeProfile = command({
  path: 'profiles remove',
  summary: 'Remove a profile with its key and settings, after asking',
  answers: { one: { name: tells.text('Name of the profile.'), removed: tells.yes('Always true.') } },
  effect: 'irreversible',
  ends: { not_found: 'There is no such profile.' },
  args: { profile },
  examples: [
    { does: 'In a script', run: 'profiles remove team --yes' },
    { does: 'Asked first', run: 'profiles remove team' },
  ],
  async run(ctx, { profile }) {
    const profiles = await ctx.profiles();
    if (profile === 'sandbox') throw usage('the built-in profile sandbox is always there', 'cardwright sandbox reset');
    const row = await profiles.get(profile);
    await confirmed(ctx, {
      intent: `Remove profile ${row.name}`,
      question: `Remove profile ${row.name} and its key ${row.key}?`,
      command: `cardwright profiles remove ${row.name} --yes`,
    });
    return { name: profile, remains: await profiles.remove(profile) };
  },
  show: removed => showRemoved(removed),
});
