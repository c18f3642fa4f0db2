import { tells } from '../../../cli/answer-fields.ts';
import { wholeListing } from '../../../cli/listing.ts';
import { command } from '../../../cli/parsing/command.ts';
import { KEY_COLUMNS } from './columns.ts';

/** Keys that may approve. */
export const listApprovers = command({
  path: 'ops keys list',
  summary: 'List the keys that may approve operations',
  answers: { list: { person: tells.text('The person.'), keyid: tells.text('First digits of the digest of the key.') } },
  reach: 'files',
  about: [
    'Those of the limits of an administrator where they name any; else those of the shared journal, of the approvers_file of the profile, or of the journal of this machine.',
  ],
  examples: [
    { does: 'Who may approve', run: 'ops keys list' },
    { does: 'As data', run: 'ops keys list --json' },
  ],
  run: async ctx => (await (await ctx.approvals()).approvers()).map(({ person, keyid }) => ({ person, keyid })),
  show: rows => ({
    listing: wholeListing({ data: rows, page: { total: rows.length } }, { noun: 'key' }),
    noun: 'key',
    idField: 'keyid',
    columns: KEY_COLUMNS,
  }),
});
