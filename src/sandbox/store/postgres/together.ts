/**
 * Several statements sent as one, because for small ones the way there and back costs more than the work: what reads as
 * columns of one row, what writes as parts of one `with`. Statements that write together see none of the others' rows, so
 * they must be of different rows.
 */
import type { Bound } from '../../../engine/connection.ts';
import type { PostgresAnswer } from '../../../postgres/client.ts';
import type { SqlRow } from '../sql.ts';

/** A list of texts is one value. */
export type Sent = Bound | readonly string[];

export interface Asking {
  readonly text: string;
  readonly values: readonly Sent[];
}

/** Asks all of them at once; `rowsOfEach` reads the answer. */
export function readTogether(all: readonly Asking[]): Asking {
  const columns = all.map(({ text }, nth) => `(select json_agg(q${nth}) from (${text}) q${nth}) as r${nth}`);
  return { text: `select ${columns.join(',\n')}`, values: all.flatMap(({ values }) => values) };
}

/** The rows of each statement that was asked. Throws a `TypeError` for values that the store never has. */
export function rowsOfEach({ rows }: PostgresAnswer): readonly (readonly SqlRow[])[] {
  const [row = []] = rows;
  return row.map(text => (text === null ? [] : (JSON.parse(text, checked) as SqlRow[])));
}

/** Writes all of them at once. */
export function writeTogether(all: readonly Asking[]): Asking {
  const parts = all.map(({ text }, nth) => (nth === all.length - 1 ? text : `w${nth} as (${text})`));
  const last = parts.pop() ?? '';
  return {
    text: parts.length === 0 ? last : `with ${parts.join(',\n')}\n${last}`,
    values: all.flatMap(({ values }) => values),
  };
}

function checked(name: string, value: unknown): unknown {
  if (typeof value === 'boolean' || (typeof value === 'number' && !Number.isSafeInteger(value))) {
    throw new TypeError(`column ${name} holds ${value}, which is not a whole number`);
  }
  return value;
}
