/** Exports as rows, and what becomes of those of an older cardwright. */

export interface Exported {
  readonly schema: number;
  readonly tables: readonly { readonly name: string; readonly columns: readonly string[]; readonly rows: number }[];
  /** Rows of each table as objects, in the order of the file. */
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

export function exportIn(text: string): Exported {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const { schema, tables } = JSON.parse(first) as Exported;
  const rows: Record<string, Record<string, unknown>[]> = {};
  let at = 0;
  for (const table of tables) {
    rows[table.name] = lines.slice(at, at + table.rows).map(line => {
      const values = JSON.parse(line) as unknown[];
      return Object.fromEntries(table.columns.map((column, nth) => [column, values[nth]]));
    });
    at += table.rows;
  }
  return { schema, tables, rows };
}

/** What is to be there afterwards: everything but how a record of a key was held, and what came later as nothing. */
export function expectedNow({ rows }: Exported): Exported['rows'] {
  const kept = rows['idempotency']?.map(({ owner, lease_token, lease_until, ...record }) => record) ?? [];
  const later = (table: string, more: object) => rows[table]?.map(row => ({ ...more, ...row })) ?? [];
  return {
    ...{ ...rows, idempotency: kept, decline_facts: rows['decline_facts'] ?? [] },
    requests: later('requests', {
      ...{ answer: null, request_headers: null, query: null, body_bytes: null, not_kept: null },
    }),
    deliveries: later('deliveries', { edited: null, sign: null }),
  };
}
