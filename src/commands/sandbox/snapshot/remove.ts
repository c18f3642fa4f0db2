import { tells } from '../../../cli/answer-fields.ts';
import { confirmed } from '../../../cli/confirm.ts';
import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { checkedName, snapshotName } from './shown.ts';

/** Removes a snapshot. */
export const removeSnapshot = command({
  path: 'sandbox snapshot remove',
  summary: 'Remove a snapshot',
  answers: { one: { name: tells.text('The snapshot.'), removed: tells.yes('Always true.') } },
  operation: 'snapshots.remove',
  args: { name: snapshotName },
  examples: [
    { does: 'One of them', run: 'sandbox snapshot remove before --yes' },
    { does: 'Asked first', run: 'sandbox snapshot remove before' },
  ],
  async run(ctx, { name: given }) {
    const name = checkedName(given);
    const intent = `Remove the snapshot ${name}`;
    await confirmed(ctx, {
      intent,
      question: `${intent}?`,
      command: `cardwright sandbox snapshot remove ${name} --yes`,
    });
    await runAdmin(ctx, 'snapshots.remove', { name });
    return { name, removed: true };
  },
  show: ({ name }) => ({
    noun: 'snapshot',
    idField: 'name',
    columns: [
      { field: 'name', title: 'NAME', kind: 'id', priority: 1 },
      { field: 'removed', title: 'REMOVED', kind: 'boolean', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Removed ${name}.` }],
  }),
});
