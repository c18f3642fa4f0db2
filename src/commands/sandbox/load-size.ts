/** How much the data set `load` is to hold, where that was asked for. */
import { usage } from '../../cli/parsing/values.ts';
import type { DataSet, LoadSize } from '../../contract/sandbox/admin.ts';

/** Undefined when nothing was asked. Throws `usage` for a size of another data set. */
export function sizeFor(data: DataSet | undefined, size: LoadSize): LoadSize | undefined {
  if ((size.cards ?? size.transactions) === undefined) return undefined;
  if (data === 'load') return size;
  throw usage('--cards and --transactions are for --data load alone');
}
