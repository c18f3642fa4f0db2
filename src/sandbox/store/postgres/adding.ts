/** Rows added by one statement, however many: they travel as JSON, and their table says of what types they are. */
import type { Bound } from '../../../engine/connection.ts';
import type { Tail } from '../sql.ts';

const TEXTS = new WeakMap<Tail, string>();

/** Adds the rows of a JSON list to the table of a tail. */
export function addText(tail: Tail): string {
  const known = TEXTS.get(tail);
  if (known !== undefined) return known;
  const { table } = tail;
  const columns = tail.columns.join(', ');
  const rows = `json_populate_recordset(cast(null as ${table}), ?)`;
  const text = `insert into ${table} (${columns}) select ${columns} from ${rows}`;
  TEXTS.set(tail, text);
  return text;
}

/** Rows as such a list; `values` are those of one row after the other. */
export function rowsAsJson({ columns }: Tail, values: readonly Bound[]): string {
  const rows: Record<string, unknown>[] = [];
  for (let at = 0; at < values.length; at += columns.length) {
    const row: Record<string, unknown> = {};
    for (const [nth, column] of columns.entries()) row[column] = inJson(values[at + nth] ?? null);
    rows.push(row);
  }
  return JSON.stringify(rows);
}

function inJson(value: Bound): unknown {
  if (value instanceof Uint8Array) throw new TypeError('no table that is added to has bytes');
  // Whole numbers may be larger than those of JSON; the database reads them from text too.
  return typeof value === 'bigint' ? String(value) : value;
}
