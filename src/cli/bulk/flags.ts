/** The flags of a run of rows from a file, beside those of the single operation (CLI.md, "Bulk"). */
import type { Item } from '../../contract/calls.ts';
import { flag, integer, money, must, text } from '../../contract/field.ts';
import type { Cents } from '../../money.ts';
import { OURS, option } from '../flag.ts';

/** Most rows at once. More than a service of this kind takes from one client. */
const MOST_WORKERS = 256;
export const USUAL_WORKERS = 8;

const RUN_FLAGS = {
  file: option(
    must(text({ doc: 'Rows in place of one operation: CSV or NDJSON, columns named like the body.', basis: OURS })),
    '<csv|ndjson|->',
  ),
  concurrency: option(
    integer({
      doc: 'Rows at once; fewer when the service asks to slow down.',
      basis: OURS,
      min: 1,
      max: MOST_WORKERS,
      defaults: USUAL_WORKERS,
    }),
  ),
  keepGoing: option(
    flag({ doc: 'Skip wrong rows; go on with the others when the wallet is too low for one.', basis: OURS }),
  ),
  again: option(flag({ doc: 'The same input a second time is meant.', basis: OURS })),
};

const TOTAL_FLAG = {
  maxTotal: option(money({ doc: 'Refuse a file whose amounts add up to more.', basis: OURS, min: 0 })),
};

/** For operations that move an amount. */
export const MONEY_RUN_FLAGS = { ...RUN_FLAGS, ...TOTAL_FLAG };
/** For operations on the state of cards. */
export const STATE_RUN_FLAGS = RUN_FLAGS;

/** The flags of a run as they reach it, checked. */
export interface BulkInput {
  readonly file: string;
  readonly concurrency?: number | undefined;
  readonly keepGoing?: boolean | undefined;
  readonly again?: boolean | undefined;
  readonly maxTotal?: Cents | undefined;
  readonly noMarker?: boolean | undefined;
}

export type BulkOperation =
  | 'cards.create'
  | 'cards.fund'
  | 'cards.withdraw'
  | 'cards.freeze'
  | 'cards.unfreeze'
  | 'cards.terminate';

/** Declared by a command that takes `--file`. */
export interface BulkDeclaration {
  /** Flags of the single operation that a run takes as well. */
  readonly keeps?: readonly string[];
  /** The BIN for `auto` in the column `bin_id`. */
  readonly bestBin?: (bins: readonly Item<'bins.list'>[], amount: Cents) => string | undefined;
}
