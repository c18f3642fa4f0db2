/**
 * The rows of a file: its header, each record by the fields of the contract's row with every fault by its place, the whole input
 * in one pass before anything is sent, and what of it was done before under the same intents.
 */
import {
  type Cell,
  type CsvField,
  type Fault,
  faultLine,
  type InputRecord,
  type Position,
  readRecords,
} from '../../bulk/input.ts';
import type { Item, WriteName } from '../../contract/calls.ts';
import { CARD } from '../../contract/card.ts';
import type { AnyField, Shape } from '../../contract/field.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { inputViolation } from '../../contract/violation.ts';
import { CliError, notSent, usage } from '../../core/errors.ts';
import { type Cents, cents, toCents } from '../../core/money.ts';
import { intentFault } from '../../core/names.ts';
import type { Values } from '../../core/objects.ts';
import { sameCommandWith } from '../../core/shell-quote.ts';
import { unguardFormula } from '../../core/text.ts';
import { inputDigest } from '../../journal/digest.ts';
import { markerFault } from '../../journal/names.ts';
import type { EarlierUse, PlannedRow, RowOutcome } from '../../journal/types.ts';
import { escapeIn } from '../../terminal/printable.ts';
import type { Context } from '../context.ts';
import { parseValue, quote } from '../parsing/values.ts';
import type { BulkDeclaration, BulkOperation } from './flags.ts';
import { ITEM_COLUMNS, LOOKED_COLUMNS, RESULT_COLUMNS } from './results.ts';

/** An id as it may stand in a path (docs/design/security.md, F10). */
const ID = /^[A-Za-z0-9_-]+$/;
const MAP_COLUMN = /^([a-z_]+)\.(.+)$/s;

/** The caller's own name for the change of a row: one purchase, one intent, also when the file is run again. */
const INTENT_COLUMN = 'intent';

/** Operations that a name makes sure of; the others do the same when they are repeated. */
function takesIntents(operation: BulkOperation): boolean {
  return operation !== 'cards.freeze' && operation !== 'cards.unfreeze';
}

/** Fields of a row, path parameters first. */
function rowFields(operation: BulkOperation): Shape {
  const row: { readonly params?: Shape; readonly body?: Shape } = OPERATIONS[operation];
  return { ...row.params, ...row.body };
}

/**
 * What else this program prints about a card, or about a row of a run. A run on cards that are there takes such a list
 * or result as it is; a new card is described anew, and there an unknown column is a mistake.
 */
const PRINTED_OF_CARDS: ReadonlySet<string> = new Set([
  ...Object.keys(CARD),
  'changed',
  ...[...RESULT_COLUMNS, ...ITEM_COLUMNS, ...LOOKED_COLUMNS].map(({ field }) => field),
]);

/** Whether a run passes over a column that another answer of this program has. */
function isPassedOver(fields: Shape, column: string): boolean {
  if (!('card_id' in fields)) return false;
  return PRINTED_OF_CARDS.has(column) || column.startsWith('metadata.');
}

/** True where the same row a second time moves money a second time. */
function movesMoney(operation: BulkOperation): boolean {
  return 'amount' in rowFields(operation);
}

/** The columns by the names of the operation: `id` of a list of cards is the card, where nothing else can be meant. */
function columnNames(operation: BulkOperation, header: readonly string[]): readonly string[] {
  if (!('card_id' in rowFields(operation)) || header.includes('card_id')) return header;
  return header.map(name => (name === 'id' ? 'card_id' : name));
}

/** Throws `usage` for names that are empty, unknown or there twice, and for one that is missing. */
function checkColumns(name: string, operation: BulkOperation, header: readonly CsvField[]): void {
  const fields = rowFields(operation);
  const named = columnNames(
    operation,
    header.map(({ text }) => text),
  );
  const names = header.map((_, index) => named[index] ?? '');
  const faults = header.flatMap(({ line, column }, index): Fault[] => {
    const text = names[index] ?? '';
    const isAgain = names.indexOf(text) !== index;
    const isIntent = text === INTENT_COLUMN && takesIntents(operation);
    const isKnown = isIntent || fieldOf(fields, text) !== undefined || isPassedOver(fields, text);
    if (text === '') return [{ line, column, text: 'a column without a name' }];
    if (isAgain) return [{ line, column, text: `the column ${quote(text)} stands there twice` }];
    return isKnown ? [] : [{ line, column, text: `unknown column ${quote(text)}` }];
  });
  for (const field of Object.keys(fields)) {
    if (!fields[field]?.must || names.includes(field)) continue;
    faults.push({ line: header[0]?.line ?? 1, column: 1, text: `the column ${quote(field)} is missing` });
  }
  if (faults.length === 0) return;
  const known = Object.entries(fields).map(([field, { kind }]) => (kind === 'map' ? `${field}.<key>` : field));
  if (takesIntents(operation)) known.push(INTENT_COLUMN);
  throw notSent('usage', `${name}: the header is wrong. Nothing was sent`, {
    notes: [...faults.map(faultLine), `Columns, separated by commas: ${known.join(', ')}.`],
    evidence: { faults },
  });
}

function fieldOf(fields: Shape, column: string): AnyField | undefined {
  if (Object.hasOwn(fields, column)) return fields[column]?.kind === 'map' ? undefined : fields[column];
  const [, name = ''] = MAP_COLUMN.exec(column) ?? [];
  return Object.hasOwn(fields, name) && fields[name]?.kind === 'map' ? fields[name] : undefined;
}

interface Reading {
  readonly operation: BulkOperation;
  readonly file: string;
  readonly keepGoing: boolean;
  /** A marker needs one of the metadata keys. */
  readonly marker: boolean;
  readonly bestBin: BulkDeclaration['bestBin'];
}

export interface RowRules extends Pick<Reading, 'operation' | 'marker' | 'bestBin'> {
  readonly form: 'csv' | 'ndjson';
  /** Of the account, for rows that name one; undefined where rows name none. */
  readonly bins: readonly Item<'bins.list'>[] | undefined;
}

/** What no clock and no person decides: rows hold no time words and no `$1,250.00`. */
const VALUES = { now: 0 };

/**
 * Of the result of a run only what is not done may move money again: done a second time it is paid twice, and an
 * unknown row may have happened.
 */
function doneBefore(operation: BulkOperation, cells: ReadonlyMap<string, Cell>): Fault | undefined {
  if (!movesMoney(operation)) return undefined;
  const cell = cells.get('outcome');
  if (cell === undefined) return undefined;
  const { line, column } = cell;
  const text = {
    done: 'this row was already done in an earlier run; remove the rows that are done',
    unknown: 'this row is unknown in an earlier run and may have happened: cardwright ops list --state unknown',
  }[String(cell.value).trim().toLowerCase()];
  return text === undefined ? undefined : { line, column, text };
}

/** The row, or everything that is wrong with it. */
export function plannedRow(given: InputRecord, rules: RowRules): PlannedRow | readonly Fault[] {
  if (given.fault !== undefined) return [given.fault];
  const record = { ...given, cells: renamed(given.cells, rules.operation) };
  const before = doneBefore(rules.operation, record.cells);
  if (before !== undefined) return [before];
  const faults: Fault[] = [];
  const fields = rowFields(rules.operation);
  const place: Position = { line: record.line, column: 1 };
  const values: Record<string, unknown> = {};
  const note = (at: Position, text: string) => faults.push({ line: at.line, column: at.column, text });
  for (const [name, field] of Object.entries(fields)) {
    const cells = cellsOf(record.cells, name, field, rules.form);
    const [first] = cells;
    if (first === undefined) {
      if (field.must) note(record.cells.get(name) ?? place, `${name} is missing`);
      continue;
    }
    try {
      values[name] = rules.form === 'csv' ? csvValue(name, field, cells) : jsonValue(name, field, first[1].value);
    } catch (thrown) {
      if (!(thrown instanceof CliError)) throw thrown;
      note(first[1], thrown.message);
    }
  }
  for (const [name, cell] of rules.form === 'ndjson' ? record.cells : []) {
    if (name === INTENT_COLUMN && takesIntents(rules.operation)) continue;
    if (!Object.hasOwn(fields, name) && !isPassedOver(fields, name)) note(cell, `unknown member ${quote(name)}`);
  }
  const intent = intentOf(record.cells, rules);
  if (typeof intent === 'object') faults.push(intent);
  const asked = values['bin_id'] === 'auto' ? { bin_id: 'auto' } : undefined;
  const at = (name: string) => cellsOf(record.cells, name, fields[name], rules.form)[0]?.[1] ?? place;
  for (const [name, wrong] of faults.length > 0 ? [] : ruleBreaks(values, rules)) note(at(name), wrong);
  if (faults.length > 0) return faults;
  return {
    ...changeOf(record.row, rules.operation, values),
    ...(typeof intent === 'string' && { intent }),
    // Another BIN may be the best one when the file is run again.
    ...(asked && { asked }),
  };
}

/** A row of a run; its card, amount and label are those of its request. */
export function changeOf(row: number, operation: WriteName, input: Values): PlannedRow {
  const { amount, card_id: cardId, label } = input;
  return {
    row,
    operation,
    input,
    ...(typeof amount === 'number' && { amount: amount as Cents }),
    ...(typeof cardId === 'string' && { cardId }),
    ...(typeof label === 'string' && { label }),
  };
}

/** The name in the column of intents, or what is wrong with it; undefined where the cell is empty. */
function intentOf(cells: ReadonlyMap<string, Cell>, { operation, form }: RowRules): string | Fault | undefined {
  const cell = takesIntents(operation) ? cells.get(INTENT_COLUMN) : undefined;
  if (cell === undefined || cell.value === undefined || cell.value === null || cell.value === '') return undefined;
  const { value, line, column } = cell;
  const name = form === 'csv' ? unguardFormula(String(value)) : value;
  const wrong = typeof name === 'string' ? intentFault(name) : 'must be text';
  return wrong === undefined ? String(name) : { line, column, text: `${INTENT_COLUMN} ${wrong}` };
}

function renamed(cells: ReadonlyMap<string, Cell>, operation: BulkOperation): ReadonlyMap<string, Cell> {
  const before = [...cells.keys()];
  const names = columnNames(operation, before);
  if (names === before) return cells;
  return new Map([...cells.values()].map((cell, index) => [names[index] ?? '', cell]));
}

type NamedCell = readonly [column: string, cell: Cell];

/** Cells of a field that hold something: one, or those of a map's columns. An empty cell of CSV is no value. */
function cellsOf(
  cells: ReadonlyMap<string, Cell>,
  name: string,
  field: AnyField | undefined,
  form: RowRules['form'],
): readonly NamedCell[] {
  if (form === 'csv' && field?.kind === 'map') {
    return [...cells].filter(([column, { value }]) => column.startsWith(`${name}.`) && value !== '');
  }
  const cell = cells.get(name);
  return cell === undefined || cell.value === '' || cell.value === undefined ? [] : [[name, cell]];
}

function csvValue(name: string, field: AnyField, cells: readonly NamedCell[]): unknown {
  if (field.kind === 'map') {
    const pairs = cells.map(([column, { value }]) => [column.slice(name.length + 1), exactText(column, String(value))]);
    return checked(name, field, Object.fromEntries(pairs));
  }
  const text = String(cells[0]?.[1].value);
  if (field.kind === 'list') {
    const words = exactText(name, text)
      .split(';')
      .map(word => word.trim())
      .filter(word => word !== '');
    return checked(name, field, words);
  }
  return parseValue(name, field, field.kind === 'text' ? exactText(name, text) : text, VALUES);
}

/**
 * The text that a cell of our own CSV was made from: the guard against formulas is taken off. Throws `usage` for an
 * escape, which stands for another character in a list that was printed and for itself in a file that was typed.
 */
function exactText(name: string, cell: string): string {
  const text = unguardFormula(cell);
  const written = escapeIn(text);
  if (written === undefined) return text;
  throw usage(`${name} holds ${written}, as CSV shows a character that cannot be seen; NDJSON (-o ndjson) keeps it`);
}

function jsonValue(name: string, field: AnyField, value: unknown): unknown {
  const known = checked(name, field, value);
  return field.kind === 'money' ? toCents(known as number) : known;
}

function checked(name: string, field: AnyField, value: unknown): unknown {
  const wrong = inputViolation({ ...field, must: true }, value);
  if (wrong !== undefined) throw usage(`${name} ${wrong}`);
  return value;
}

/** What a field alone cannot know. */
function* ruleBreaks(values: Record<string, unknown>, rules: RowRules): Iterable<readonly [string, string]> {
  for (const name of ['card_id', 'bin_id']) {
    const id = values[name];
    if (typeof id !== 'string' || ID.test(id)) continue;
    yield [name, `${name} ${quote(id)} is not an id`];
    return;
  }
  const bin = values['bin_id'];
  if (bin === 'auto') {
    values['bin_id'] = rules.bestBin?.(rules.bins ?? [], values['amount'] as Cents);
    if (values['bin_id'] === undefined) yield ['bin_id', 'no BIN takes this amount'];
  } else if (typeof bin === 'string' && rules.bins?.every(({ id }) => id !== bin)) {
    yield ['bin_id', `bin_id ${quote(bin)} is not a BIN of this account: cardwright bins list`];
  }
  const isMarked = rules.marker && rules.operation === 'cards.create';
  const fault = isMarked ? markerFault(values['metadata']) : undefined;
  if (fault !== undefined) yield ['metadata', `${fault}; --no-marker does without`];
}

export interface ReadRows {
  /** How the input is called in messages. */
  readonly name: string;
  readonly rows: readonly PlannedRow[];
  /** Wrong rows that `--keep-going` leaves out. */
  readonly skipped: readonly RowOutcome[];
  /** Cards that were chosen but are in a state that the operation does not start from; of a selection. */
  readonly leftOut?: number;
  /** What was found, for the person who is asked: a line each. */
  readonly found: readonly string[];
  /** A run with the same digest makes the same changes: a duplicate of this one. */
  readonly digest: string;
  /** The rows say where cards are to be and not what is to change: run again after its end, it moves nothing twice. */
  readonly aimed: boolean;
}

/** Faults that are shown one by one: a file of another kind has one in every row. */
const SHOWN_FAULTS = 50;

/** Throws `usage` with line and column of every fault, and when the file changes under the reader. */
export async function readRows(ctx: Context, reading: Reading): Promise<ReadRows> {
  const { operation, file, keepGoing, marker, bestBin } = reading;
  const name = ctx.files.nameOf(file);
  await using input = await ctx.files.openInput(file);
  const { form, records } = await readRecords(input.pieces, {
    name,
    checkHeader: header => checkColumns(name, operation, header),
  });
  const bins = 'bin_id' in rowFields(operation) ? (await ctx.api.read('bins.list', {})).data : undefined;
  const rules = { operation, form, marker, bestBin, bins };
  const rows: PlannedRow[] = [];
  const skipped: RowOutcome[] = [];
  const faults: Fault[] = [];
  const intents = new Map<string, number>();
  for (const record of records) {
    const made = plannedRow(record, rules);
    const twice = 'operation' in made ? intentTwice(intents, made, record) : undefined;
    const wrong = twice === undefined ? made : [twice];
    if ('operation' in wrong) rows.push(wrong);
    else {
      faults.push(...wrong);
      skipped.push(wrongRow(record.row, wrong.map(faultLine).join('; ')));
    }
  }
  if (!(await input.unchanged())) throw usage(`${name} changed while it was read. Nothing was sent`);
  if (skipped.length > 0 && (!keepGoing || rows.length === 0)) {
    const are = skipped.length === 1 ? '1 row is' : `${skipped.length} rows are`;
    const message = `${name}: ${are} wrong of ${skipped.length + rows.length}`;
    const evidence = { faults: faults.slice(0, SHOWN_FAULTS) };
    throw wrongRows(message, faults.map(faultLine), rows.length > 0).with({ evidence });
  }
  return readAs(name, operation, rows, skipped);
}

/** A row that is wrong, and is left out. */
export function wrongRow(row: number, text: string, cardId?: string): RowOutcome {
  return { row, outcome: 'not_sent', ...(cardId !== undefined && { cardId }), error: usage(text) };
}

/** The refusal of an input that has wrong rows; `--keep-going` leaves them out where there are others. */
export function wrongRows(message: string, lines: readonly string[], hasOthers: boolean): CliError {
  const more = lines.length - SHOWN_FAULTS;
  return notSent('usage', `${message}. Nothing was sent`, {
    notes: [
      ...lines.slice(0, SHOWN_FAULTS),
      ...(more > 0 ? [`and ${more} more`] : []),
      ...(hasOthers ? ['--keep-going skips them.'] : []),
    ],
    ...(hasOthers && { hint: sameCommandWith('--keep-going') }),
  });
}

/** Rows of an input, and those of it that are wrong. */
export function readAs(
  name: string,
  operation: BulkOperation,
  rows: readonly PlannedRow[],
  skipped: readonly RowOutcome[] = [],
): ReadRows {
  const counted = rows.length + skipped.length;
  const validity = skipped.length === 0 ? 'all valid' : `${skipped.length} wrong and skipped`;
  const found = [`${name}: ${counted} ${counted === 1 ? 'row' : 'rows'}, ${validity}.`, ...repeatsIn(operation, rows)];
  return { name, rows, skipped, found, digest: inputDigest(rows), aimed: false };
}

/** Sum of the amounts. */
export function totalOf(rows: readonly { readonly amount?: number | undefined }[]): Cents {
  return cents(rows.reduce((sum, { amount = 0 }) => sum + amount, 0));
}

/** One intent for two rows is a mistake: it would be one purchase. */
function intentTwice(rows: Map<string, number>, { intent, row }: PlannedRow, record: InputRecord): Fault | undefined {
  const earlier = intent === undefined ? undefined : rows.get(intent);
  if (intent !== undefined) rows.set(intent, earlier ?? row);
  if (intent === undefined || earlier === undefined) return undefined;
  const cell = record.fault === undefined ? record.cells.get(INTENT_COLUMN) : undefined;
  const { line, column } = cell ?? { line: record.line, column: 1 };
  return { line, column, text: `the intent ${quote(intent)} is that of row ${earlier} too` };
}

/**
 * Rows that move the same amount on the same card. They may be meant, so they are counted for the person and not
 * refused. Two new cards that are alike are nothing special.
 */
function repeatsIn(operation: BulkOperation, rows: readonly PlannedRow[]): readonly string[] {
  if (!movesMoney(operation) || operation === 'cards.create') return [];
  const counts = new Map<string, number>();
  for (const { cardId, amount } of rows) {
    const key = `${cardId} ${amount}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const same = [...counts.values()].filter(count => count > 1).reduce((sum, count) => sum + count, 0);
  return same === 0 ? [] : [`${same} rows are equal to another row of this file.`];
}

/** What is left to do of an input. `uses` is `Journal.earlierUses` of it. */
export function withoutDone(read: ReadRows, uses: ReadonlyMap<number, EarlierUse>): ReadRows {
  if (uses.size === 0) return read;
  const rows = read.rows.filter(({ row }) => !uses.has(row));
  const done = read.rows.flatMap(({ row, amount }): RowOutcome[] => {
    const settled = uses.get(row)?.settled;
    return settled === undefined ? [] : [{ ...settled, row, amount: settled.amount ?? amount }];
  });
  const many = done.length === 1 ? '1 row was' : `${done.length} rows were`;
  return {
    ...read,
    rows,
    skipped: [...read.skipped, ...done],
    found: [...read.found, `${many} done before under the same intent: nothing is sent for them.`],
    digest: inputDigest(rows),
  };
}
