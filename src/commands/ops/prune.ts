import { tells } from '../../cli/answer-fields.ts';
import { command } from '../../cli/parsing/command.ts';

/** Removes the journals of operations that were finished more than 90 days ago. */
export const pruneOps = command({
  path: 'ops prune',
  summary: 'Remove the journals of operations finished more than 90 days ago',
  answers: { list: { op: tells.text('Operation whose journal was removed.') } },
  effect: 'irreversible',
  about: [
    'Open and unknown operations are always kept. --dry-run lists what would be removed.',
    'In a shared journal the clock of the database says what is old enough; that an operation was there stays, so that journal check still knows its cards.',
  ],
  examples: [
    { does: 'Look first', run: 'ops prune --dry-run' },
    { does: 'Remove them', run: 'ops prune' },
  ],
  async run(ctx) {
    const removed = await (await ctx.journal()).prune({ dryRun: ctx.dryRun });
    return { removed, dry: ctx.dryRun };
  },
  show({ removed, dry }) {
    async function* batches() {
      yield removed.map(op => ({ op }));
    }
    return {
      listing: {
        batches: batches(),
        page: () => ({ total: removed.length }),
        footer: count => `${count} ${dry ? 'would be removed' : 'removed'}.`,
      },
      noun: 'operation',
      idField: 'op',
      columns: [{ field: 'op', title: 'OP', kind: 'id', priority: 1 }],
    };
  },
});
