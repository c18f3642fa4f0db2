/** The local copy of an account: synced, looked at, queried, removed. */

import { countOf } from '../../cli/listing.ts';
import { COPY_FLAGS, openCopy } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, duration, maybe, option, orNull, takes, tells } from '../../cli/parsing/flag.ts';
import { must } from '../../contract/field.ts';
import { SECOND } from '../../core/durations.ts';
import { DEFAULT_RATE } from '../../mirror/paced-reader.ts';
import type { Column } from '../../terminal/view.ts';

const COUNTS = {
  new: tells.count('Seen for the first time.'),
  changed: tells.count('Other than they were known.'),
  gone: tells.count('No longer at the service.'),
} as const;

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
          open: tells.count('Spans of time that are not read yet; 0 where the sync came to its end.'),
        },
        'Windows of time.',
      ),
      cut: orNull(tells.text('The last checkpoint of a reconciliation.')),
      exact: tells.yes('Whether that checkpoint was exact.'),
    },
  },
  about: [
    'Cards, transactions and the wallet go into a file of this user alone, never a card number, a code or a key. What was read stays when a sync is stopped; the next one goes on there. When nothing moved, three requests are enough.',
    'The service has no list of changes: what came since is read, authorizations that may have changed are read again, and counts are compared.',
  ],
  reach: 'service',
  ends: {
    unreachable: 'The service cannot be asked; what was read is kept.',
    guarded: 'The file is of another account, or the profile has mirror off.',
  },
  flags: {
    full: option(takes.flag('Read everything again.')),
    rate: option(
      takes.integer(`At most so many requests a minute; when left out ${DEFAULT_RATE}, and no limit with --sandbox.`, {
        min: 1,
        max: 6_000,
      }),
    ),
  },
  examples: {
    'Copy the account, or what is new of it': 'books sync',
    'Read everything again, slowly': 'books sync --full --rate 60',
    'What was new, for a script': 'books sync --jq .transactions.new',
  },
  run: async (ctx, { full, rate }) => (await ctx.api.mirror()).sync({ full, rate }),
  columns: 'as_of transactions.new transactions.changed transactions.gone requests',
  noun: 'sync',
  idField: 'as_of',
});

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
      open_windows: tells.count('Spans of time that a sync which was stopped has left.'),
      last_exact_cut: orNull(tells.text('The last checkpoint at which everything was explained.')),
      totals: orNull(tells.text('Whether lists count their rows: told, absent or wrong.')),
      filters: orNull(tells.text('Whether from and to are honoured or ignored.')),
      order: orNull(tells.text('other: transactions come in no order of time.')),
    },
  },
  about: 'Nothing is sent. What was found out about the service is null until a sync has seen it.',
  reach: 'files',
  ends: { check_failed: 'The file is damaged.' },
  examples: {
    'In words': 'books status',
    'How old it is, for a script': 'books status --jq .as_of',
  },
  run: async ctx => (await ctx.api.mirror()).status(),
  columns: [
    'path as_of cards transactions size:2 gone:4 moves:4 open_windows:4 totals:4 filters:4 order:4',
    {
      size: 'BYTES',
      gone: { screenOnly: true },
      moves: { screenOnly: true },
      open_windows: { screenOnly: true },
      totals: { screenOnly: true, unlessEmpty: true },
      filters: { screenOnly: true, unlessEmpty: true },
      order: { screenOnly: true, unlessEmpty: true },
    },
  ],
  noun: 'mirror',
  idField: 'path',
  show: status => ({ notes: status.open_windows === 0 ? [] : ['It is not read whole: cardwright books sync'] }),
});

const LONGEST_SQL = 1_000_000;

export const queryBooks = command({
  path: 'books query',
  summary: 'Ask the local copy in SQL',
  answers: { list: {}, page: { as_of: maybe(tells.time('The copy is of this instant of the service.')) } },
  about: [
    'One statement that only reads; - takes it from standard input. cardwright schema mirror prints the views: amounts are cents, times are milliseconds since 1970 UTC. A statement that would write, attach or change a setting is refused.',
    'It runs in a process of its own, which is ended at --sql-timeout. A copy that is older than --max-age is brought up to date first.',
  ],
  reach: 'service',
  ends: {
    usage: 'The statement is refused; the reason is that of SQLite.',
    wait_expired: 'It took longer than --sql-timeout and was ended.',
    unreachable: 'With --offline there is no copy, or the service cannot be asked.',
  },
  args: { sql: argument(must(takes.text('The statement, or - for standard input.'))) },
  flags: {
    sqlTimeout: duration('How long it may take; 30s when left out.'),
    ...COPY_FLAGS,
  },
  examples: {
    'How many cards there are of each status': "books query 'select count(*) from cards group by status'",
    'What was refunded, in cents': `books query "select sum(cents) from tx where type='refund'"`,
    'As an object a row': "books query 'select merchant, cents from tx' --json",
  },
  async run(ctx, { sql, sqlTimeout = 30 * SECOND, ...asked }) {
    const statement = sql === '-' ? await ctx.files.stdin.readText(LONGEST_SQL) : sql;
    using copy = await openCopy(ctx, asked);
    return { ...(await copy.query(statement, sqlTimeout)), as_of: copy.as_of };
  },
  noun: 'row',
  show: ({ columns, batches, as_of }) => ({
    listing: {
      batches,
      page: () => ({ as_of }),
      footer: rows => `${countOf(rows, 'row')}, as of ${as_of}.`,
    },
    idField: columns[0] ?? 'id',
    columns: columns.map((name, index): Column => ({ field: name, title: name, kind: 'text', priority: index + 1 })),
  }),
});

export const resetBooks = command({
  path: 'books reset',
  summary: 'Put the local copy aside and start again',
  answers: {
    one: {
      path: tells.text('The file.'),
      existed: tells.yes('Whether there was one.'),
      moved_to: maybe(tells.text('Where it is now; not with --hard.')),
    },
  },
  effect: 'irreversible',
  dryRun: true,
  about:
    'The next sync reads everything again. What only the copy knows goes with it: when something was first seen, changes, checkpoints and reports.',
  flags: { hard: option(takes.flag('Delete the file in place of moving it aside.')) },
  examples: {
    'Begin anew; the old file stays beside': 'books reset --yes',
    'Delete the copy': 'books reset --hard --yes',
  },
  async run(ctx, { hard }) {
    const mirror = await ctx.api.mirror();
    const intent = hard ? `Delete the mirror ${mirror.path}` : `Move the mirror ${mirror.path} aside`;
    if (ctx.dryRun) return { path: mirror.path, existed: (await mirror.status()).exists };
    await ctx.ui.confirmed(intent);
    return { path: mirror.path, ...(await mirror.reset({ hard: hard === true })) };
  },
  columns: ['path existed moved_to', { moved_to: { unlessEmpty: true } }],
  noun: 'mirror',
  idField: 'path',
});
