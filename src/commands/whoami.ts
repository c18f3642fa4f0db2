import { command } from '../cli/parsing/command.ts';
import { maybe, orNull, tells } from '../cli/parsing/flag.ts';

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
      limits: tells.json(
        'Limits that are set: name, value, and source, which is the managed file, the journal or the profile.',
      ),
      limits_unread: maybe(tells.text('Why those of a shared journal are not among them.')),
    },
  },
  reach: 'service',
  examples: { 'In words': 'whoami' },
  async run(ctx) {
    const who = await ctx.api.identity();
    const { known: limits, unread } = await ctx.api.limits();
    return {
      profile: who.profile,
      mode: who.mode,
      base_url: who.baseUrl,
      key: who.keyHint ?? null,
      key_source: who.keySource,
      key_home: who.keyHome,
      chosen_by: who.chosenBy,
      contract: who.contractFile ?? null,
      limits,
      ...(unread !== undefined && { limits_unread: unread }),
    };
  },
  columns: [
    'profile mode base_url:2 key:2 chosen_by:3 contract:4 key_source:3 key_home:5+ limits:6+ limits_unread:6+',
    {
      ...{ base_url: 'BASE ADDRESS', key_source: 'KEPT AS', key_home: 'KEPT IN' },
      limits: { kind: 'list', programOnly: true },
      limits_unread: { programOnly: true },
    },
  ],
  noun: 'profile',
  idField: 'profile',
  show: ({ limits, limits_unread: unread }) => ({
    notes: [
      ...limits.map(({ name, value, source }) => `${name} is ${value}, set by ${source}`),
      ...(unread === undefined ? [] : [unread]),
    ],
  }),
});
