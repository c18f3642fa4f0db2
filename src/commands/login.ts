import { PROFILE_ROW } from '../app/account.ts';
import type { Context, NewKey } from '../cli/context.ts';
import { command } from '../cli/parsing/command.ts';
import { local, option, takes } from '../cli/parsing/flag.ts';
import { usage } from '../core/errors.ts';
import { Secret } from '../core/secret.ts';
import { askToLoosen, auditLimit, shownProfile } from './profiles/profiles.ts';

const MAX_KEY_BYTES = 4096;

export const login = command({
  path: 'login',
  summary: 'Save a key in a profile and use it from now on',
  answers: { one: PROFILE_ROW },
  effect: 'reversible',
  ends: {
    not_confirmed: 'The key is missing and nobody could be asked.',
    guarded:
      'The keychain did not keep the key, or another address for a profile that has limits, and this is no terminal. Nothing was changed.',
  },
  about: [
    'Uses the profile of --profile, or the profile default. Asks for the key without showing it, or reads it with --key-stdin. The key is kept in a file that only you can read, and is sent only to the given address.',
    'With --keychain the key is kept in the keychain of this system. If that is not available, nothing is saved (14). With --key-file or --key-command nothing is kept: the key is read from there each time.',
  ],
  flags: {
    baseUrl: option(local('address', 'Address of the service, with its version: https://api.example.com/v1.'), '<url>'),
    keyStdin: option(takes.flag('Read the key from standard input.')),
    keychain: option(takes.flag('Keep it in the keychain of this system.')),
    keyFile: option(local('file', 'Read the key from this file each time.'), {
      placeholder: '<file>',
      conflicts: ['keyStdin', 'keychain', 'keyCommand'],
    }),
    keyCommand: option(takes.flag('Run the command after -- each time; it prints the key.'), {
      conflicts: ['keyStdin', 'keychain'],
    }),
  },
  examples: {
    'From a secret store': 'login --profile team --base-url https://api.example.com/v1 --key-stdin < key.txt',
    'From a password manager each time':
      'login --profile team --base-url https://api.example.com/v1 --key-command -- /usr/bin/pass show cards/key',
  },
  rest: 'kept',
  async run(ctx, { baseUrl, keyFile, ...ways }) {
    const name = ctx.profileName ?? 'default';
    const address =
      baseUrl ??
      ctx.env['CARDWRIGHT_BASE_URL'] ??
      (await ctx.ui.prompts.text('Address of the service (https://…/v1)', { flag: '--base-url' }));
    const profiles = await ctx.profiles();
    const before = await profiles.current();
    const key = await givenKey(ctx, keyFile, ways);
    // The limits of a profile are held against its address.
    const isThere = (await profiles.list()).some(each => each.name === name && name !== 'sandbox');
    const change = isThere ? await profiles.foresee(name, 'base_url', address) : undefined;
    if (change?.loosens) await askToLoosen(ctx, { profile: name, setting: 'base_url', ...change });
    const row = await profiles.login(name, address, key);
    if (change?.loosens) await auditLimit(ctx, row, { limit: 'base_url', before: change.before, after: change.after });
    return { row, before };
  },
  show({ row, before }) {
    const { journal } = row.settings;
    const isOther = before !== undefined && before !== row.name;
    // Nothing is sent here: whether service and shared journal know the key is told before a change is refused.
    const isShared = journal !== undefined && journal !== 'local';
    return {
      ...shownProfile(row),
      notes: [
        ...(isOther
          ? [
              `Commands act for ${row.name} from now on; until now it was ${before}. Back: cardwright profiles use ${before}`,
            ]
          : []),
        ...(isShared
          ? [
              'Changes over the shared journal of this profile need a key that its account lists; doctor looks whether it does.',
              'Next: cardwright doctor',
            ]
          : ['Nothing was asked of the service yet. Next: cardwright doctor']),
      ],
    };
  },
});

async function givenKey(
  ctx: Context,
  keyFile: string | undefined,
  { keyStdin, keychain, keyCommand }: Partial<Record<'keyStdin' | 'keychain' | 'keyCommand', boolean | undefined>>,
): Promise<NewKey> {
  if (!keyCommand && ctx.rest.length > 0) throw usage('words after -- are the command of --key-command');
  if (keyFile !== undefined) return { key_file: keyFile };
  if (keyCommand && ctx.rest.length === 0) throw usage('--key-command needs the command after --');
  if (keyCommand) return { key_command: ctx.rest };
  if (!keyStdin) {
    const key = await ctx.ui.prompts.secret('API key', { flag: '--key-stdin' });
    return { key, keychain: keychain ?? false };
  }
  const content = await ctx.files.stdin.readText(MAX_KEY_BYTES);
  if (content === '') throw usage('standard input holds no key');
  return { key: new Secret(content), keychain: keychain ?? false };
}
