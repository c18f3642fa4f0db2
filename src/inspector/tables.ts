/** Rows, commands and words of the contract, as the build wrote them into the page. */
import type { PageRow, PageTables } from '../contract/sandbox/page-tables.ts';

declare const PAGE_TABLES: PageTables;

export const TABLES: PageTables = PAGE_TABLES;

/** Throws for a row that the page may not ask: that is a fault of the page. */
export function rowOf(name: string): PageRow {
  const row = TABLES.rows[name];
  if (row === undefined) throw new Error(`no row ${name}`);
  return row;
}
