import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';
import { argument } from '../../cli/parsing/flag.ts';
import { ADMIN_OPERATIONS } from '../../contract/sandbox/admin.ts';
import { runAdmin } from './simulate/run-admin.ts';

/** Opens an account of a server that was started with `--accounts`. */
export const sandboxAccount = command({
  path: 'sandbox account',
  summary: 'Open an account of a server of many; it is made on first use',
  about: [
    'For a server that was started with cardwright sandbox start --accounts DIR. Its address and the token of the file DIR/admin-token come from CARDWRIGHT_SANDBOX_URL and CARDWRIGHT_SANDBOX_TOKEN_FILE.',
    'Prints the API key and the admin token of the account. They are the same each time.',
  ],
  operation: 'accounts.open',
  answers: {
    one: {
      name: tells.text('Its name.'),
      api_key: tells.text('Key for the service.'),
      admin_token: tells.text('Token for its control surface.'),
    },
  },
  args: { name: argument(ADMIN_OPERATIONS['accounts.open'].body.name) },
  flags: { data: 'body.data', seed: 'body.seed', dialect: 'body.dialect' },
  examples: [
    { does: 'For a colleague', run: 'sandbox account ana' },
    { does: 'For one job, with the same ids each time', run: 'sandbox account job-17 --seed 7 --data empty --json' },
  ],
  async run(ctx, input) {
    const { name, api_key, admin_token } = await runAdmin(ctx, 'accounts.open', input);
    return { name, api_key: api_key.expose(), admin_token: admin_token.expose() };
  },
  show: ({ name, api_key, admin_token }) => ({
    noun: 'account',
    idField: 'name',
    columns: [
      { field: 'name', title: 'NAME', kind: 'text', priority: 1 },
      { field: 'api_key', title: 'API KEY', kind: 'text', priority: 1 },
      { field: 'admin_token', title: 'ADMIN TOKEN', kind: 'text', priority: 1 },
    ],
    blocks: [
      {
        kind: 'pairs',
        pairs: [
          ['Account', name],
          ['API key', api_key],
          ['Admin token', admin_token],
        ],
      },
    ],
  }),
});
