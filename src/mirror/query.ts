/** SQL on a copy, in a process of its own that is killed at the timeout: the engine cannot be interrupted. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CliError } from '../core/errors.ts';
import type { Environment } from '../platform/host.ts';
import type { Line, QueryRequest } from './query-child.ts';

export interface QueryParts {
  /** The words that start this program once more, the hidden word of the query with them. */
  readonly program: readonly [string, ...string[]];
  readonly env: Environment;
  readonly signal: AbortSignal;
}

export interface QueryAnswer {
  readonly columns: readonly string[];
  /** Rows as they come. Throws `wait_expired` when the time is over, `usage` when the engine refuses on the way. */
  readonly batches: AsyncIterable<readonly Readonly<Record<string, unknown>>[]>;
}

/**
 * Runs one statement. Resolves when its columns are there. Throws `usage` for a statement that is refused, `wait_expired`
 * when it took longer than `timeoutMs`, rows included.
 */
export async function queryCopy(asked: QueryRequest, timeoutMs: number, parts: QueryParts): Promise<QueryAnswer> {
  const [node, ...words] = parts.program;
  const child = spawn(node, words, { env: parts.env, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  const stop = () => child.kill('SIGKILL');
  parts.signal.addEventListener('abort', stop, { once: true });
  const end = () => {
    clearTimeout(timer);
    parts.signal.removeEventListener('abort', stop);
    child.kill('SIGKILL');
  };
  // A process that could not be started, or was killed, ends its output: that is looked at below.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(asked));
  const lines = createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  const next = async (): Promise<Line> => {
    const { value, done } = await lines.next();
    if (done !== true) return JSON.parse(value) as Line;
    parts.signal.throwIfAborted();
    throw isLate ? tooLate(timeoutMs) : ended();
  };
  try {
    const first = await next();
    if (!('columns' in first)) throw refusedBy(first);
    return { columns: first.columns, batches: batchesOf(first.columns, next, end) };
  } catch (error) {
    end();
    throw error;
  }
}

async function* batchesOf(
  columns: readonly string[],
  next: () => Promise<Line>,
  end: () => void,
): AsyncGenerator<readonly Readonly<Record<string, unknown>>[]> {
  try {
    for (;;) {
      const line = await next();
      if ('end' in line) return;
      if (!('rows' in line)) throw refusedBy(line);
      yield line.rows.map(row => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
    }
  } finally {
    end();
  }
}

function refusedBy(line: Line): CliError {
  const why = 'refused' in line ? line.refused : 'no answer';
  return new CliError('usage', {
    message: `the query was refused: ${why}`,
    notes: ['One statement that reads; tables and columns are those of cardwright schema mirror.'],
    hint: 'cardwright schema mirror',
    outcome: 'not_sent',
  });
}

function tooLate(timeoutMs: number): CliError {
  return new CliError('wait_expired', {
    message: `the query took longer than ${timeoutMs / 1000} s and was ended`,
    hint: 'cardwright books query --help',
    outcome: 'not_sent',
  });
}

/** It ended without an answer, as a process does that the system has no memory for. */
function ended(): CliError {
  return new CliError('usage', {
    message: 'the query was refused: its process ended without an answer; it may have asked for too much memory',
    hint: 'cardwright books query --help',
    outcome: 'not_sent',
  });
}
