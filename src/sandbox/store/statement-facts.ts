/** What can be told of a statement by its text: what it asks for, what it reads, what it writes. */
import { placeholders } from '../../engine/bind.ts';
import type { SqlValue } from './sql.ts';

export interface StatementFacts {
  /** How many values it asks for. */
  readonly count: number;
  readonly writes: boolean;
  /** The one table it writes; undefined where that is not plain to see. */
  readonly table: string | undefined;
  /** It tells which rows it wrote. */
  readonly returns: boolean;
  /** Names of the tables it speaks of, among other words; undefined where they are not plain to see. */
  readonly tables: ReadonlySet<string> | undefined;
}

const READS = /^\s*(?:select|with|values|pragma)\b/i;
const WRITES_ONE = /^\s*(?:insert\s+into|update|delete\s+from)\s+(\w+)/i;
const CHANGES_NOTHING = /^\s*(?:savepoint|release)\b/i;
const NAMES_TABLES = /^\s*(?:select|insert|update|delete)\b/i;
/**
 * What follows these words: names of tables, each perhaps with a shorter one, and the word after them. After the table
 * of an update come its columns, and one of those has the name of a table.
 */
const TABLES = /\b(?:from|join|into)\s+(\w+(?:\s+\w+){0,2}(?:\s*,\s*\w+(?:\s+\w+){0,2})*)|\bupdate\s+(\w+)/gi;

export function factsOf(text: string): StatementFacts {
  return {
    count: placeholders(text),
    writes: !READS.test(text) && !CHANGES_NOTHING.test(text),
    table: WRITES_ONE.exec(text)?.[1]?.toLowerCase(),
    returns: / returning /i.test(text),
    tables: tablesOf(text),
  };
}

/** Words of a statement among which are all its tables; text in quotes is none of it. */
function tablesOf(statement: string): ReadonlySet<string> | undefined {
  if (!NAMES_TABLES.test(statement)) return undefined;
  const parts = statement
    .toLowerCase()
    .replace(/'[^']*'/g, '')
    .matchAll(TABLES);
  return new Set([...parts].flatMap(([, names = '', updated = '']) => `${names} ${updated}`.match(/\w+/g) ?? []));
}

/** Tells lists of values apart; stored text has no NUL. */
export function nameOf(values: readonly SqlValue[]): string {
  let name = '';
  for (const value of values) name += `${typeof value} ${value}\u0000`;
  return name;
}

/** Said of a statement whose work has ended, or whose transaction has. */
export const OVER = 'the transaction of this statement is over';
/** Said of a statement that writes in a reading transaction. */
export const READ_ONLY = 'a reading transaction cannot write';
