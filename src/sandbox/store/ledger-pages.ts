/** Pages of what stands behind the service, for the admin surface alone: entries, accounts, events, deposits. */
import type { Cents } from '../../core/money.ts';
import type { DepositRow } from './deposits.ts';
import { DEPOSIT_COLUMNS } from './deposits.ts';
import type { Sql, SqlValue } from './sql.ts';

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

interface Query {
  readonly columns: string;
  /** What follows `from`; the first value is the account. */
  readonly from: string;
  readonly order: string;
  readonly values: readonly SqlValue[];
}

/** A page of a query, and how many rows it has. */
export async function listed<Row>(sql: Sql, { columns, from, order, values }: Query, page: Page): Promise<Listed<Row>> {
  const count = await sql.get<{ total: number }>(`select count(*) as total from ${from}`, ...values);
  const statement = `select ${columns} from ${from} order by ${order} limit ? offset ?`;
  return { rows: await sql.all<Row>(statement, ...values, page.limit, page.offset), total: count?.total ?? 0 };
}

type Wanted = readonly (readonly [condition: string, value: SqlValue | undefined])[];

function narrowed(account: string, wanted: Wanted): { where: string; values: SqlValue[] } {
  const given = wanted.filter((entry): entry is readonly [string, SqlValue] => entry[1] !== undefined);
  return {
    where: ['account_id = ?', ...given.map(([condition]) => condition)].join(' and '),
    values: [account, ...given.map(([, value]) => value)],
  };
}

export interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly created_at: number;
  readonly body: string;
}

export interface EventFilter {
  readonly type?: string | undefined;
  readonly card_id?: string | undefined;
  /** Number of the event behind which it begins. */
  readonly after?: number | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

/** Begins the text of an event about a card: its object is the card, or names it. */
export const ABOUT_CARD = "(body like ? escape '!' or body like ? escape '!')";

/** Text in which nothing stands for something else. */
const literally = (text: string) => text.replace(/[!%_]/g, sign => `!${sign}`);

/** The values of `ABOUT_CARD`. */
export function aboutCard(id: string): readonly string[] {
  const named = literally(JSON.stringify(id));
  return [`%"data":{"id":${named}%`, `%"card_id":${named}%`];
}

export function eventsInOrder(sql: Sql, account: string, { order = 'asc', ...parsed }: Page & EventFilter) {
  const { where, values } = narrowed(account, [
    ['type = ?', parsed.type],
    ['seq > ?', parsed.after],
  ]);
  const card = parsed.card_id === undefined ? [] : aboutCard(parsed.card_id);
  const query = {
    columns: 'seq, id, type, created_at, body',
    from: `events where ${where}${card.length === 0 ? '' : ` and ${ABOUT_CARD}`}`,
    order: `seq ${order}`,
    values: [...values, ...card],
  };
  return listed<EventRow>(sql, query, parsed);
}

export function newestDeposits(
  sql: Sql,
  account: string,
  parsed: Page & { status?: string | undefined; currency?: string | undefined },
) {
  const { where, values } = narrowed(account, [
    ['status = ?', parsed.status],
    ['currency = ?', parsed.currency],
  ]);
  const order = 'created_at desc, id desc';
  return listed<DepositRow>(sql, { columns: DEPOSIT_COLUMNS, from: `deposits where ${where}`, order, values }, parsed);
}

export interface AccountRow {
  readonly ledger: string;
  readonly balance: Cents;
  readonly postings: number;
}

export function ledgerAccounts(sql: Sql, account: string, page: Page) {
  const from = `(select ledger, cast(sum(amount) as bigint) as balance, count(*) as postings
    from postings where account_id = ? group by ledger) a`;
  return listed<AccountRow>(sql, { columns: '*', from, order: 'ledger', values: [account] }, page);
}

export interface EntryLine {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
}

export function entriesInOrder(
  sql: Sql,
  account: string,
  parsed: Page & { ledger?: string | undefined; ref?: string | undefined },
) {
  const touches =
    'exists (select 1 from postings p where p.account_id = e.account_id and p.entry_id = e.id and p.ledger = ?)';
  const { where, values } = narrowed(account, [
    [touches, parsed.ledger],
    ['ref = ?', parsed.ref],
  ]);
  const query = { columns: 'id, kind, ref, created_at', from: `entries e where ${where}`, order: 'id', values };
  return listed<EntryLine>(sql, query, parsed);
}

export const postingsOf = (sql: Sql, account: string, entry: number) =>
  sql.all<{ readonly ledger: string; readonly amount: Cents }>(
    'select ledger, amount from postings where account_id = ? and entry_id = ? order by ledger',
    account,
    entry,
  );
