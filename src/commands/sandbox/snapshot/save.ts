import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { checkedName, SNAPSHOT_COLUMNS, snapshotName } from './shown.ts';

/** Keeps everything the sandbox holds under a name. */
export const saveSnapshot = command({
  path: 'sandbox snapshot save',
  summary: 'Save the whole state of the sandbox under a name',
  about: [
    'Holds cards, ledger, events, clock and seed, with a checksum of every file. An older snapshot of that name is replaced; any other file of that name is not touched.',
  ],
  operation: 'snapshots.save',
  args: { name: snapshotName },
  examples: [
    { does: 'Before a risky test', run: 'sandbox snapshot save before' },
    { does: 'Before an upgrade', run: 'sandbox snapshot save upgrade-2' },
  ],
  run: (ctx, { name }) => runAdmin(ctx, 'snapshots.save', { name: checkedName(name) }),
  show: saved => ({
    noun: 'snapshot',
    idField: 'name',
    columns: SNAPSHOT_COLUMNS,
    blocks: [{ kind: 'line', text: `Saved ${saved.name}: ${saved.cards} cards, ${saved.transactions} transactions.` }],
  }),
});
