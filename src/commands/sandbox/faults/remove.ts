import { tells } from '../../../cli/answer-fields.ts';
import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { fault } from './columns.ts';

/** Removes one rule. */
export const removeFault = command({
  path: 'sandbox faults remove',
  summary: 'Remove a fault rule',
  answers: { one: { id: tells.text('The rule.'), removed: tells.yes('Always true.') } },
  operation: 'faults.remove',
  args: { fault },
  examples: [
    { does: 'One rule', run: 'sandbox faults remove flt_1' },
    { does: 'As data', run: 'sandbox faults remove flt_1 --json' },
  ],
  async run(ctx, { fault: id }) {
    await runAdmin(ctx, 'faults.remove', { fault_id: id });
    return { id, removed: true };
  },
  show: ({ id }) => ({
    noun: 'rule',
    columns: [
      { field: 'id', title: 'ID', kind: 'id', priority: 1 },
      { field: 'removed', title: 'REMOVED', kind: 'boolean', priority: 1 },
    ],
    blocks: [{ kind: 'line', text: `Removed ${id}.` }],
  }),
});
