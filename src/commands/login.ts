import { command } from '../cli/command.ts';
import type { Context } from '../cli/context.ts';
import { OURS, option } from '../cli/flag.ts';
import { usage } from '../cli/values.ts';
import { flag, text } from '../contract/field.ts';
import { Secret } from '../secret.ts';
import { PROFILE_COLUMNS, profilePairs } from './profiles/columns.ts';

const MAX_KEY_BYTES = 4096;

/** Saves a key in a profile. The key comes from a prompt or standard input, never from an option. */
export const login = command({
  path: 'login',
  summary: 'Save a key in a profile and use it from now on',
  about: [
    'The profile is the one of --profile, else default. The key is asked for without echo, or read with --key-stdin; it is kept in a file only you can read and sent to the given address alone.',
  ],
  flags: {
    baseUrl: option(
      text({ doc: 'Address of the service, with its version: https://api.example.com/v1.', basis: OURS }),
      '<url>',
    ),
    keyStdin: option(flag({ doc: 'Read the key from standard input.', basis: OURS })),
  },
  examples: [
    {
      does: 'From a secret store',
      run: 'login --profile team --base-url https://api.example.com/v1 --key-stdin < key.txt',
    },
  ],
  async run(ctx, { baseUrl, keyStdin }) {
    const name = ctx.profileName ?? 'default';
    const address =
      baseUrl ??
      ctx.env['CARDWRIGHT_BASE_URL'] ??
      (await ctx.prompts.text('Address of the service (https://…/v1)', { flag: '--base-url' }));
    const key = await readKeyText(ctx, keyStdin ?? false);
    return (await ctx.profiles()).login(name, address, key);
  },
  show: row => ({
    data: { ...row },
    noun: 'profile',
    idField: 'name',
    columns: PROFILE_COLUMNS,
    blocks: [{ kind: 'pairs', pairs: profilePairs(row) }],
    notes: ['Next: cardwright whoami'],
  }),
});

async function readKeyText(ctx: Context, fromStdin: boolean): Promise<Secret> {
  if (!fromStdin) return ctx.prompts.secret('API key', { flag: '--key-stdin' });
  const content = await ctx.stdin.readAll(MAX_KEY_BYTES);
  if (content === '') throw usage('standard input holds no key');
  return new Secret(content);
}
