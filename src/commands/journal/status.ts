import { maybe, orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';

/** Where operations are kept, and how the journal stands. */
export const journalStatus = command({
  path: 'journal status',
  summary: 'Show where operations are kept, and how that journal stands',
  answers: {
    one: {
      place: tells.text('The file, or the address of the database.'),
      shared: tells.yes('Whether several people may use it.'),
      journal: orNull(tells.text('Its id.')),
      account: orNull(tells.text('The account of this run in it.')),
      key_listed: maybe(tells.yes('Whether it lists the API key of this run.')),
      audit_line: orNull(tells.count('Number of its last audit line.')),
      seen_line: orNull(tells.count('Highest number that this machine has seen.')),
      unfinished: tells.count('Operations that are not finished.'),
      locked_by: tells.json('Sessions that hold the account at this moment.'),
      limits: tells.json('Limits that the journal sets.'),
      approvers: tells.json('Who may approve.'),
    },
  },
  reach: 'service',
  ends: { guarded: 'The database cannot be reached.' },
  examples: [
    { does: 'In words', run: 'journal status' },
    { does: 'For a script', run: 'journal status --json' },
  ],
  run: async ctx => (await ctx.journalAdmin()).status(),
  show: state => ({
    data: {
      place: state.place,
      shared: state.shared,
      journal: state.journal ?? null,
      account: state.account ?? null,
      ...(state.keyListed !== undefined && { key_listed: state.keyListed }),
      audit_line: state.auditLine ?? null,
      seen_line: state.seenLine ?? null,
      unfinished: state.unfinished,
      locked_by: [...state.lockedBy],
      limits: [...state.limits],
      approvers: [...state.approvers],
    },
    noun: 'journal',
    columns: [
      { field: 'place', title: 'PLACE', kind: 'text', priority: 1 },
      { field: 'shared', title: 'SHARED', kind: 'boolean', priority: 1 },
      { field: 'account', title: 'ACCOUNT', kind: 'text', priority: 2 },
      { field: 'unfinished', title: 'UNFINISHED', kind: 'integer', priority: 2 },
    ],
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['Journal', `${state.place}${state.shared ? ', shared' : ', of this machine'}`],
          ['Account', state.account ?? 'none yet'],
          ...(state.keyListed === undefined
            ? []
            : [
                [
                  'API key',
                  state.keyListed ? 'listed' : 'not listed: cardwright journal init <address> --key',
                ] as const,
              ]),
          ['Audit line', String(state.auditLine ?? 'none')],
          ...(state.seenLine === undefined ? [] : [['Seen here', String(state.seenLine)] as const]),
          ['Unfinished', String(state.unfinished)],
          ...state.lockedBy.map(each => ['Locked by', each] as const),
          ...state.limits.map(each => ['Limit', each] as const),
          ...state.approvers.map(each => ['Approver', each] as const),
        ],
      },
    ],
  }),
});
