/** Looks into a store, and lets damage into it. */
import type { Sql } from '../../src/sandbox/store/sql.ts';

interface Named {
  readonly name: string;
}

/** Tables of the store in the order of their names. */
export const tablesOf = (sql: Sql): readonly Named[] =>
  sql.all<Named>("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name");

/** Lets rows in that the tables themselves refuse: damage comes from elsewhere. */
export const ignoreChecks = (sql: Sql): number => sql.run('pragma ignore_check_constraints = on');
