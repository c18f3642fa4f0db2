import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { choice, flag, text } from '../../contract/field.ts';
import { type FirstAccount, journalSql } from '../../team/schema/print.ts';

/** `https://host` or `https://host:port`; http for this machine. */
const ORIGIN = /^(?:https:\/\/[^\s/?#@'"]+|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?)$/;
const ACCOUNT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Prints what an admin of a PostgreSQL runs once; cardwright itself never does. */
export const initJournal = command({
  path: 'journal init',
  summary: 'Print the SQL that makes a shared journal, for an admin of PostgreSQL',
  answers: { text: 'The SQL, one transaction.' },
  about: [
    'Prints roles, tables, row-level security, functions and grants for PostgreSQL 15 or newer, and examples for people and runners. Nothing is connected to: an admin of the database reads the file and runs it once.',
    'With --account, --origin and --mode the account is made too, and the user who runs the file is its first admin.',
  ],
  flags: {
    printSql: option(flag({ doc: 'Print the SQL; there is no other way to make a journal.', basis: OURS })),
    account: option(
      text({ doc: 'Name of the account, as operators will call it.', basis: OURS, maxLength: 64 }),
      '<name>',
    ),
    origin: option(text({ doc: 'Scheme and host of the service the account is at.', basis: OURS }), '<origin>'),
    mode: option(choice(['test', 'live'], { doc: 'Mode of its API keys.', basis: OURS })),
  },
  examples: [
    { does: 'To read it first', run: 'journal init --print-sql' },
    {
      does: 'With an account',
      run: 'journal init --print-sql --account main --origin https://api.example.com --mode live',
    },
  ],
  run: async (_ctx, { printSql = false, account, origin, mode }) => {
    if (!printSql) throw usage('journal init prints SQL and runs none: give --print-sql');
    return journalSql(firstAccount({ account, origin, mode }));
  },
  show: sql => ({ noun: 'SQL', columns: [], data: sql, prose: sql }),
});

interface Given {
  readonly account: string | undefined;
  readonly origin: string | undefined;
  readonly mode: FirstAccount['mode'] | undefined;
}

function firstAccount({ account: name, origin, mode }: Given): FirstAccount | undefined {
  if (name === undefined && origin === undefined && mode === undefined) return undefined;
  if (name === undefined || origin === undefined || mode === undefined) {
    throw usage('an account is made of --account, --origin and --mode together');
  }
  if (!ACCOUNT.test(name)) throw usage('--account is of letters, digits, . _ and -, and begins with a letter or digit');
  if (!ORIGIN.test(origin)) throw usage('--origin is scheme and host without a path, such as https://api.example.com');
  return { name, origin, mode };
}
