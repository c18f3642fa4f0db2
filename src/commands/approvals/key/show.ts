import { tells } from '../../../cli/answer-fields.ts';
import { command } from '../../../cli/parsing/command.ts';

/** The public line of the key of this machine. */
export const showApprovalKey = command({
  path: 'approvals key show',
  summary: 'Show the line of your key for the file of approvers',
  answers: {
    one: {
      person: tells.text('Name that the line proposes: that of the user of this machine.'),
      keyid: tells.text('First digits of the digest of its public part.'),
      line: tells.text('The line.'),
    },
  },
  reach: 'files',
  about: [
    'A line is "person ed25519 key". The person is what counts, however many keys there are: the name of the user of this machine, which may be edited in the file of approvers. Where a person has another name on a machine that asks for approval, users=name,name follows: nobody approves his own request.',
  ],
  examples: [
    { does: 'The line', run: 'approvals key show' },
    { does: 'As data', run: 'approvals key show --json' },
  ],
  run: async ctx => (await ctx.approvals()).keyLine(),
  show: ({ person, keyid, line }) => ({
    data: { person, keyid, line },
    noun: 'key',
    idField: 'keyid',
    columns: [],
    quiet: [line],
    blocks: [{ kind: 'line', text: line }],
  }),
});
