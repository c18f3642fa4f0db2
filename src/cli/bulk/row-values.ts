/** Records of an input to rows of a plan: values by the fields of the contract's row, faults by place. */

import type { Fault, Position } from '../../bulk/position.ts';
import type { Cell, InputRecord } from '../../bulk/records.ts';
import type { Item } from '../../contract/calls.ts';
import type { AnyField } from '../../contract/field.ts';
import { inputViolation } from '../../contract/violation.ts';
import { CliError } from '../../core/errors.ts';
import { type Cents, toCents } from '../../core/money.ts';
import { intentFault } from '../../core/names.ts';
import { unguardFormula } from '../../core/text.ts';
import { MARKER_KEY } from '../../journal/names.ts';
import type { PlannedRow } from '../../journal/types.ts';
import { escapeIn } from '../../terminal/printable.ts';
import { parseValue, quote, usage } from '../parsing/values.ts';
import type { BulkDeclaration, BulkOperation } from './flags.ts';
import { columnNames, ID, INTENT_COLUMN, isPassedOver, movesMoney, rowFields, takesIntents } from './row-columns.ts';

export interface RowRules {
  readonly operation: BulkOperation;
  readonly form: 'csv' | 'ndjson';
  /** A marker needs one of the metadata keys. */
  readonly marker: boolean;
  /** Of the account, for rows that name one; undefined where rows name none. */
  readonly bins: readonly Item<'bins.list'>[] | undefined;
  readonly bestBin: BulkDeclaration['bestBin'];
}

/** What no clock and no person decides: rows hold no time words and no `$1,250.00`. */
const VALUES = { now: 0, grouped: false };

/**
 * Of the result of a run only what is not done may move money again: done a second time it is paid twice, and an
 * unknown row may have happened.
 */
function doneBefore(operation: BulkOperation, cells: ReadonlyMap<string, Cell>): Fault | undefined {
  if (!movesMoney(operation)) return undefined;
  const cell = cells.get('outcome');
  if (cell === undefined) return undefined;
  const { line, column } = cell;
  switch (String(cell.value).trim().toLowerCase()) {
    case 'done':
      return { line, column, text: 'this row was already done in an earlier run; remove the rows that are done' };
    case 'unknown':
      return {
        line,
        column,
        text: 'this row is unknown in an earlier run and may have happened: cardwright ops list --state unknown',
      };
    default:
      return undefined;
  }
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
  if (intent.fault !== undefined) faults.push(intent.fault);
  const asked = values['bin_id'] === 'auto' ? { bin_id: 'auto' } : undefined;
  const at = (name: string) => cellsOf(record.cells, name, fields[name], rules.form)[0]?.[1] ?? place;
  for (const [name, wrong] of faults.length > 0 ? [] : ruleBreaks(values, rules)) note(at(name), wrong);
  if (faults.length > 0) return faults;
  const row = rowOf(record.row, values, rules);
  // Another BIN may be the best one when the file is run again.
  return { ...row, ...(intent.name !== undefined && { intent: intent.name }), ...(asked && { asked }) };
}

interface IntentCell {
  readonly name?: string;
  readonly fault?: Fault;
}

/** The name in the column of intents; none where the cell is empty. */
function intentOf(cells: ReadonlyMap<string, Cell>, { operation, form }: RowRules): IntentCell {
  const cell = takesIntents(operation) ? cells.get(INTENT_COLUMN) : undefined;
  if (cell === undefined || cell.value === undefined || cell.value === null || cell.value === '') return {};
  const { value, line, column } = cell;
  if (typeof value !== 'string') return { fault: { line, column, text: `${INTENT_COLUMN} must be text` } };
  const name = form === 'csv' ? unguardFormula(value) : value;
  const wrong = intentFault(name);
  return wrong === undefined ? { name } : { fault: { line, column, text: `${INTENT_COLUMN} ${wrong}` } };
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
  const keys = Object.keys((values['metadata'] ?? {}) as object);
  if (!rules.marker || rules.operation !== 'cards.create') return;
  const most = 19;
  if (keys.includes(MARKER_KEY))
    yield ['metadata', `the metadata key ${MARKER_KEY} is used by cardwright; --no-marker leaves it out`];
  else if (keys.length > most)
    yield ['metadata', `metadata holds ${keys.length} keys, ${most} are left; --no-marker gives one more`];
}

/** The row of checked values. */
export function rowOf(
  row: number,
  input: Readonly<Record<string, unknown>>,
  { operation }: Pick<RowRules, 'operation'>,
): PlannedRow {
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
