/**
 * What a snapshot holds of a store: which tables, in which order, which columns. Read off the statements that make the
 * tables, so that a new column is never forgotten.
 */
import { DOMAIN_TABLES, TABLES } from './schema.ts';
import type { Sql, SqlValue } from './sql.ts';
import { CLEARED_TABLES, columnsOf, SYSTEM_TABLES } from './system-tables.ts';

/** The one account of a store. */
export const ARCHIVED_ACCOUNT = 'acct_sandbox';

export interface ArchivedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of its key, without the account that leads it. */
  readonly key: readonly string[];
}

/** Who is moving the clock belongs to a process, and that the books were looked through to this very store. */
const NOT_ARCHIVED = ['advances', 'ledger_checks'];

/** How long something took, and which key of this machine was used: no two sandboxes of one seed would be the same. */
const NOT_ARCHIVED_COLUMNS: Readonly<Record<string, readonly string[]>> = { requests: ['took', 'key_last4'] };

/** Parents first: the order in which they can be filled. Emptied the other way round. */
export const ARCHIVED: readonly ArchivedTable[] = [...[...DOMAIN_TABLES].reverse(), ...CLEARED_TABLES]
  .filter(name => !NOT_ARCHIVED.includes(name))
  .map(tableNamed);

function tableNamed(name: string): ArchivedTable {
  const made = [...TABLES, ...SYSTEM_TABLES].find(statement => statement.startsWith(`create table ${name} (`));
  if (made === undefined) throw new Error(`no statement makes the table ${name}`);
  const key = keyOf(made) ?? TABLES.map(statement => keyApart(statement, name)).find(found => found !== undefined);
  if (key === undefined) throw new Error(`nothing tells the rows of ${name} apart`);
  const columns = columnsOf(made).filter(column => !NOT_ARCHIVED_COLUMNS[name]?.includes(column));
  return { name, columns, key: key.filter(column => column !== 'account_id') };
}

function keyOf(table: string): readonly string[] | undefined {
  if (/^\s+account_id text (?:not null )?primary key/m.test(table)) return ['account_id'];
  return /^\s+primary key \(([^)]+)\)/m.exec(table)?.[1]?.split(', ');
}

/** Of a table whose key is made once its rows are there. */
function keyApart(statement: string, table: string): readonly string[] | undefined {
  const [, on, columns] = /^create unique index \w+ on (\w+) \(([^)]+)\)$/.exec(statement) ?? [];
  return on === table ? columns?.split(', ') : undefined;
}

const PAGE = 2_000;

/** All rows of the account in a table, page by page in the order of its key, values in the order of its columns. */
export async function* rowsOf(
  sql: Sql,
  account: string,
  { name, columns, key }: ArchivedTable,
): AsyncGenerator<readonly (readonly SqlValue[])[]> {
  const from = `select ${columns.join(', ')} from ${name} where account_id = ?`;
  const order = key.length === 0 ? '' : ` order by ${key.join(', ')}`;
  const after = ` and (${key.join(', ')}) > (${key.map(() => '?').join(', ')})`;
  let last: SqlValue[] = [];
  for (;;) {
    const where = last.length === 0 ? from : from + after;
    const rows = await sql.all<Record<string, SqlValue>>(`${where}${order} limit ?`, account, ...last, PAGE);
    if (rows.length > 0) yield rows.map(row => columns.map(column => row[column] ?? null));
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE || key.length === 0) return;
    last = key.map(column => end[column] ?? null);
  }
}

/** Removes everything a snapshot replaces. */
export async function emptyArchived(sql: Sql, account: string): Promise<void> {
  for (const { name } of [...ARCHIVED].reverse()) await sql.run(`delete from ${name} where account_id = ?`, account);
}
