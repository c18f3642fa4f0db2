import { wholeListing } from '../../../cli/listing.ts';
import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { SNAPSHOT_COLUMNS } from './shown.ts';

/** Lists snapshots by name. */
export const listSnapshots = command({
  path: 'sandbox snapshot list',
  summary: 'List snapshots by name',
  about: [
    'COMPLETE says that the manifest is as it was written and that each file has its length. Every byte is checked by snapshot diff and snapshot restore.',
  ],
  operation: 'snapshots',
  examples: [
    { does: 'All of them', run: 'sandbox snapshot list' },
    { does: 'As data', run: 'sandbox snapshot list --json' },
  ],
  async run(ctx) {
    return wholeListing(await runAdmin(ctx, 'snapshots', {}), { noun: 'snapshot' });
  },
  show: listing => ({ listing, noun: 'snapshot', idField: 'name', columns: SNAPSHOT_COLUMNS }),
});
