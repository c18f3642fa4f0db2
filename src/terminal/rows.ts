/** Rows and their fields: reading a path, choosing, ordering, and refusing a name that is not there. */
import { usage } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { isObject } from '../core/objects.ts';
import type { Environment, Streams } from '../platform/host.ts';
import { plainText } from './cells.ts';
import { printable } from './printable.ts';
import type { Column, OutputSettings, Presentation, Row } from './view.ts';

/** A result as rows: an object is one, an array is its elements, anything else one row with `value`. */
export function rowsOf(data: unknown): readonly Row[] {
  if (data === undefined) return [];
  const items = Array.isArray(data) ? data : [data];
  return items.map(item => (isObject(item) ? item : { value: item }));
}

/** The value of a field. An exact key wins over a dotted path; inherited keys do not exist. */
export function valueAt(row: Row, field: string): unknown {
  if (Object.hasOwn(row, field)) return row[field];
  let value: unknown = row;
  for (const key of field.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Only these fields, in the asked order; one the row does not have is left out. */
export function pick(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(
    fields.map(field => [field, valueAt(row, field)] as const).filter(([, value]) => value !== undefined),
  );
}

function knownNames(rows: readonly Row[], columns: readonly Column[]): Set<string> {
  const names = new Set(columns.map(column => column.field));
  for (const row of rows) for (const key of Object.keys(row)) names.add(key);
  return names;
}

function sortField(sort: string): string {
  return sort.startsWith('-') ? sort.slice(1) : sort;
}

type AskedNames = Pick<OutputSettings, 'fields' | 'columns' | 'sort' | 'promised'>;

/**
 * Throws `usage` for the first name of `--fields`, `--columns` or `--sort` that no row and no column has. A
 * dotted name needs only its first part: the keys of a map are free.
 */
export function checkNames(settings: AskedNames, rows: readonly Row[], columns: readonly Column[]): void {
  const asked: (readonly [option: string, name: string])[] = [
    ...(settings.fields ?? []).map(name => ['--fields', name] as const),
    ...(settings.columns ?? []).map(name => ['--columns', name] as const),
    ...(settings.sort === undefined ? [] : [['--sort', sortField(settings.sort)] as const]),
  ];
  if (asked.length === 0) return;
  const known = knownNames(rows, columns);
  if (rows.length === 0) for (const name of settings.promised ?? []) known.add(name);
  for (const [option, name] of asked) {
    const head = name.split('.')[0] ?? name;
    if (known.has(name) || (head !== name && known.has(head))) continue;
    const meant = didYouMean(name, [...known]);
    throw usage(`${option}: there is no field "${name}".${meant} Fields: ${[...known].join(', ')}`);
  }
}

function inferredColumn(field: string): Column {
  return { field, title: field.toUpperCase(), kind: 'text', priority: 1 };
}

/** The columns that were asked for by name, undefined where none were. A field that has none of its own gets a plain one. */
export function askedColumns({ columns: asked, fields }: AskedNames, columns: readonly Column[]) {
  return (asked ?? fields)?.map((name): Column => {
    const own = columns.find(column => column.field === name);
    // What was asked for by name is not dropped on a narrow screen.
    return own === undefined ? inferredColumn(name) : { ...own, priority: 1 };
  });
}

/** The columns, or one for each key of the rows where a presentation has none. */
export function columnsFor(columns: readonly Column[], rows: readonly Row[]): readonly Column[] {
  return columns.length > 0 ? columns : [...knownNames(rows, [])].map(inferredColumn);
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number' || typeof b === 'number') return typeof a === 'number' ? -1 : 1;
  const [left, right] = [plainText(a), plainText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Stable order by one field, numbers by value. Rows without the field come last, either way round. */
function sortRows(rows: readonly Row[], sort: string | undefined): readonly Row[] {
  if (sort === undefined) return rows;
  const field = sortField(sort);
  const direction = sort.startsWith('-') ? -1 : 1;
  const keyed = rows.map(row => ({ row, key: valueAt(row, field) ?? undefined }));
  keyed.sort((a, b) => {
    if (a.key === undefined || b.key === undefined) return Number(a.key === undefined) - Number(b.key === undefined);
    return direction * compare(a.key, b.key);
  });
  return keyed.map(({ row }) => row);
}

// One call of `present`, and the rows in it.

export interface Job {
  readonly presentation: Presentation;
  readonly settings: OutputSettings;
  readonly streams: Streams;
  readonly env: Environment;
}

/** All rows of a result, in the asked order, names checked. Nothing has been written when this throws. */
export async function collectRows({ presentation, settings }: Job): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (presentation.listing === undefined) rows.push(...rowsOf(presentation.data));
  else for await (const batch of presentation.listing.batches) for (const row of batch) rows.push(row);
  checkNames(settings, rows, presentation.columns);
  return sortRows(rows, settings.sort).slice(0, presentation.listing?.most);
}

/** The rows as they come; all at once where an order was asked for. */
export async function* batchesOf(job: Job): AsyncIterable<readonly Row[]> {
  const { listing } = job.presentation;
  if (listing === undefined || job.settings.sort !== undefined) yield await collectRows(job);
  else yield* listing.batches;
}

/** Says on standard error that rows are a part of what there is; a document says it itself, a screen in its footer. */
export async function noteCut({ presentation, settings, streams }: Job): Promise<void> {
  const cut = streams.stdout.closed || settings.quiet ? undefined : presentation.listing?.cutShort?.();
  if (cut !== undefined) await streams.stderr.write(`note: ${printable(cut)}\n`);
}
