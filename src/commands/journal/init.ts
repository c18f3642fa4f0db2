import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { usage } from '../../cli/parsing/values.ts';
import { choice, flag, integer, text } from '../../contract/field.ts';
import { SCHEMA_NUMBER } from '../../team/schema/number.ts';
import { type FirstAccount, journalSql, upgradeSql } from '../../team/schema/print.ts';

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
    'With --from the file brings a journal of an older schema here: nothing that is kept is changed, and operators of older versions are refused from then on.',
  ],
  flags: {
    printSql: option(flag({ doc: 'Print the SQL; there is no other way to make a journal.', basis: OURS })),
    account: option(
      text({ doc: 'Name of the account, as operators will call it.', basis: OURS, maxLength: 64 }),
      '<name>',
    ),
    origin: option(text({ doc: 'Scheme and host of the service the account is at.', basis: OURS }), '<origin>'),
    from: option(
      integer({ doc: 'Print what brings a journal of this older schema here instead.', basis: OURS, min: 1 }),
      '<number>',
    ),
    mode: option(choice(['test', 'live'], { doc: 'Mode of its API keys.', basis: OURS })),
  },
  examples: [
    { does: 'To read it first', run: 'journal init --print-sql' },
    { does: 'For a journal that an older cardwright has made', run: 'journal init --print-sql --from 1' },
    {
      does: 'With an account',
      run: 'journal init --print-sql --account main --origin https://api.example.com --mode live',
    },
  ],
  run: async (_ctx, { printSql = false, from, account, origin, mode }) => {
    if (!printSql) throw usage('journal init prints SQL and runs none: give --print-sql');
    if (from !== undefined) return upgradeFrom(from, { account, origin, mode });
    return journalSql(firstAccount({ account, origin, mode }));
  },
  show: sql => ({ noun: 'SQL', columns: [], data: sql, prose: sql }),
});

function upgradeFrom(from: number, given: Given): string {
  if (Object.values(given).some(value => value !== undefined)) throw usage('--from makes no account');
  if (from >= SCHEMA_NUMBER)
    throw usage(`--from is an older schema than ${SCHEMA_NUMBER}, which this cardwright makes`);
  return upgradeSql(from);
}

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
