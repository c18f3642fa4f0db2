import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from '../simulate/run-admin.ts';

/** Removes every rule. */
export const clearFaults = command({
  path: 'sandbox faults clear',
  summary: 'Remove all fault rules',
  operation: 'faults.clear',
  examples: [
    { does: 'Everything works again', run: 'sandbox faults clear' },
    { does: 'How many there were, as data', run: 'sandbox faults clear --json' },
  ],
  run: ctx => runAdmin(ctx, 'faults.clear', {}),
  show: ({ removed }) => ({
    noun: 'rule',
    columns: [{ field: 'removed', title: 'REMOVED', kind: 'integer', priority: 1 }],
    blocks: [{ kind: 'line', text: removed === 1 ? 'Removed 1 rule.' : `Removed ${removed} rules.` }],
  }),
});
