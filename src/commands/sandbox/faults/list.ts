import { wholeListing } from '../../../cli/listing.ts';
import { command } from '../../../cli/parsing/command.ts';
import { runAdmin } from '../simulate/run-admin.ts';
import { FAULT_COLUMNS, FAULT_ROW, inWords } from './columns.ts';

/** Lists rules with how often each was met. */
export const listFaults = command({
  path: 'sandbox faults list',
  summary: 'List fault rules and how often each was applied',
  answers: { list: FAULT_ROW },
  operation: 'faults',
  examples: [
    { does: 'All rules', run: 'sandbox faults list' },
    { does: 'The ids alone', run: 'sandbox faults list -o id' },
  ],
  async run(ctx) {
    const { data, page } = await runAdmin(ctx, 'faults', {});
    return wholeListing({ data: data.map(inWords), page }, { noun: 'rule' });
  },
  show: listing => ({ listing, noun: 'rule', columns: FAULT_COLUMNS }),
});
