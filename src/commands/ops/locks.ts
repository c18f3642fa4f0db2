import { tells } from '../../cli/answer-fields.ts';
import { SHORT_ID } from '../../cli/columns.ts';
import { command } from '../../cli/parsing/command.ts';
import type { OpLease } from '../../journal/shared-ops.ts';
import type { Row } from '../../terminal/view.ts';

/** Who works on what in a shared journal right now. */
export const lockedOps = command({
  path: 'ops locks',
  summary: 'List who works on which operation of a shared journal',
  answers: {
    list: {
      op: tells.text('Id of the operation.'),
      command: tells.text('Words of the command.'),
      holder: tells.text('Role that has it.'),
      host: tells.text('Machine of that role.'),
      epoch: tells.count('How often it changed hands, from 1.'),
      left_s: tells.count('Seconds until another process may take it, without a sign of life of this one.'),
      unknown: tells.count('Rows sent without a trustworthy answer.'),
      open: tells.count('Rows that may still be sent.'),
      started_at: tells.time('When it began.'),
    },
  },
  reach: 'files',
  about: [
    'Nothing is sent to the service. A lease cannot be broken: a process that died keeps it for minutes at most.',
  ],
  examples: [
    { does: 'Who works now', run: 'ops locks' },
    { does: 'As data', run: 'ops locks --json' },
  ],
  run: async ctx => (await ctx.journal()).leases(),
  show: leases => {
    async function* batches() {
      yield leases.map(leaseRow);
    }
    return {
      listing: { batches: batches(), page: () => ({ total: leases.length }) },
      noun: 'lease',
      idField: 'op',
      columns: [
        { field: 'op', title: 'OP', kind: 'id', priority: 1, shortTo: SHORT_ID },
        { field: 'command', title: 'COMMAND', kind: 'text', priority: 2 },
        { field: 'holder', title: 'HOLDER', kind: 'text', priority: 1 },
        { field: 'host', title: 'HOST', kind: 'text', priority: 1 },
        { field: 'left_s', title: 'LEFT S', kind: 'integer', priority: 1 },
        { field: 'unknown', title: 'UNKNOWN', kind: 'integer', priority: 2 },
        { field: 'open', title: 'OPEN', kind: 'integer', priority: 3 },
      ],
    };
  },
});

function leaseRow({ op, command: asked, holder, host, epoch, leftMs, unknown, open, startedAt }: OpLease): Row {
  return {
    op,
    command: asked,
    holder,
    host,
    epoch,
    left_s: Math.ceil(leftMs / 1000),
    unknown,
    open,
    started_at: startedAt,
  };
}
