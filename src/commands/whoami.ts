import { command } from '../cli/parsing/command.ts';
import { orNull, tells } from '../cli/parsing/flag.ts';
import { pairsBlock } from '../terminal/view.ts';

export const whoami = command({
  path: 'whoami',
  summary: 'Show profile, mode, address and key of this run, and where each comes from',
  answers: {
    one: {
      profile: tells.text('Name of the profile; env for a key of the environment.'),
      mode: tells.word('Kind of key.', ['sandbox', 'test', 'live']),
      base_url: tells.text('Address of the service.'),
      key: orNull(tells.text('Prefix and last four characters of the key.')),
      key_source: tells.text('What kind of place the key is kept in.'),
      key_home: tells.text('Where that is.'),
      chosen_by: tells.text('What chose this profile.'),
      contract: orNull(tells.text('File of contract overrides.')),
      limits: tells.json('Limits that are set: name, value, and source, which is the managed file or the profile.'),
    },
  },
  reach: 'service',
  examples: [{ does: 'In words', run: 'whoami' }],
  run: async ctx => ({ who: await ctx.api.identity(), limits: await ctx.api.limits() }),
  show: ({ who, limits }) => ({
    data: {
      profile: who.profile,
      mode: who.mode,
      base_url: who.baseUrl,
      key: who.keyHint ?? null,
      key_source: who.keySource,
      key_home: who.keyHome,
      chosen_by: who.chosenBy,
      contract: who.contractFile ?? null,
      limits: limits.map(each => ({ ...each })),
    },
    noun: 'profile',
    idField: 'profile',
    columns: [
      { field: 'profile', title: 'PROFILE', kind: 'id', priority: 1 },
      { field: 'mode', title: 'MODE', kind: 'word', priority: 1 },
      { field: 'base_url', title: 'BASE ADDRESS', kind: 'text', priority: 2 },
      { field: 'key', title: 'KEY', kind: 'text', priority: 2 },
      { field: 'chosen_by', title: 'CHOSEN BY', kind: 'text', priority: 3 },
      { field: 'contract', title: 'CONTRACT', kind: 'text', priority: 4 },
      { field: 'key_source', title: 'KEPT AS', kind: 'word', priority: 3 },
      { field: 'key_home', title: 'KEPT IN', kind: 'text', priority: 5, wideOnly: true },
    ],
    blocks: [
      pairsBlock([
        ['Profile', who.profile],
        ['Mode', who.mode === 'live' ? 'LIVE' : who.mode],
        ['Base address', who.baseUrl],
        ['Key', who.keyHint ?? 'none needed'],
        ['Kept', `${who.keySource}: ${who.keyHome}`],
        ['Chosen by', who.chosenBy],
        ['Contract', who.contractFile ?? 'as assumed'],
        ...limits.map(({ name, value, source }): [string, string] => [name, `${value}, set by ${source}`]),
      ]),
    ],
  }),
});
