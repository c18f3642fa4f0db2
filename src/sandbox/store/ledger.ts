/** Statements on `entries` and `postings`, and the cached balances they move. Called by the ledger alone. */
import type { Cents } from '../../core/money.ts';
import type { DepositRow } from './account.ts';
import { escaped, listed, type Page, type Sql } from './sql.ts';

interface WalletMove {
  readonly wallet: Cents;
  readonly deposited: Cents;
  readonly spent: Cents;
}

interface BalancesRow {
  readonly entries: number;
  readonly balance: Cents;
}

/**
 * Moves the wallet's cached balances and takes the next entry number; the wallet row comes first, always. Resolves
 * to undefined, and nothing moved, when it holds less than `least`.
 */
export const moveWallet = (
  sql: Sql,
  { wallet, deposited, spent, least }: WalletMove & { readonly least: number },
): Promise<BalancesRow | undefined> =>
  sql.get<BalancesRow>(
    `update wallets set entries = entries + 1, balance = balance + ?, deposited = deposited + ?, spent = spent + ?
     where balance >= ? returning entries, balance`,
    wallet,
    deposited,
    spent,
    least,
  );

/** Moves the cached balances of a card; resolves to undefined where there is none. A hold below 0 the store refuses. */
export const moveCard = (sql: Sql, { id, card, hold }: { id: string; card: Cents; hold: Cents }) =>
  sql.get<{ readonly balance: Cents; readonly hold: Cents }>(
    'update cards set balance = balance + ?, hold = hold + ? where id = ? returning balance, hold',
    card,
    hold,
    id,
  );

// When the books were last looked through, and what was found.

export interface LastCheck {
  /** ms, on the clock of the sandbox. */
  readonly at: number;
  /** What did not hold, a line each; empty when all was well. */
  readonly faults: readonly string[];
}

/** Undefined when nobody looked since the sandbox was made, started over or put back. */
export async function lastCheck(sql: Sql): Promise<LastCheck | undefined> {
  const row = await sql.get<{ at: number; faults: string }>('select at, faults from ledger_checks');
  return row && { at: row.at, faults: JSON.parse(row.faults) as string[] };
}

export async function keepCheck(sql: Sql, { at, faults }: LastCheck): Promise<void> {
  await forgetCheck(sql);
  await sql.insert('ledger_checks', { at, faults: JSON.stringify(faults) });
}

/** What was found is no longer true of what the store holds. */
export const forgetCheck = (sql: Sql) => sql.run('delete from ledger_checks');

// Pages of what stands behind the service, for the admin surface alone: entries, accounts, events, deposits.

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

export function eventsInOrder(sql: Sql, { order = 'asc', type, after, card_id, ...page }: Page & EventFilter) {
  const wanted = {
    'type = ?': type,
    'seq > ?': after,
    [ABOUT_CARD]: card_id === undefined ? undefined : aboutCard(card_id),
  };
  return listed<EventRow>(sql, { from: 'events', wanted, order: `seq ${order}` }, page);
}

export function newestDeposits(
  sql: Sql,
  { status, currency, q, ...page }: Page & Partial<Record<'status' | 'currency' | 'q', string | undefined>>,
) {
  const part = q === undefined ? undefined : `%${escaped(q.trim())}%`;
  const wanted = { 'status = ?': status, 'currency = ?': currency, "id || ' ' || tx_hash like ? escape '!'": part };
  return listed<DepositRow>(sql, { from: 'deposits', wanted, order: 'created_at desc, id desc' }, page);
}

interface AccountRow {
  readonly ledger: string;
  readonly balance: Cents;
  readonly postings: number;
}

export function ledgerAccounts(sql: Sql, page: Page) {
  const from = '(select ledger, sum(amount) as balance, count(*) as postings from postings group by ledger)';
  return listed<AccountRow>(sql, { from, order: 'ledger' }, page);
}

interface EntryLine {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
}

export function entriesInOrder(
  sql: Sql,
  { ledger, ref, ...page }: Page & { ledger?: string | undefined; ref?: string | undefined },
) {
  const wanted = {
    'exists (select 1 from postings p where p.entry_id = e.id and p.ledger = ?)': ledger,
    'ref = ?': ref,
  };
  return listed<EntryLine>(sql, { from: 'entries e', wanted, order: 'id' }, page);
}

export const postingsOf = (sql: Sql, entry: number) =>
  sql.all<{ readonly ledger: string; readonly amount: Cents }>(
    'select ledger, amount from postings where entry_id = ? order by ledger',
    entry,
  );

// How much the sandbox holds, for its status.

interface Counts {
  readonly bins: number;
  readonly cards: number;
  readonly transactions: number;
  readonly webhooks: number;
  readonly events: number;
}

const TABLES = ['bins', 'cards', 'transactions', 'webhooks', 'events'] as const;
const STATEMENT = `select ${TABLES.map(table => `(select count(*) from ${table}) as ${table}`).join(', ')}`;

export async function countAll(sql: Sql): Promise<Counts> {
  const counts = await sql.get<Counts>(STATEMENT);
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
  (select count(*) from faults where (times is null or struck < times)
    and (expires_at is null or expires_at > ?)) as faults,
  (select faults from ledger_checks) as checked`;

/** `now` is the clock of the sandbox, ms UTC. */
export async function changeCount(sql: Sql, now: number): Promise<ChangeCount> {
  const row = await sql.get<ChangeCount>(FACTS, now);
  if (row === undefined) throw new Error('the store says nothing about itself');
  return row;
}
