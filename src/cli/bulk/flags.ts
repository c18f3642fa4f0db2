/** The flags of a run of many rows, from a file or from a selection of cards (docs/design/cli.md, "Many rows"). */
import type { Item } from '../../contract/calls.ts';
import { must } from '../../contract/field.ts';
import type { Cents } from '../../core/money.ts';
import { CONDITIONS } from '../condition.ts';
import { type FlagValues, local, type OwnFlag, option, takes, typedOnly } from '../parsing/flag.ts';

/** Most rows at once. More than a service of this kind takes from one client. */
const MOST_WORKERS = 256;
export const USUAL_WORKERS = 8;

const RUN_FLAGS = {
  file: option(
    must(local('file', 'Read rows from a file: CSV or NDJSON, with the fields of the request as columns.')),
    '<csv|ndjson|->',
  ),
  concurrency: option(
    takes.integer('Rows to send at the same time; fewer when the service asks to slow down.', {
      min: 1,
      max: MOST_WORKERS,
      defaults: USUAL_WORKERS,
    }),
  ),
  keepGoing: option(takes.flag('Skip wrong rows, and go on when the wallet is too low for one.')),
  again: typedOnly(
    option(
      takes.flag('Send rows of a finished run a second time: new cards, or money moved once more. It is no retry.'),
    ),
  ),
};

const TOTAL_FLAG = {
  maxTotal: option(takes.money('Refuse a run whose amounts add up to more.', { min: 0 })),
};

/** `--idle`, wherever cards are chosen. */
export const IDLE = option(
  takes.text('Cards older than this and without a transaction in that time, such as 30d.'),
  '<duration>',
);

const SELECTION_FLAGS = { where: CONDITIONS, idle: IDLE };

const AIM_FLAG = {
  to: option(takes.money('With --where or --idle: bring the balance of each card to this amount.', { min: 0 })),
};

/** Flags of a command that takes `--file`, by how its rows come; a flag of none of them means a single operation. */
export interface RunFlags {
  /** What is declared beside the flags of the single operation. */
  readonly declared: Readonly<Record<string, OwnFlag>>;
  readonly file: readonly string[];
  readonly selection: readonly string[];
}

/** `keeps` are flags of the single operation that a file takes as well. */
export function runFlagsOf(operation: string | undefined, { keeps = [] }: BulkDeclaration): RunFlags {
  const moves = operation === 'cards.fund' || operation === 'cards.withdraw';
  const creates = operation === 'cards.create';
  const ofFile = { ...RUN_FLAGS, ...((moves || creates) && TOTAL_FLAG) };
  const selecting = { ...(!creates && SELECTION_FLAGS), ...(moves && AIM_FLAG) };
  const file = [...Object.keys(ofFile), ...keeps];
  const shared = file.filter(key => key !== 'file');
  return {
    declared: { ...selecting, ...ofFile },
    file,
    selection: creates ? [] : [...Object.keys(selecting), ...shared, ...(moves ? ['amount'] : [])],
  };
}

/** How the rows of a run come; undefined for one operation. Takes flags as typed or as read. */
export function rowSource(values: Readonly<Record<string, unknown>>): 'file' | 'selection' | undefined {
  if (values['file'] !== undefined) return 'file';
  return values['where'] === undefined && values['idle'] === undefined ? undefined : 'selection';
}

type RowFlags = typeof RUN_FLAGS & typeof TOTAL_FLAG & typeof SELECTION_FLAGS & typeof AIM_FLAG;

/** What reaches a run, checked: `file`, `ids` of standard input, or `where` and `idle`. The rest is of the single operation. */
export interface BulkInput extends Partial<FlagValues<RowFlags>> {
  readonly ids?: readonly string[] | undefined;
  /** What fund and withdraw move at each card. */
  readonly amount?: Cents | undefined;
  readonly noMarker?: boolean | undefined;
  /** Names of one change, which several cards cannot have. */
  readonly intent?: unknown;
  readonly purpose?: unknown;
  readonly idempotencyKey?: unknown;
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
  /** Flags of the single operation that a file takes as well. */
  readonly keeps?: readonly string[];
  /** The BIN for `auto` in the column `bin_id`. */
  readonly bestBin?: (bins: readonly Item<'bins.list'>[], amount: Cents) => string | undefined;
}
