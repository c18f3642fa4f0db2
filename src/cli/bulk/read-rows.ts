/** Reads and checks a whole input before anything is sent. One pass: what was checked is what is planned. */

import { createPackedRows } from '../../bulk/packed-rows.ts';
import { type Fault, faultLine } from '../../bulk/position.ts';
import { type InputRecord, readRecords } from '../../bulk/records.ts';
import type { Item } from '../../contract/calls.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, cents } from '../../core/money.ts';
import { sameCommandWith } from '../../core/shell-quote.ts';
import { inputDigest } from '../../journal/digest.ts';
import type { PlannedRow, RowOutcome, Rows } from '../../journal/types.ts';
import type { Context } from '../context.ts';
import { quote } from '../parsing/values.ts';
import type { BulkDeclaration, BulkOperation } from './flags.ts';
import { checkColumns, INTENT_COLUMN, movesMoney, rowFields } from './row-columns.ts';
import { plannedRow, rowOf } from './row-values.ts';

export interface ReadRows {
  /** How the input is called in messages. */
  readonly name: string;
  readonly rows: Rows<PlannedRow>;
  /** Sum of their amounts. */
  readonly total: Cents;
  /** Wrong rows that `--keep-going` leaves out. */
  readonly skipped: readonly RowOutcome[];
  /** Cards that were chosen but are in a state that the operation does not start from; of a selection. */
  readonly leftOut?: number;
  /** What was found, for the person who is asked: a line each. */
  readonly found: readonly string[];
  /** Tells twins of this run: a run with the same digest makes the same changes. */
  readonly digest: string;
  /** The rows say where cards are to be and not what is to change: run again after its end, it moves nothing twice. */
  readonly aimed: boolean;
}

export interface Reading {
  readonly operation: BulkOperation;
  readonly file: string;
  readonly keepGoing: boolean;
  readonly marker: boolean;
  readonly bestBin: BulkDeclaration['bestBin'];
}

/** Faults that are told one by one; a file of another kind has one in every row. */
const TOLD_FAULTS = 100;

/** Throws `usage` with line and column of every fault, and when the file changes under the reader. */
export async function readRows(ctx: Context, reading: Reading): Promise<ReadRows> {
  const { operation, file, keepGoing, marker, bestBin } = reading;
  const name = file === '-' ? 'standard input' : file;
  await using input = await ctx.files.openInput(file);
  const { form, records } = await readRecords(input.pieces, {
    name,
    checkHeader: header => checkColumns(name, operation, header),
  });
  const rules = { operation, form, marker, bestBin, bins: await binsFor(ctx, operation) };
  const packed = createPackedRows((row, values, extras) => ({ ...rowOf(row, values, rules), ...extras }));
  const faults = createFaults();
  const repeats = createRepeats(operation);
  const names = createNames();
  let [counted, total] = [0, 0];
  for await (const record of records) {
    counted += 1;
    const made = names.refuseTwice(plannedRow(record, rules), record);
    if ('operation' in made) {
      if (!keepGoing && faults.wrong() > 0) continue;
      packed.push(made);
      repeats.add(made);
      total = cents(total + (made.amount ?? 0));
    } else faults.add(record.row, made);
  }
  if (!(await input.unchanged())) throw usage(`${name} changed while it was read. Nothing was sent`);
  const all = faults.wrong() === counted && counted > 0;
  if (faults.wrong() > 0 && (!keepGoing || all)) throw faults.error(name, counted, keepGoing);
  const { rows } = packed;
  const skipped = faults.outcomes();
  const validity = skipped.length === 0 ? 'all valid' : `${skipped.length} wrong and skipped`;
  const found = [`${name}: ${counted} ${counted === 1 ? 'row' : 'rows'}, ${validity}.`, ...repeats.lines()];
  return { name, rows, total: cents(total), skipped, found, digest: inputDigest(rows), aimed: false };
}

async function binsFor(ctx: Context, operation: BulkOperation): Promise<readonly Item<'bins.list'>[] | undefined> {
  return 'bin_id' in rowFields(operation) ? (await ctx.api.read('bins.list', {})).data : undefined;
}

/** One intent for two rows is a mistake: it would be one purchase. */
function createNames() {
  const rows = new Map<string, number>();
  return {
    refuseTwice(made: PlannedRow | readonly Fault[], record: InputRecord): PlannedRow | readonly Fault[] {
      if (!('operation' in made) || made.intent === undefined) return made;
      const earlier = rows.get(made.intent);
      if (earlier === undefined) {
        rows.set(made.intent, made.row);
        return made;
      }
      const cell = record.fault === undefined ? record.cells.get(INTENT_COLUMN) : undefined;
      const { line, column } = cell ?? { line: record.line, column: 1 };
      return [{ line, column, text: `the intent ${quote(made.intent)} is that of row ${earlier} too` }];
    },
  };
}

/**
 * Rows that move the same amount on the same card. They may be meant, so they are counted for the person and not
 * refused. Two new cards that are alike are nothing special.
 */
function createRepeats(operation: BulkOperation) {
  const counts = new Map<string, number>();
  const counted = movesMoney(operation) && operation !== 'cards.create';
  let same = 0;
  return {
    add({ cardId, amount }: PlannedRow): void {
      if (!counted) return;
      const key = `${cardId} ${amount}`;
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      // The first of them is the same as another row too, once there is a second.
      same += count === 0 ? 0 : count === 1 ? 2 : 1;
    },
    lines: () => (same === 0 ? [] : [`${same} rows are equal to another row of this file.`]),
  };
}

/** The same fault in many rows, told once. */
interface ToldFault {
  readonly first: Fault;
  /** Lines of the others. */
  readonly more: number[];
}

/** `line 3, column 1: not a JSON object; the same in lines 4 and 5`. */
function toldLine({ first, more }: ToldFault): string {
  return more.length === 0 ? faultLine(first) : `${faultLine(first)}; the same in ${linesNamed(more)}`;
}

/** Lines that are named one by one. */
const MOST_LINES = 12;

function linesNamed(lines: readonly number[]): string {
  if (lines.length > MOST_LINES) return `${lines.length} more lines, up to line ${lines.at(-1)}`;
  return lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.slice(0, -1).join(', ')} and ${lines.at(-1)}`;
}

function createFaults() {
  const shown: Fault[] = [];
  const alike = new Map<string, ToldFault>();
  const outcomes: RowOutcome[] = [];
  let [untold, wrong] = [0, 0];
  return {
    wrong: () => wrong,
    outcomes: () => outcomes,
    add(row: number, faults: readonly Fault[]): void {
      wrong += 1;
      if (shown.length < TOLD_FAULTS) shown.push(...faults.slice(0, TOLD_FAULTS - shown.length));
      for (const fault of faults) {
        const key = `${fault.column} ${fault.text}`;
        const known = alike.get(key);
        if (known !== undefined) known.more.push(fault.line);
        else if (alike.size < TOLD_FAULTS) alike.set(key, { first: fault, more: [] });
        else untold += 1;
      }
      const message = faults.map(faultLine).join('; ');
      outcomes.push({ row, outcome: 'not_sent', error: new CliError('usage', { message, outcome: 'not_sent' }) });
    },
    error(name: string, rows: number, keptGoing: boolean): CliError {
      const are = wrong === 1 ? '1 row is' : `${wrong} rows are`;
      const more = untold > 0 ? [`and ${untold} more`] : [];
      const maySkip = !keptGoing && wrong < rows;
      return new CliError('usage', {
        message: `${name}: ${are} wrong of ${rows}. Nothing was sent`,
        notes: [...[...alike.values()].map(toldLine), ...more, ...(maySkip ? ['--keep-going skips wrong rows.'] : [])],
        ...(maySkip && { hint: sameCommandWith('--keep-going') }),
        evidence: { faults: shown },
        outcome: 'not_sent',
      });
    },
  };
}

function usage(message: string): CliError {
  return new CliError('usage', { message, outcome: 'not_sent' });
}
