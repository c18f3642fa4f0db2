import { command } from '../../../cli/parsing/command.ts';
import { OURS, option } from '../../../cli/parsing/flag.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { flag } from '../../../contract/field.ts';
import { CliError } from '../../../core/errors.ts';
import { KEY_ANSWER, keyView } from './columns.ts';

const SHORTEST_PASSPHRASE = 8;

/** Makes the key that operations are approved with. */
export const createApprovalKey = command({
  path: 'ops keys create',
  summary: 'Make the key that you approve operations with',
  answers: { one: KEY_ANSWER },
  effect: 'reversible',
  effectSays: 'keeps one key on this machine',
  reach: 'files',
  ends: { not_confirmed: 'The passphrases differ, or this is no terminal. Nothing was written.' },
  about: [
    'An ed25519 key under a passphrase of 8 characters or more that is typed twice, in a file of yours or in the keychain of the system. A key that is there is not overwritten.',
    'With the journal of one machine it may approve at once. Of a shared journal an admin lists its line: journal init <address> --approver "<line>"; its person is the login role of the database. Where the limits of an administrator name approvers, they alone count.',
  ],
  flags: { keychain: option(flag({ doc: 'Into the keychain of the system.', basis: OURS })) },
  examples: [
    { does: 'Once for each approver', run: 'ops keys create' },
    { does: 'Its line alone', run: 'ops keys create -q' },
  ],
  async run(ctx, { keychain = false }) {
    if (ctx.dryRun) throw usage('ops keys create sends nothing to the service; it has no dry run');
    if (!ctx.canAsk) throw refusal('a passphrase is typed at a terminal, and this is none', 'nobody_to_ask');
    const passphrase = await ctx.prompts.secret('New passphrase', { flag: 'a terminal' });
    if (passphrase.expose().length < SHORTEST_PASSPHRASE)
      throw refusal(`a passphrase has ${SHORTEST_PASSPHRASE} characters or more`, 'passphrase');
    const again = await ctx.prompts.secret('The same once more', { flag: 'a terminal' });
    if (again.expose() !== passphrase.expose()) throw refusal('the passphrases differ', 'passphrase');
    return (await ctx.approvals()).createKey(passphrase, keychain ? 'keychain' : 'file');
  },
  show: keyView,
});

function refusal(why: string, reason: string): CliError {
  return new CliError('not_confirmed', { message: `${why}. Nothing was written`, reason, outcome: 'not_sent' });
}
