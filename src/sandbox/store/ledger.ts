/** Statements on `entries` and `postings`, and the cached balances they move. Called by the ledger alone. */
import type { Cents } from '../../core/money.ts';
import { escaped, type Sql } from './sql.ts';

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

// Events, and entries of one card.

export interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly created_at: number;
  readonly body: string;
}

/** Begins the text of an event about a card: its object is the card, or names it. */
export const ABOUT_CARD = "(body like ? escape '!' or body like ? escape '!')";

/** The values of `ABOUT_CARD`. */
export function aboutCard(id: string): readonly string[] {
  const named = escaped(JSON.stringify(id));
  return [`%"data":{"id":${named}%`, `%"card_id":${named}%`];
}

/** Rows of a kind that are looked at; of what lies further back nobody asks card by card. */
export const MOST_OF_A_KIND = 10_000;

export interface EntryOfCard {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
  readonly ledger: string;
  readonly amount: Cents;
}

/** A row a posting, all postings of each entry that touches the card or its hold, oldest first. */
export async function entriesOfCard(sql: Sql, card: string): Promise<readonly EntryOfCard[]> {
  const rows = await sql.all<EntryOfCard>(
    `select e.id, e.kind, e.ref, e.created_at, p.ledger, p.amount
     from (select distinct entry_id from postings where ledger in (?, ?) order by entry_id desc limit ${MOST_OF_A_KIND}) t
     join entries e on e.id = t.entry_id join postings p on p.entry_id = e.id
     order by e.id desc, p.ledger desc`,
    `card:${card}`,
    `hold:${card}`,
  );
  return rows.toReversed();
}

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
