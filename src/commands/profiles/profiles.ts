/** Profiles of this machine. */

import { PROFILE_ROW, type ProfileRow } from '../../app/account.ts';
import type { Context, Shown } from '../../cli/context.ts';
import { columnsOf } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, local, takes, tells } from '../../cli/parsing/flag.ts';
import { CliError, notSent, usage } from '../../core/errors.ts';
import { GIVEN_NAME_RULE } from '../../core/names.ts';
import { capital } from '../../core/row-words.ts';
import { isLimitName } from '../../limits/limits.ts';
import { KEPT_SETTINGS, SETTINGS } from '../../profile/settings.ts';
import { type Column, lineBlock } from '../../terminal/view.ts';

const profile = argument(takes.text(`Name of the profile. It has ${GIVEN_NAME_RULE}.`, { names: 'profile' }));

export const PROFILE_COLUMNS = columnsOf(PROFILE_ROW, 'name current mode base_url:2 key:3 key_source:5 contract:6+', {
  base_url: 'BASE ADDRESS',
  key_source: 'KEPT IN',
});

/** The columns of one profile: every setting too, set or not, under the names that `--fields` and the JSON have. */
const ONE_PROFILE_COLUMNS: readonly Column[] = [
  ...PROFILE_COLUMNS,
  ...KEPT_SETTINGS.map(
    (name): Column => ({
      field: `settings.${name}`,
      title: name.toUpperCase(),
      // A list of BINs; every other value is one word.
      kind: 'list',
      priority: 7,
      unlessEmpty: true,
    }),
  ),
];

/** One profile as data; for people the line in its place, if there is one. */
export function shownProfile(row: ProfileRow, line?: string): Shown {
  return {
    data: { ...row },
    noun: 'profile',
    idField: 'name',
    columns: ONE_PROFILE_COLUMNS,
    ...(line !== undefined && { blocks: [lineBlock(line)] }),
  };
}

export const listProfiles = command({
  path: 'profiles list',
  summary: 'List saved profiles',
  answers: { list: PROFILE_ROW },
  reach: 'files',
  examples: { 'All of them': 'profiles list' },
  run: async ctx => (await ctx.profiles()).list(),
  noun: 'profile',
  idField: 'name',
  columns: PROFILE_COLUMNS,
  show: rows => ({
    notes: rows.length > 0 ? [] : ['The sandbox is always there: --sandbox   Save a key: cardwright login'],
  }),
});

export const showProfile = command({
  path: 'profiles show',
  summary: 'Show one profile and its settings',
  answers: { one: PROFILE_ROW },
  reach: 'files',
  ends: { not_found: 'There is no such profile.' },
  args: { profile },
  examples: { 'In words': 'profiles show team' },
  run: async (ctx, { profile }) => (await ctx.profiles()).get(profile),
  show: row => shownProfile(row),
});

export const useProfile = command({
  path: 'profiles use',
  summary: 'Make a profile the current one',
  answers: { one: PROFILE_ROW },
  effect: 'reversible',
  ends: { not_found: 'There is no such profile.' },
  args: { profile },
  examples: {
    'From now on': 'profiles use team',
    'Back to the sandbox': 'profiles use sandbox',
  },
  run: async (ctx, { profile }) => (await ctx.profiles()).use(profile),
  show: row => shownProfile(row, `Now using ${row.name} (${row.mode}, ${row.base_url}).`),
});

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
  about:
    'The limits max_per_call, max_per_run, max_per_day, max_cards and bins refuse (14) before anything is sent. The value none removes a setting. What loosens a limit (a higher one or none, other approvers, another address, contract or journal of a profile that has limits) is asked at a terminal by typing the name of the profile, and refused (14) without one, also with --yes. The audit log keeps each change of a limit. The built-in profile sandbox has no settings.',
  terms: {
    title: 'Settings',
    rows: Object.entries(SETTINGS).map(([term, { means, form, example }]) => ({
      term,
      means: `${capital(means)}: ${form}. Example: ${term} ${example}`,
    })),
  },
  args: {
    profile,
    setting: argument(takes.text('Name of the setting.')),
    value: argument(local('setting', 'Its value, or none.')),
  },
  examples: {
    'Refuse every change': 'profiles set team read_only true',
    'Other routes than assumed': 'profiles set team contract ./overrides.json',
  },
  async run(ctx, { profile, setting, value }) {
    const profiles = await ctx.profiles();
    const { before, after, isLimit, loosens } = await profiles.foresee(profile, setting, value);
    if (loosens) await askToLoosen(ctx, { profile, setting, before, after });
    const row = await profiles.set(profile, setting, value);
    if (isLimit && before !== after) await auditLimit(ctx, row, { limit: setting, before, after });
    return row;
  },
  show: row => shownProfile(row),
});

export async function auditLimit(
  ctx: Context,
  { name: profile, mode, base_url }: ProfileRow,
  change: { readonly limit: string; readonly before: string; readonly after: string },
): Promise<void> {
  const facts = { event: 'limit', profile, mode, origin: new URL(base_url).origin } as const;
  await (await ctx.journal.audit()).append([{ ...facts, operation: 'profiles.set', ...change, outcome: 'done' }]);
}

/** A person at a terminal types the name of the profile; nothing else answers this. */
export async function askToLoosen(
  ctx: Context,
  { profile, setting, before, after }: Readonly<Record<'profile' | 'setting' | 'before' | 'after', string>>,
): Promise<void> {
  const change = `${setting} of profile ${profile} from ${before} to ${after}`;
  if (!ctx.ui.canAsk) {
    throw notSent('guarded', `this loosens ${change}, which a person does at a terminal. Nothing was changed`, {
      reason: 'loosened_limit',
      hint: `cardwright profiles show ${profile} -o table`,
    });
  }
  const question = `Loosen ${change}? Type the name of the profile`;
  if (await ctx.ui.prompts.typed(question, { expect: profile, flag: 'a terminal' })) return;
  throw notSent('not_confirmed', 'not confirmed. Nothing was changed.', { reason: 'declined' });
}

export const REMOVED = { name: tells.text('Name of the profile.'), removed: tells.yes('Always true.') } as const;

/** Removes a profile, after asking. Each limit that goes with it is a line of the audit log. */
export async function removed(ctx: Context, name: string) {
  const profiles = await ctx.profiles();
  const row = await profiles.get(name);
  await ctx.ui.confirmed(`Remove profile ${row.name} and its key ${row.key}`);
  const remains = await profiles.remove(row.name);
  const limits = Object.entries(row.settings).filter(([name]) => isLimitName(name));
  for (const [limit, before] of limits) await auditLimit(ctx, row, { limit, before: String(before), after: 'none' });
  const names = limits.map(([limit]) => limit).join(', ');
  if (names !== '') ctx.ui.notice(`Its limits are gone with it: ${names}. A new profile of this name has none.`);
  return { name: row.name, remains };
}

/** A profile that is gone. Where its key is not, that is said, and a failure when it was ours to take away. */
export function showRemoved({ name, remains }: Awaited<ReturnType<typeof removed>>): Shown {
  const stays = remains === undefined ? 'its key was deleted from this machine' : `its key stays in ${remains.place}`;
  const failed = remains?.why !== undefined;
  return {
    data: { name, removed: true },
    noun: 'profile',
    idField: 'name',
    columns: columnsOf(REMOVED, 'name removed'),
    blocks: failed ? [] : [lineBlock(`Removed profile ${name} and its settings; ${stays}.`)],
    ...(failed && {
      failure: new CliError('check_failed', {
        message: `profile ${name} is removed, and its key may still be in ${remains.place}: ${remains.why}`,
        notes: ['Delete it there by hand.'],
      }),
    }),
  };
}

export const removeProfile = command({
  path: 'profiles remove',
  summary: 'Remove a profile with its key and settings, after asking',
  answers: { one: REMOVED },
  effect: 'irreversible',
  ends: { not_found: 'There is no such profile.' },
  args: { profile },
  examples: {
    'In a script': 'profiles remove team --yes',
    'Asked first': 'profiles remove team',
  },
  async run(ctx, { profile }) {
    if (profile === 'sandbox') throw usage('the built-in profile sandbox is always there', 'cardwright sandbox reset');
    return removed(ctx, profile);
  },
  show: removed => showRemoved(removed),
});
