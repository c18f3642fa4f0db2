/** Lists that a decision rests on: read again where rows moved, and refused where they may be incomplete. */
import { CliError } from '../core/errors.ts';
import type { Calls, PagedName } from './calls.ts';
import type { InputOf, ItemOf, ListPage } from './operation.ts';
import type { Reader } from './service.ts';

/** A list that moves while it is read is read again. */
const READINGS = 3;

interface WholeList<N extends PagedName> {
  readonly reader: Reader;
  readonly operation: N;
  readonly input: InputOf<Calls[N]>;
  /** A sentence: why a part of the list will not do. */
  readonly because: string;
}

/**
 * What `take` makes of the pages, where they are the whole list. `take` is called anew for each reading. Throws
 * `contract_mismatch` where the third reading may still be incomplete, and what reading throws.
 */
export async function fromWholeList<N extends PagedName, T>(
  { reader, operation, input, because }: WholeList<N>,
  take: (pages: AsyncIterable<ListPage<ItemOf<Calls[N]>>>) => Promise<T>,
): Promise<T> {
  let doubt: string | undefined;
  for (let reading = 1; reading <= READINGS; reading += 1) {
    doubt = undefined;
    const onIncomplete = (why: string) => {
      doubt = why;
    };
    const taken = await take(reader.pages(operation, input, { onIncomplete }));
    if (doubt === undefined) return taken;
  }
  throw incompleteList(operation, `${doubt}. ${because}`);
}

/** `contract_mismatch`: a decision would rest on a list that may be incomplete. */
export function incompleteList(operation: string, why: string): CliError {
  return new CliError('contract_mismatch', {
    message: `the list of ${operation.split('.')[0]} may be incomplete: ${why}`,
    notes: ['Run the command again: a list that changes while it is read looks like this.'],
    operation,
    outcome: 'not_sent',
  });
}
