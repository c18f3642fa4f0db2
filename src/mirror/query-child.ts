/**
 * The process that runs one statement of somebody else on a copy: it reads only, and it may be killed at any time. It
 * answers in lines of JSON: the columns, the rows, then an end; or why the statement is refused.
 */

import type { GuardedConnection } from '../engine/connection.ts';
import { connectToRead } from '../engine/open.ts';
import { notOneStatement } from './statement-end.ts';

/** What it is asked, as JSON on standard input. */
export interface QueryRequest {
  readonly path: string;
  readonly sql: string;
}

export type Line =
  | { readonly columns: readonly string[] }
  | { readonly rows: readonly (readonly unknown[])[] }
  | { readonly end: true }
  | { readonly refused: string };

const HEAP_BYTES = 256 * 1024 * 1024;
const LONGEST_VALUE = 1_000_000;
const ROWS_A_LINE = 200;

/** SQLite's numbers of the actions that are allowed, and of its answers. */
const PRAGMA = 19;
const READ = 20;
const SELECT = 21;
const FUNCTION = 31;
const RECURSIVE = 33;
const [OK, DENY] = [0, 1];

/** Tables that say whose copy it is and how far it got; nothing in them is about the account. */
const HIDDEN: ReadonlySet<string> = new Set(['facts', 'copied_op']);
const FORBIDDEN_FUNCTION = /^(?:load_extension|randomblob|zeroblob|fts[345]\w*)$/i;

/** Whether a statement may do this. */
export function isAllowed(action: number, first: string | null, second: string | null): boolean {
  if (action === SELECT || action === RECURSIVE) return true;
  if (action === READ) return !HIDDEN.has((first ?? '').toLowerCase());
  if (action === PRAGMA) return (first ?? '').toLowerCase() === 'table_info';
  return action === FUNCTION && !FORBIDDEN_FUNCTION.test(second ?? '');
}

/** Runs the statement; lines go to `write`, which may make it wait. Never rejects for the sake of the statement. */
export async function runQuery({ path, sql }: QueryRequest, write: (line: Line) => Promise<void>): Promise<void> {
  const wrong = notOneStatement(sql);
  if (wrong !== undefined) return write({ refused: wrong });
  let connection: GuardedConnection | undefined;
  try {
    connection = guarded(path);
    await writeRows(connection, sql, write);
  } catch (error) {
    await write({ refused: error instanceof Error ? error.message : String(error) });
  } finally {
    connection?.close();
  }
}

function guarded(path: string): GuardedConnection {
  const connection = connectToRead(path);
  connection.exec('pragma query_only = on');
  connection.exec('pragma trusted_schema = off');
  connection.exec('pragma cell_size_check = on');
  connection.exec(`pragma hard_heap_limit = ${HEAP_BYTES}`);
  connection.exec('pragma temp_store = memory');
  connection.enableDefensive?.(true);
  if (connection.limits === undefined) connection.setLimit?.(0, LONGEST_VALUE);
  else connection.limits.length = LONGEST_VALUE;
  connection.setAuthorizer((action, first, second) => (isAllowed(action, first, second) ? OK : DENY));
  return connection;
}

async function writeRows(connection: GuardedConnection, sql: string, write: (line: Line) => Promise<void>) {
  const statement = connection.prepare(sql);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  await write({ columns: distinct(statement.columns().map(({ name }) => name)) });
  let rows: (readonly unknown[])[] = [];
  for (const row of statement.iterate()) {
    rows.push(row.map(plain));
    if (rows.length < ROWS_A_LINE) continue;
    await write({ rows });
    rows = [];
  }
  if (rows.length > 0) await write({ rows });
  await write({ end: true });
}

/** Columns of the same name become `name`, `name_2`. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map(name => {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
    taken.add(free);
    return free;
  });
}

/** As JSON can hold it: bytes as hex, numbers beyond what JSON numbers hold as text. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return value;
}
