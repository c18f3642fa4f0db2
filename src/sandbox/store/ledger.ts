/** Statements on `entries` and `postings`, and the cached balances they move. Called by the ledger alone. */
import { type Cents, cents } from '../../core/money.ts';
import { DEPOSIT_COLUMNS, type DepositRow } from './account.ts';
import { CARDS } from './cards.ts';
import type { Rows, Sql, SqlValue } from './sql.ts';

interface WalletMove {
  readonly wallet: Cents;
  readonly deposited: Cents;
  readonly spent: Cents;
}

interface BalancesRow {
  readonly entries: number;
  readonly balance: Cents;
  readonly deposited: Cents;
  readonly spent: Cents;
}

const BALANCES: Rows<BalancesRow> = {
  table: 'wallets',
  key: ['account_id'],
  columns: 'entries, balance, deposited, spent',
};

/**
 * Moves the wallet's cached balances and takes the next entry number; the wallet row comes first, always. Resolves
 * to undefined, and nothing moved, when it holds less than `least`.
 */
export async function moveWallet(sql: Sql, account: string, move: WalletMove & { readonly least: number }) {
  const before = await sql.row(BALANCES, account);
  if (before === undefined || before.balance < move.least) return undefined;
  const after: BalancesRow = {
    entries: before.entries + 1,
    balance: cents(before.balance + move.wallet),
    deposited: cents(before.deposited + move.deposited),
    spent: cents(before.spent + move.spent),
  };
  return sql.change(BALANCES, after, account);
}

/** Moves the cached balances of a card; resolves to undefined where there is none. A hold below 0 the store refuses. */
export async function moveCard(sql: Sql, account: string, move: { id: string; card: Cents; hold: Cents }) {
  const before = await sql.row(CARDS, account, move.id);
  if (before === undefined) return undefined;
  const after = { balance: cents(before.balance + move.card), hold: cents(before.hold + move.hold) };
  await sql.change(CARDS, after, account, move.id);
  return after;
}

interface EntryRow {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
}

const ENTRIES = { table: 'entries', columns: ['account_id', 'id', 'kind', 'ref', 'created_at'] };

export const insertEntry = (sql: Sql, account: string, row: EntryRow) =>
  sql.append(ENTRIES, account, row.id, row.kind, row.ref, row.created_at);

interface PostingRow {
  readonly entry_id: number;
  readonly ledger: string;
  readonly amount: Cents;
}

const POSTINGS = { table: 'postings', columns: ['account_id', 'entry_id', 'ledger', 'amount'] };

export const insertPosting = (sql: Sql, account: string, row: PostingRow) =>
  sql.append(POSTINGS, account, row.entry_id, row.ledger, row.amount);

/** Writes the wallet's cached sums as a data set added them up, and the number of its last entry. */
export const keepWalletSums = (sql: Sql, account: string, sums: WalletMove & { readonly entries: number }) =>
  sql.run(
    'update wallets set balance = ?, deposited = ?, spent = ?, entries = ? where account_id = ?',
    sums.wallet,
    sums.deposited,
    sums.spent,
    sums.entries,
    account,
  );

// When the books were last looked through, and what was found.

export interface LastCheck {
  /** ms, on the clock of the sandbox. */
  readonly at: number;
  /** What did not hold, a line each; empty when all was well. */
  readonly faults: readonly string[];
}

/** Undefined when nobody looked since the sandbox was made, started over or put back. */
export async function lastCheck(sql: Sql, account: string): Promise<LastCheck | undefined> {
  const row = await sql.get<{ at: number; faults: string }>(
    'select at, faults from ledger_checks where account_id = ?',
    account,
  );
  return row && { at: row.at, faults: JSON.parse(row.faults) as string[] };
}

export async function keepCheck(sql: Sql, account: string, { at, faults }: LastCheck): Promise<void> {
  await sql.run(
    `insert into ledger_checks (account_id, at, faults) values (?, ?, ?)
      on conflict (account_id) do update set at = excluded.at, faults = excluded.faults`,
    account,
    at,
    JSON.stringify(faults),
  );
}

/** What was found is no longer true of what the store holds. */
export async function forgetCheck(sql: Sql, account: string): Promise<void> {
  await sql.run('delete from ledger_checks where account_id = ?', account);
}

// Pages of what stands behind the service, for the admin surface alone: entries, accounts, events, deposits.

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

interface EventFilter {
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

interface AccountRow {
  readonly ledger: string;
  readonly balance: Cents;
  readonly postings: number;
}

export function ledgerAccounts(sql: Sql, account: string, page: Page) {
  const from = `(select ledger, cast(sum(amount) as bigint) as balance, count(*) as postings
    from postings where account_id = ? group by ledger) a`;
  return listed<AccountRow>(sql, { columns: '*', from, order: 'ledger', values: [account] }, page);
}

interface EntryLine {
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

// How much an account holds, for its status.

interface Counts {
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

// How often a store was written to: by this connection, and by others.

interface ChangeCount {
  /** Rows that this connection wrote so far. */
  readonly own: number;
  /** Another number after every commit of another connection. */
  readonly others: number;
  /** Fault rules that can still happen. */
  readonly faults: number;
  /** JSON list of what did not hold when the books were last looked through; null when nobody did. */
  readonly checked: string | null;
}

const FACTS = `select total_changes() as own, (select data_version from pragma_data_version) as others,
  (select count(*) from faults where account_id = ? and (times is null or struck < times)
    and (expires_at is null or expires_at > ?)) as faults,
  (select faults from ledger_checks where account_id = ?) as checked`;

/** `now` is the clock of the sandbox, ms UTC. */
export async function changeCount(sql: Sql, account: string, now: number): Promise<ChangeCount> {
  const row = await sql.get<ChangeCount>(FACTS, account, now, account);
  if (row === undefined) throw new Error('the store says nothing about itself');
  return row;
}
