import { tells } from '../../../cli/answer-fields.ts';
import { command } from '../../../cli/parsing/command.ts';
import { local, OURS, option } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import type { KeptKeys, PrintedKeys, SandboxAccount } from '../../../cli/sandbox-servers.ts';
import type { Shown } from '../../../cli/shown.ts';
import { choice, integer, text } from '../../../contract/field.ts';
import { DIALECT_NAMES } from '../../../contract/sandbox/faults.ts';
import { shellWord } from '../../../core/shell-quote.ts';
import {
  ACCOUNT_COLUMNS,
  ACCOUNT_ROW,
  accountName,
  checkedAddress,
  checkedLifetime,
  checkedName,
  storeFlag,
} from './shown.ts';

const ours = (doc: string) => ({ doc, basis: OURS });

/** Makes an account of a sandbox on a database. */
export const createAccount = command({
  path: 'sandbox accounts create',
  summary: 'Make an account of a sandbox on PostgreSQL, with keys of its own',
  effect: 'reversible',
  reach: 'service',
  about: [
    'Prints the API key and the admin token of the account this once; the database keeps their digests alone. Access to the database is what it takes to make an account.',
    'With --expires a server of the store removes the account, with everything it holds, when that time is over on the clock of the database. Its key and its token are then refused (exit 4); for 30 days the refusal says that the account expired or was removed.',
    '--keys-in prints neither: it writes the files api-key and admin-token, which only you can read, and shows the commands that use them. Files that are there are not overwritten.',
  ],
  answers: {
    either: [
      {
        one: {
          ...ACCOUNT_ROW,
          api_key: tells.text('Key for the service, told this once.'),
          admin_token: tells.text('Token for its control surface, told this once.'),
        },
      },
      {
        one: {
          ...ACCOUNT_ROW,
          api_key_file: tells.text('File of the key, with --keys-in.'),
          admin_token_file: tells.text('File of the token, with --keys-in.'),
        },
      },
    ],
  },
  args: { name: accountName },
  flags: {
    store: storeFlag,
    keysIn: option(
      local('folder', 'Folder for the files api-key and admin-token; nothing of them is printed.'),
      '<folder>',
    ),
    url: option(local('address', 'Address by which the account is reached, for the commands that are shown.'), '<url>'),
    seed: option(integer({ ...ours('Seed of ids, card numbers and codes.'), min: 0 })),
    data: option(choice(['empty', 'demo'], { ...ours('What it holds at first.'), defaults: 'demo' })),
    ids: option(choice(['derived', 'counted'], { ...ours('Form of ids: counted gives card_1.'), defaults: 'derived' })),
    dialect: option(choice(DIALECT_NAMES, { ...ours('How it speaks.'), defaults: 'default' })),
    expires: option(text(ours('How long it lasts, such as 2h or 1d12h; left out, it has no end.')), '<span>'),
  },
  examples: [
    {
      does: 'For a colleague',
      run: 'sandbox accounts create ana --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox --keys-in ana --url https://sandbox.example.com',
    },
    {
      does: 'For one job, with the same ids each time',
      run: 'sandbox accounts create job-17 --seed 7 --expires 2h --store postgres://sandbox@%2Frun%2Fpostgresql/sandbox --json',
    },
  ],
  async run(ctx, { name, store, url, keysIn, seed, data = 'demo', ids = 'derived', dialect = 'default', expires }) {
    if (ctx.dryRun) throw usage('sandbox accounts create sends nothing to the service; it has no dry run');
    if (url !== undefined && keysIn === undefined)
      throw usage('--url is for the commands that use the files of --keys-in');
    const address = checkedAddress(url);
    const lifetime = expires === undefined ? undefined : checkedLifetime(expires);
    const wish = { name: checkedName(name), seed, data, ids, dialect, lifetime, keysIn };
    return { made: await ctx.servers.withAccounts(store, accounts => accounts.create(wish)), address };
  },
  show: ({ made, address }) => ('api_key' in made ? showPrinted(made) : showKept(made, address)),
});

function showPrinted(made: SandboxAccount & PrintedKeys): Shown {
  const pairs = [
    ['API key', made.api_key],
    ['Admin token', made.admin_token],
  ] as const;
  return {
    data: { ...made },
    noun: 'account',
    idField: 'name',
    columns: [
      ...ACCOUNT_COLUMNS,
      { field: 'api_key', title: 'API KEY', kind: 'text', priority: 1 },
      { field: 'admin_token', title: 'ADMIN TOKEN', kind: 'text', priority: 1 },
    ],
    blocks: [madeLine(made), { kind: 'pairs', pairs }],
    notes: ['Key and token are shown this once.'],
  };
}

function showKept(made: SandboxAccount & KeptKeys, address: string): Shown {
  const { name, api_key_file: key, admin_token_file: token } = made;
  const pairs = [
    ['API key', `in ${key}`],
    ['Admin token', `in ${token}`],
  ] as const;
  return {
    data: { ...made },
    noun: 'account',
    idField: 'name',
    columns: [
      ...ACCOUNT_COLUMNS,
      { field: 'api_key_file', title: 'KEY FILE', kind: 'text', priority: 1 },
      { field: 'admin_token_file', title: 'TOKEN FILE', kind: 'text', priority: 1 },
    ],
    blocks: [
      madeLine(made),
      { kind: 'pairs', pairs },
      { kind: 'line', text: 'With the two files the account is used by:' },
      {
        kind: 'line',
        text: `  cardwright login --profile ${name} --base-url ${address}/v1 --key-file ${shellWord(key)}`,
      },
      { kind: 'line', text: `  cardwright profiles set ${name} sandbox_token_file ${shellWord(token)}` },
    ],
  };
}

function madeLine({ name, account, expires_at }: SandboxAccount) {
  const end = expires_at === null ? '' : ` It expires at ${expires_at}.`;
  return { kind: 'line', text: `Made the account ${name} (${account}).${end}` } as const;
}
