import type { Context } from '../../cli/context.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, local, OURS } from '../../cli/parsing/flag.ts';
import { text } from '../../contract/field.ts';
import { CliError } from '../../core/errors.ts';
import { capital } from '../../core/row-words.ts';
import { SETTINGS } from '../../core/setting-names.ts';
import { ONE_PROFILE_COLUMNS, PROFILE_ROW, profile, profilePairs } from './columns.ts';

/** Changes one setting of a profile. */
export const setProfile = command({
  path: 'profiles set',
  summary: 'Change one setting of a profile',
  answers: { one: PROFILE_ROW },
  effect: 'reversible',
  ends: {
    not_found: 'There is no such profile.',
    guarded: 'It would loosen a limit, and this is no terminal. Nothing was changed.',
    not_confirmed: 'It would loosen a limit, and another name was typed. Nothing was changed.',
  },
  about: [
    'The limits max_per_call, max_per_run, max_per_day, max_cards and bins refuse (14) before anything is sent. The value none removes a setting. What loosens a limit (a higher one or none, other approvers, another address, contract or journal of a profile that has limits) is asked at a terminal by typing the name of the profile, and refused (14) without one, also with --yes. The audit log keeps each change of a limit. The built-in profile sandbox has no settings.',
  ],
  terms: {
    title: 'Settings',
    rows: Object.entries(SETTINGS).map(([term, { means, form, example }]) => ({
      term,
      means: `${capital(means)}: ${form}. Example: ${term} ${example}`,
    })),
  },
  args: {
    profile,
    setting: argument(text({ doc: 'Name of the setting.', basis: OURS })),
    value: argument(local('setting', 'Its value, or none.')),
  },
  examples: [
    { does: 'Refuse every change', run: 'profiles set team read_only true' },
    { does: 'Other routes than assumed', run: 'profiles set team contract ./overrides.json' },
  ],
  async run(ctx, { profile, setting, value }) {
    const profiles = await ctx.profiles();
    const { before, after, isLimit, loosens } = await profiles.foresee(profile, setting, value);
    if (loosens) await askToLoosen(ctx, { profile, setting, before, after });
    const row = await profiles.set(profile, setting, value);
    if (isLimit && before !== after) {
      const { mode, base_url } = row;
      const facts = {
        event: 'limit',
        profile,
        mode,
        origin: new URL(base_url).origin,
        operation: 'profiles.set',
      } as const;
      await (await ctx.audit()).append({ ...facts, limit: setting, before, after, outcome: 'done' });
    }
    return row;
  },
  show: row => ({
    data: { ...row },
    noun: 'profile',
    idField: 'name',
    columns: ONE_PROFILE_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: profilePairs(row) }],
  }),
});

interface Loosening {
  readonly profile: string;
  readonly setting: string;
  readonly before: string;
  readonly after: string;
}

/** A person at a terminal types the name of the profile; nothing else answers this. */
async function askToLoosen(ctx: Context, { profile, setting, before, after }: Loosening): Promise<void> {
  const change = `${setting} of profile ${profile} from ${before} to ${after}`;
  if (!ctx.canAsk) {
    throw new CliError('guarded', {
      message: `this loosens ${change}, which a person does at a terminal. Nothing was changed`,
      reason: 'loosened_limit',
      hint: 'cardwright whoami',
      outcome: 'not_sent',
    });
  }
  const question = `Loosen ${change}? Type the name of the profile`;
  if (await ctx.prompts.typed(question, { expect: profile, flag: 'a terminal' })) return;
  throw new CliError('not_confirmed', {
    message: 'not confirmed. Nothing was changed.',
    reason: 'declined',
    outcome: 'not_sent',
  });
}
