import { orNull, tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';

/** What the copy holds and how old it is. */
export const booksState = command({
  path: 'books status',
  summary: 'Show what the local copy holds, and how old it is',
  answers: {
    one: {
      path: tells.text('The file.'),
      exists: tells.yes('Whether there is a copy.'),
      size: tells.count('Bytes.'),
      as_of: orNull(tells.time('The copy is of this instant of the service.')),
      cards: tells.count('Cards.'),
      transactions: tells.count('Transaction records.'),
      gone: tells.count('Records that the service no longer has; they are kept.'),
      merchants: tells.count('Merchant names.'),
      changes: tells.count('Changes of records that were seen.'),
      moves: tells.count('Rows of the journal of this machine.'),
      open_windows: tells.count('Windows of time that moved at each try.'),
      kept_since: orNull(tells.time('Older records were left out, as mirror_months says; null where all are kept.')),
      folded: tells.count('Records that were left out; sums count them.'),
      last_exact_cut: orNull(tells.text('The last cut at which everything was explained.')),
      totals: orNull(tells.text('Whether lists count their rows: told, absent or wrong.')),
      filters: orNull(tells.text('Whether from and to are honoured or ignored.')),
      order: orNull(tells.text('other: transactions come in no order of time.')),
      unknown_fields: tells.map('Fields the contract does not know, and on how many records they were seen.'),
    },
  },
  about: ['Nothing is sent. What was found out about the service is null until a sync has seen it.'],
  reach: 'files',
  ends: { check_failed: 'The file is damaged.' },
  examples: [
    { does: 'In words', run: 'books status' },
    { does: 'How old it is, for a script', run: 'books status --jq .as_of' },
  ],
  run: async ctx => (await ctx.mirror()).status(),
  show: status => ({
    data: { ...status },
    noun: 'mirror',
    idField: 'path',
    columns: [
      { field: 'path', title: 'PATH', kind: 'text', priority: 1 },
      { field: 'as_of', title: 'AS OF', kind: 'time', priority: 1 },
      { field: 'cards', title: 'CARDS', kind: 'integer', priority: 1 },
      { field: 'transactions', title: 'TRANSACTIONS', kind: 'integer', priority: 1 },
      { field: 'size', title: 'BYTES', kind: 'integer', priority: 2 },
    ],
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['File', status.path],
          ['As of', status.as_of ?? 'never: cardwright books sync'],
          ['Cards', String(status.cards)],
          ['Transactions', `${status.transactions}, and ${status.gone} that are gone`],
          ...(status.kept_since === null
            ? []
            : [['Kept since', `${status.kept_since}, ${status.folded} older ones in sums`] as const]),
          ['Own moves', String(status.moves)],
          ['Open windows', String(status.open_windows)],
          ['Bytes', String(status.size)],
          ['Service', serviceText(status)],
        ],
      },
    ],
  }),
});

function serviceText({ totals, filters, order }: Record<'totals' | 'filters' | 'order', string | null>): string {
  const facts = [`totals ${totals ?? 'not seen yet'}`, `from and to ${filters ?? 'not seen yet'}`];
  return [...facts, ...(order === null ? [] : ['no order of time'])].join(', ');
}
