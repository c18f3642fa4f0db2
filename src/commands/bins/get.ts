import { command } from '../../cli/parsing/command.ts';
import { argument } from '../../cli/parsing/flag.ts';
import { BIN_ID } from '../../contract/card.ts';
import { BIN } from '../../contract/resources.ts';
import { CliError } from '../../core/errors.ts';
import { BIN_COLUMNS } from './columns.ts';

/** Shows one BIN, found in the list: the service has no operation for one. */
export const getBin = command({
  path: 'bins get',
  summary: 'Show one BIN',
  answers: { one: BIN },
  operation: 'bins.list',
  ends: { not_found: 'There is no such BIN.' },
  args: { bin: argument(BIN_ID) },
  examples: [
    { does: 'In words', run: 'bins get bin_1' },
    { does: 'One fact of it', run: 'bins get bin_1 --jq .max_transaction' },
  ],
  async run(ctx, { bin }) {
    const { data } = await ctx.read('bins.list', {});
    const found = data.find(({ id }) => id === bin);
    if (found === undefined) {
      throw new CliError('not_found', {
        message: `no BIN ${bin} among the ${data.length} of this account`,
        hint: 'cardwright bins list',
        operation: 'bins.list',
      });
    }
    return found;
  },
  show: () => ({ noun: 'BIN', columns: BIN_COLUMNS }),
});
