import { columnsOf } from '../../cli/columns.ts';
import { wholeListing } from '../../cli/listing.ts';
import { command } from '../../cli/parsing/command.ts';
import { ACT } from '../../contract/sandbox/scenarios.ts';

export const ACT_COLUMNS = columnsOf(ACT, {
  number: { title: 'NO', priority: 1 },
  operation: { priority: 1 },
  about: { priority: 2, kind: 'id' },
  by: { priority: 2 },
  at: { title: 'AT', priority: 3, kind: 'text' },
});

/** Who simulated what, moved the clock, or made a fault: a test, a person at the page, another program. */
export const sandboxActs = command({
  path: 'sandbox acts',
  summary: 'List the newest changes that were made through the control surface',
  about: [
    'Newest first: simulations, moves of the clock, faults, deliveries by hand, and what was revealed in the page, without the values. What your code asked of the service is in sandbox requests.',
    'The newest 1,000 since the sandbox was started; of one that is not started there are none.',
  ],
  operation: 'acts',
  examples: [
    { does: 'In a table', run: 'sandbox acts' },
    { does: 'As data', run: 'sandbox acts --json' },
  ],
  async run(ctx) {
    const admin = (await ctx.servers.control()) ?? (await ctx.sandbox());
    return wholeListing((await admin.send('acts', {})).result, { noun: 'act' });
  },
  show: listing => ({ listing, noun: 'act', idField: 'number', columns: ACT_COLUMNS }),
});
