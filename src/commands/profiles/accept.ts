import { confirmed } from '../../cli/confirm.ts';
import { command } from '../../cli/parsing/command.ts';
import { ONE_PROFILE_COLUMNS, PROFILE_ROW, profile, profilePairs } from './columns.ts';

/** Takes a profile that was changed by hand as it stands now. */
export const acceptProfile = command({
  path: 'profiles accept',
  summary: 'Accept a profile that was changed by hand',
  answers: { one: PROFILE_ROW },
  effect: 'reversible',
  ends: { not_found: 'There is no such profile.', not_confirmed: 'Declined, or nobody could be asked.' },
  about: [
    'Profiles have a checksum. A profile that another program or an editor has changed is not used until you accept it. The command shows what it says now, and asks.',
  ],
  args: { profile },
  examples: [
    { does: 'Shown and asked', run: 'profiles accept team' },
    { does: 'In a script', run: 'profiles accept team --yes' },
  ],
  async run(ctx, { profile }) {
    const profiles = await ctx.profiles();
    const row = await profiles.get(profile);
    if (!(await profiles.changed(profile))) {
      ctx.notice(`Profile ${row.name} is as it was written. There is nothing to accept.`);
      return row;
    }
    for (const [label, value] of profilePairs(row)) ctx.notice(`${label}: ${value}`);
    await confirmed(ctx, {
      intent: `Accept profile ${row.name} as it is now`,
      question: `Accept profile ${row.name} with this address, key and limits?`,
      command: `cardwright profiles accept ${row.name} --yes`,
    });
    return profiles.accept(profile);
  },
  show: row => ({
    data: { ...row },
    noun: 'profile',
    idField: 'name',
    columns: ONE_PROFILE_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: profilePairs(row) }],
  }),
});
