import { orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { flag, integer } from '../../contract/field.ts';
import { DEFAULT_RATE, stillOpen } from '../../mirror/rate.ts';

const COUNTS = {
  new: tells.count('Seen for the first time.'),
  changed: tells.count('Other than they were known.'),
  gone: tells.count('No longer at the service.'),
} as const;

/** Brings the local copy of the account up to date. */
export const syncBooks = command({
  path: 'books sync',
  summary: 'Bring the local copy of the account up to date',
  answers: {
    one: {
      as_of: tells.time('The copy is of this instant of the service.'),
      requests: tells.count('Requests that were sent.'),
      transactions: tells.object(COUNTS, 'Transaction records.'),
      cards: tells.object(COUNTS, 'Cards.'),
      windows: tells.object(
        {
          read: tells.count('Windows of time that were read complete.'),
          open: tells.count('Windows that moved at each try; the next sync reads them again.'),
        },
        'Windows of time.',
      ),
      cut: orNull(tells.text('The last cut of a reconciliation.')),
      exact: tells.yes('Whether that cut was exact.'),
    },
  },
  about: [
    'Cards, transactions, challenges and the wallet go into a file of this user alone, never a card number, a code or a key. What was read stays when a sync is stopped; the next one goes on there. When nothing moved, three requests are enough.',
    'The service has no list of changes: windows of time are read complete, authorizations that may have changed are read again, and counts are compared.',
  ],
  reach: 'service',
  ends: {
    unreachable: 'The service cannot be asked, or a window moved at each try; what was read is kept.',
    guarded: 'The file is of another account, or the profile has mirror off.',
  },
  flags: {
    full: option(flag({ doc: 'Read everything again.', basis: OURS })),
    rate: option(
      integer({
        doc: `At most so many requests a minute; when left out ${DEFAULT_RATE}, and no limit with --sandbox.`,
        basis: OURS,
        min: 1,
        max: 6_000,
      }),
    ),
  },
  examples: [
    { does: 'Copy the account, or what is new of it', run: 'books sync' },
    { does: 'Read everything again, slowly', run: 'books sync --full --rate 60' },
    { does: 'What was new, for a script', run: 'books sync --jq .transactions.new' },
  ],
  run: async (ctx, { full, rate }) => (await ctx.mirror()).sync({ full, rate }),
  show: report => ({
    data: { ...report },
    noun: 'sync',
    idField: 'as_of',
    columns: [
      { field: 'as_of', title: 'AS OF', kind: 'time', priority: 1 },
      { field: 'transactions.new', title: 'NEW', kind: 'integer', priority: 1 },
      { field: 'transactions.changed', title: 'CHANGED', kind: 'integer', priority: 1 },
      { field: 'transactions.gone', title: 'GONE', kind: 'integer', priority: 1 },
      { field: 'requests', title: 'REQUESTS', kind: 'integer', priority: 1 },
    ],
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['As of', report.as_of],
          ['Transactions', countsText(report.transactions)],
          ['Cards', countsText(report.cards)],
          ['Requests', String(report.requests)],
        ],
      },
    ],
    ...(report.windows.open > 0 && { failure: stillOpen(report.windows.open) }),
  }),
});

function countsText(counts: { readonly new: number; readonly changed: number; readonly gone: number }): string {
  return `${counts.new} new, ${counts.changed} changed, ${counts.gone} gone`;
}
