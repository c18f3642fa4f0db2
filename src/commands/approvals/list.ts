import { command } from '../../cli/parsing/command.ts';
import { OURS, option } from '../../cli/parsing/flag.ts';
import { flag } from '../../contract/field.ts';
import { REQUEST_COLUMNS, REQUEST_ROW, requestRow } from './columns.ts';

/** Requests of the journal that wait for other persons. */
export const listRequests = command({
  path: 'approvals list',
  summary: 'List the operations that are held until other persons approve them',
  answers: { list: REQUEST_ROW },
  reach: 'files',
  about: ['No request is sent. Those that were used, rejected or have expired are listed with --all.'],
  flags: { all: option(flag({ doc: 'Also those that are over.', basis: OURS })) },
  examples: [
    { does: 'What waits', run: 'approvals list' },
    { does: 'Everything that was ever held', run: 'approvals list --all' },
  ],
  run: async (ctx, { all = false }) => (await ctx.approvals()).list({ all }),
  show: requests => {
    async function* batches() {
      yield requests.map(requestRow);
    }
    return {
      listing: { batches: batches(), page: () => ({ total: requests.length }) },
      noun: 'request',
      idField: 'id',
      columns: REQUEST_COLUMNS,
    };
  },
});
