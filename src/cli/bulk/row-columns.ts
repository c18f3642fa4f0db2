/** The columns of a file of rows: which there are for an operation, and what is wrong with a header. */

import type { CsvField } from '../../bulk/csv.ts';
import { type Fault, faultLine } from '../../bulk/position.ts';
import { CARD } from '../../contract/card.ts';
import type { AnyField, Shape } from '../../contract/field.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { CliError } from '../../core/errors.ts';
import { ATTEMPT_ROW } from '../each.ts';
import { quote } from '../parsing/values.ts';
import type { BulkOperation } from './flags.ts';
import { ITEM_COLUMNS, LOOKED_COLUMNS, RESULT_COLUMNS } from './result-row.ts';

/** An id as it may stand in a path (docs/design/security.md, F10). */
export const ID = /^[A-Za-z0-9_-]+$/;
const MAP_COLUMN = /^([a-z_]+)\.(.+)$/s;

/** The caller's own name for the change of a row: one purchase, one intent, also when the file is run again. */
export const INTENT_COLUMN = 'intent';

/** Operations that a name makes sure of; the others do the same when they are repeated. */
export function takesIntents(operation: BulkOperation): boolean {
  return operation !== 'cards.freeze' && operation !== 'cards.unfreeze';
}

/** Fields of a row, path parameters first. */
export function rowFields(operation: BulkOperation): Shape {
  const row: { readonly params?: Shape; readonly body?: Shape } = OPERATIONS[operation];
  return { ...row.params, ...row.body };
}

/**
 * What else this program prints about a card, or about a row of a run. A run on cards that are there takes such a list
 * or result as it is; a new card is described anew, and there an unknown column is a mistake.
 */
const PRINTED_OF_CARDS: ReadonlySet<string> = new Set([
  ...Object.keys(CARD),
  ...Object.keys(ATTEMPT_ROW),
  ...[...RESULT_COLUMNS, ...ITEM_COLUMNS, ...LOOKED_COLUMNS].map(({ field }) => field),
]);

/** Whether a run passes over a column that another answer of this program has. */
export function isPassedOver(fields: Shape, column: string): boolean {
  if (!('card_id' in fields)) return false;
  return PRINTED_OF_CARDS.has(column) || column.startsWith('metadata.');
}

/** True where the same row a second time moves money a second time. */
export function movesMoney(operation: BulkOperation): boolean {
  return 'amount' in rowFields(operation);
}

/** The columns by the names of the operation: `id` of a list of cards is the card, where nothing else can be meant. */
export function columnNames(operation: BulkOperation, header: readonly string[]): readonly string[] {
  if (!('card_id' in rowFields(operation)) || header.includes('card_id')) return header;
  return header.map(name => (name === 'id' ? 'card_id' : name));
}

/** Throws `usage` for names that are empty, unknown or there twice, and for one that is missing. */
export function checkColumns(name: string, operation: BulkOperation, header: readonly CsvField[]): void {
  const fields = rowFields(operation);
  const named = columnNames(
    operation,
    header.map(({ text }) => text),
  );
  const names = header.map((_, index) => named[index] ?? '');
  const faults = header.flatMap(({ line, column }, index): Fault[] => {
    const text = names[index] ?? '';
    const isAgain = names.indexOf(text) !== index;
    const isIntent = text === INTENT_COLUMN && !isAgain && takesIntents(operation);
    const wrong = isIntent ? undefined : headerFault(fields, text, isAgain);
    return wrong === undefined ? [] : [{ line, column, text: wrong }];
  });
  for (const field of Object.keys(fields)) {
    if (!fields[field]?.must || names.includes(field)) continue;
    faults.push({ line: header[0]?.line ?? 1, column: 1, text: `the column ${quote(field)} is missing` });
  }
  if (faults.length === 0) return;
  const known = Object.entries(fields).map(([field, { kind }]) => (kind === 'map' ? `${field}.<key>` : field));
  if (takesIntents(operation)) known.push(INTENT_COLUMN);
  const separator = names.length === 1 && /[;\t]/.test(names[0] ?? '') ? ['Columns are separated by commas.'] : [];
  throw new CliError('usage', {
    message: `${name}: the header is wrong. Nothing was sent`,
    notes: [
      ...faults.map(faultLine),
      ...separator,
      ...otherForm(operation, names),
      `The columns are ${known.join(', ')}.`,
    ],
    evidence: { faults },
    outcome: 'not_sent',
  });
}

/** A first line that is no header at all: a table, YAML, or ids alone. */
function otherForm(operation: BulkOperation, names: readonly string[]): readonly string[] {
  const [first = ''] = names;
  if (names.length !== 1 || /[;\t]/.test(first)) return [];
  if (ID.test(first) && /^[a-z]+_/.test(first) && !movesMoney(operation))
    return [`Ids alone, one a line, are given without --file: cardwright ${operation.replace('.', ' ')} - < ids.txt`];
  return ['Lists are printed in a form that fits here by -o csv and by -o ndjson.'];
}

function headerFault(fields: Shape, column: string, again: boolean): string | undefined {
  if (column === '') return 'a column without a name';
  if (again) return `the column ${quote(column)} stands there twice`;
  const isKnown = fieldOf(fields, column) !== undefined || isPassedOver(fields, column);
  return isKnown ? undefined : `unknown column ${quote(column)}`;
}

function fieldOf(fields: Shape, column: string): AnyField | undefined {
  if (Object.hasOwn(fields, column)) return fields[column]?.kind === 'map' ? undefined : fields[column];
  const [, name = ''] = MAP_COLUMN.exec(column) ?? [];
  return Object.hasOwn(fields, name) && fields[name]?.kind === 'map' ? fields[name] : undefined;
}
