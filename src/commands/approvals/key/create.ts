import { tells } from '../../../cli/answer-fields.ts';
import { command } from '../../../cli/parsing/command.ts';
import { usage } from '../../../cli/parsing/values.ts';
import { CliError } from '../../../core/errors.ts';

const SHORTEST_PASSPHRASE = 8;

/** The key that approvals of this machine are signed with. */
export const createApprovalKey = command({
  path: 'approvals key create',
  summary: 'Make the key that you approve with',
  answers: {
    one: {
      path: tells.text('The file of the key, 0600.'),
      keyid: tells.text('First digits of the digest of its public part.'),
      line: tells.text('Its line for the file of approvers.'),
    },
  },
  effect: 'reversible',
  effectSays: 'writes one file on this machine',
  reach: 'files',
  ends: { not_confirmed: 'The passphrases differ, or this is no terminal. Nothing was written.' },
  about: [
    'An ed25519 key, kept under a passphrase of 8 characters or more that is typed twice. The line that is printed goes into the approvers_file of a profile; over a shared journal an admin adds it in the database. A key that is there is not overwritten.',
    'The first word of the line is the person. It is the name of the user of this machine, and may be edited before it is added. It must not be the name of somebody who asks: root and root@runner are one person, and nobody approves his own request.',
  ],
  examples: [
    { does: 'Once for each approver', run: 'approvals key create' },
    { does: 'Its line alone', run: 'approvals key create -q' },
  ],
  async run(ctx) {
    if (ctx.dryRun) throw usage('approvals key create sends nothing to the service; it has no dry run');
    if (!ctx.canAsk) throw refusal('a passphrase is typed at a terminal, and this is none', 'nobody_to_ask');
    const passphrase = await ctx.prompts.secret('New passphrase', { flag: 'a terminal' });
    if (passphrase.expose().length < SHORTEST_PASSPHRASE)
      throw refusal(`a passphrase has ${SHORTEST_PASSPHRASE} characters or more`, 'passphrase');
    const again = await ctx.prompts.secret('The same once more', { flag: 'a terminal' });
    if (again.expose() !== passphrase.expose()) throw refusal('the passphrases differ', 'passphrase');
    const review = await ctx.approvals();
    const path = await review.createKey(passphrase);
    return { path, ...(await review.keyLine()), account: await ctx.teamAccount() };
  },
  show: ({ path, person, keyid, line, account }) => ({
    data: { path, keyid, line },
    noun: 'key',
    idField: 'keyid',
    columns: [],
    quiet: [line],
    blocks: [
      { kind: 'line', text: `Made ${path}. Its line for ${account === undefined ? 'the approvers_file' : OF_ADMIN}:` },
      { kind: 'line', text: line, whole: true },
      {
        kind: 'line',
        text: `The person is ${person}, as the user of this machine. Where that is not your name, ${account === undefined ? 'edit it in that file' : 'write it in its place before you hand the line on'}.`,
      },
      ...(account === undefined ? [] : [{ kind: 'line', text: addedBy(account) } as const]),
    ],
  }),
});

const OF_ADMIN = 'an admin of the journal';

/** With a shared journal no file says who approves. */
function addedBy(account: string): string {
  return `The admin adds it in the database, with your login roles: select cardwright.add_approver('${account}', '<line>', '{<role>}');`;
}

function refusal(why: string, reason: string): CliError {
  return new CliError('not_confirmed', { message: `${why}. Nothing was written`, reason, outcome: 'not_sent' });
}
