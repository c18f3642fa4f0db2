/** SQL on a copy, in a process of its own that reads only and is killed at the timeout: the engine cannot be interrupted. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type CliError, notSent } from '../core/errors.ts';
import { connectToRead } from '../engine/open.ts';
import type { Environment } from '../platform/host.ts';

interface QueryParts {
  /** The words that start this program once more, the hidden word of the query with them. */
  readonly program: readonly [string, ...string[]];
  readonly env: Environment;
  readonly signal: AbortSignal;
}

/**
 * Runs one statement. Resolves when its columns are there. Throws `usage` for a statement that is refused, `wait_expired`
 * when it took longer than `timeoutMs`, rows included.
 */
export async function queryCopy(asked: QueryRequest, timeoutMs: number, parts: QueryParts) {
  const [node, ...words] = parts.program;
  const { env, signal } = parts;
  const ends = { timeout: timeoutMs, killSignal: 'SIGKILL', signal } as const;
  const child = spawn(node, words, { env, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true, ...ends });
  // A process that could not be started, or was killed, ends its output: that is looked at below.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(asked));
  const lines = createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  const next = async (): Promise<Exclude<Line, { refused: string }>> => {
    const { value, done } = await lines.next();
    signal.throwIfAborted();
    if (done === true) throw child.killed ? tooLate(timeoutMs) : refusal(ENDED, 'cardwright books query --help');
    const line = JSON.parse(value) as Line;
    if (!('refused' in line)) return line;
    const notes = ['One statement that reads; tables and columns are those of cardwright schema mirror.'];
    throw refusal(line.refused, 'cardwright schema mirror', notes);
  };
  try {
    const first = await next();
    const columns = 'columns' in first ? first.columns : [];
    return { columns, batches: batches(columns) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }

  /** Rows as they come. Throws `wait_expired` when the time is over, `usage` when the engine refuses on the way. */
  async function* batches(columns: readonly string[]): AsyncGenerator<readonly Readonly<Record<string, unknown>>[]> {
    try {
      for (let line = await next(); 'rows' in line; line = await next())
        yield line.rows.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
    } finally {
      child.kill('SIGKILL');
    }
  }
}

/** Said of a process that the system may have had no memory for. */
const ENDED = 'its process ended without an answer; it may have asked for too much memory';

function refusal(why: string, hint: string, notes?: readonly string[]): CliError {
  return notSent('usage', `the query was refused: ${why}`, { hint, ...(notes && { notes }) });
}

function tooLate(timeoutMs: number): CliError {
  const message = `the query took longer than ${timeoutMs / 1000} s and was ended`;
  return notSent('wait_expired', message, 'cardwright books query --help');
}

// The process that runs one statement of somebody else on a copy

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
const ACTION = { pragma: 19, read: 20, select: 21, function: 31, recursive: 33 } as const;
const [OK, DENY] = [0, 1];

/** Tables that say whose copy it is and how far it got; nothing in them is about the account. */
const HIDDEN: ReadonlySet<string> = new Set(['facts', 'copied_op']);
const FORBIDDEN_FUNCTION = /^(?:load_extension|randomblob|zeroblob|fts[345]\w*)$/i;

/** Whether a statement may do this. */
function isAllowed(action: number, first: string | null, second: string | null): boolean {
  if (action === ACTION.select || action === ACTION.recursive) return true;
  if (action === ACTION.read) return !HIDDEN.has((first ?? '').toLowerCase());
  if (action === ACTION.pragma) return (first ?? '').toLowerCase() === 'table_info';
  return action === ACTION.function && !FORBIDDEN_FUNCTION.test(second ?? '');
}

/** Runs the statement; lines go to `write`, which may make it wait. Never rejects for the sake of the statement. */
export async function runQuery({ path, sql }: QueryRequest, write: (line: Line) => Promise<void>): Promise<void> {
  const wrong = notOneStatement(sql);
  if (wrong !== undefined) return write({ refused: wrong });
  let connection: ReturnType<typeof guarded> | undefined;
  try {
    connection = guarded(path);
    await writeRows(connection, sql, write);
  } catch (error) {
    await write({ refused: error instanceof Error ? error.message : String(error) });
  } finally {
    connection?.close();
  }
}

function guarded(path: string) {
  const connection = connectToRead(path);
  const settings = ['query_only = on', 'trusted_schema = off', 'cell_size_check = on', 'temp_store = memory'];
  for (const setting of [...settings, `hard_heap_limit = ${HEAP_BYTES}`]) connection.exec(`pragma ${setting}`);
  connection.enableDefensive?.(true);
  if (connection.limits === undefined) connection.setLimit?.(0, LONGEST_VALUE);
  else connection.limits.length = LONGEST_VALUE;
  connection.setAuthorizer((action, first, second) => (isAllowed(action, first, second) ? OK : DENY));
  return connection;
}

async function writeRows(connection: ReturnType<typeof guarded>, sql: string, write: (line: Line) => Promise<void>) {
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

/** A value that JSON can hold: bytes as hex, numbers beyond what JSON numbers hold as text. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return value;
}

/** Texts, quoted names and comments; one without an end goes to the end. A doubled quote is two quoted texts side by side. */
const QUOTED = /'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)/;
const COMMENT = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/;
const OPAQUE = new RegExp(`${QUOTED.source}|(${COMMENT.source})`, 'g');

/** What is wrong with the text as one statement: nothing in it, or something behind it. Undefined when it is one. */
export function notOneStatement(sql: string): string | undefined {
  if (sql.includes('\0')) return 'a NUL character stands in it';
  const bare = sql.replace(OPAQUE, (_, comment?: string) => (comment === undefined ? 'x' : ' '));
  const statements = bare.split(';').filter(part => part.trim() !== '');
  if (statements.length > 1) return 'one statement at a time: something stands behind the first one';
  return statements.length === 1 ? undefined : 'there is no statement in it';
}
