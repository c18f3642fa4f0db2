/** How much an account holds, for its status. */
import type { Sql } from './sql.ts';

export interface Counts {
  readonly bins: number;
  readonly cards: number;
  readonly transactions: number;
  readonly webhooks: number;
  readonly events: number;
}

const TABLES = ['bins', 'cards', 'transactions', 'webhooks', 'events'] as const;
const STATEMENT = `select ${TABLES.map(
  table => `(select count(*) from ${table} where account_id = ?) as ${table}`,
).join(', ')}`;

export async function countAll(sql: Sql, account: string): Promise<Counts> {
  const counts = await sql.get<Counts>(STATEMENT, ...TABLES.map(() => account));
  return counts ?? { bins: 0, cards: 0, transactions: 0, webhooks: 0, events: 0 };
}
