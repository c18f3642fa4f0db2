import { maybe, tells } from '../../cli/answer-fields.ts';
import { MAX_AGE, maxAge, OFFLINE } from '../../cli/offline.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument, OURS, option } from '../../cli/parsing/flag.ts';
import { parseDuration } from '../../cli/parsing/globals.ts';
import { must, text } from '../../contract/field.ts';
import type { Column } from '../../terminal/view.ts';

const DEFAULT_TIMEOUT = '30s';
const LONGEST_SQL = 1_000_000;

/** Runs one statement of SQL that reads the copy. */
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
  args: { sql: argument(must(text({ doc: 'The statement, or - for standard input.', basis: OURS }))) },
  flags: {
    sqlTimeout: option(
      text({ doc: `How long it may take; ${DEFAULT_TIMEOUT} when left out.`, basis: OURS }),
      '<duration>',
    ),
    offline: OFFLINE,
    maxAge: MAX_AGE,
  },
  examples: [
    {
      does: 'How many cards there are of each status',
      run: "books query 'select count(*) from cards group by status'",
    },
    { does: 'What was refunded, in cents', run: `books query "select sum(cents) from tx where type='refund'"` },
    { does: 'As an object a row', run: "books query 'select merchant, cents from tx' --json" },
  ],
  async run(ctx, { sql, sqlTimeout, offline, maxAge: age }) {
    const timeoutMs = parseDuration(sqlTimeout ?? DEFAULT_TIMEOUT, '--sql-timeout');
    const statement = sql === '-' ? await ctx.stdin.readAll(LONGEST_SQL) : sql;
    const mirror = await ctx.mirror();
    using copy = offline ? await mirror.read() : await mirror.readFresh(maxAge(age));
    return { ...(await copy.query(statement, timeoutMs)), as_of: copy.as_of };
  },
  show: ({ columns, batches, as_of }) => ({
    listing: {
      batches,
      page: () => ({ as_of }),
      footer: rows => `${rows} ${rows === 1 ? 'row' : 'rows'}, as of ${as_of}.`,
    },
    noun: 'row',
    idField: columns[0] ?? 'id',
    columns: columns.map((name, index): Column => ({ field: name, title: name, kind: 'text', priority: index + 1 })),
  }),
});
