/** What differs between the SQL of the store as it is written and as PostgreSQL takes it; and values on their way. */
import { bound } from '../../../engine/bind.ts';
import type { PostgresAnswer, PostgresValue } from '../../../postgres/client.ts';
import type { SqlRow, SqlValue } from '../sql.ts';

/** `?` becomes `$1`, `$2` and so on; question marks inside quotes are text. */
export function numbered(statement: string): string {
  let count = 0;
  return statement.replace(/'[^']*'|\?/g, part => {
    if (part !== '?') return part;
    count += 1;
    return `$${count}`;
  });
}

/**
 * A statement that makes or changes a table: `integer` has 64 bits, text is ordered by its bytes as SQLite orders it,
 * and how SQLite lays a table out is left away.
 */
export function withTypes(statement: string): string {
  return statement
    .replace(/\) strict(?:, without rowid)?\s*$/, ')')
    .replace(/\binteger\b/g, 'bigint')
    .replace(/^(\s*(?:alter table \w+ add column )?\w+) text\b/gm, '$1 text collate "C"');
}

/** A value, or a list of texts, as it is sent. Throws a `TypeError` for whatever SQLite refuses too. */
export function sent(value: SqlValue | readonly string[]): PostgresValue {
  if (isList(value)) return value;
  const checked = bound(value);
  return typeof checked === 'bigint' ? checked.toString() : checked;
}

function isList(value: SqlValue | readonly string[]): value is readonly string[] {
  return Array.isArray(value);
}

const WHOLE = new Set([20, 21, 23]);
const NUMERIC = 1700;
/** text, varchar, name, unknown. */
const TEXTS = new Set([25, 1043, 19, 705]);

/** One value of an answer. Throws a `TypeError` for a type that the store never asks for, and for large numbers. */
function read(text: string | null, { name, type }: PostgresAnswer['columns'][number]): SqlRow[string] {
  if (text === null) return null;
  if (TEXTS.has(type)) return text;
  if (!WHOLE.has(type) && type !== NUMERIC) throw new TypeError(`column ${name} is of the unknown type ${type}`);
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new TypeError(`column ${name} holds ${text}, which is not a whole number`);
}

/** Rows as plain objects. */
export function rowsOf({ columns, rows }: PostgresAnswer): readonly SqlRow[] {
  return rows.map(values => {
    const row: SqlRow = {};
    for (const [at, column] of columns.entries()) row[column.name] = read(values[at] ?? null, column);
    return row;
  });
}
