/** What is reserved on cards, for the dialect `ledger-balance`. */
import type { Cents } from '../../core/money.ts';
import type { Sql } from './sql.ts';

/** 0 for a terminated card, whose balance is 0 whatever still settles. */
export async function holdOf(sql: Sql, account: string, card: string): Promise<Cents> {
  const row = await sql.get<{ hold: Cents }>(
    `select hold from cards where account_id = ? and id = ? and status <> 'terminated'`,
    account,
    card,
  );
  return row?.hold ?? (0 as Cents);
}

export async function allHolds(sql: Sql, account: string): Promise<Cents> {
  const row = await sql.get<{ held: Cents }>(
    `select cast(coalesce(sum(hold), 0) as bigint) as held from cards
     where account_id = ? and status <> 'terminated'`,
    account,
  );
  return row?.held ?? (0 as Cents);
}
