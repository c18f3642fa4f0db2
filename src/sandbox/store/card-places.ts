/** Statements for an index of cards outside of the store: where in the ledger they are, and what a search looks at. */
import type { EntryOfCard } from './card-life.ts';
import type { FoundCard } from './holdings.ts';
import type { Sql } from './sql.ts';

export interface CardPosting {
  readonly entry_id: number;
  readonly ledger: string;
}

/** Those of cards and their holds behind an entry, in the order of entries. */
export const postingsAfter = (sql: Sql, account: string, entry: number, limit: number) =>
  sql.all<CardPosting>(
    `select entry_id, ledger from postings where account_id = ? and entry_id > ?
       and (ledger like 'card:%' or ledger like 'hold:%')
     order by entry_id limit ?`,
    account,
    entry,
    limit,
  );

export interface EntryMark {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
}

export const entryMark = (sql: Sql, account: string, id: number) =>
  sql.get<EntryMark>('select id, kind, ref, created_at from entries where account_id = ? and id = ?', account, id);

export async function cardCount(sql: Sql, account: string): Promise<number> {
  const row = await sql.get<{ total: number }>('select count(*) as total from cards where account_id = ?', account);
  return row?.total ?? 0;
}

export interface CardText {
  readonly id: string;
  readonly label: string;
  readonly metadata: string;
  readonly last4: string;
  readonly bin_id: string;
  readonly created_at: number;
}

/** In the order of ids. */
export const cardTexts = (sql: Sql, account: string, after: string, limit: number) =>
  sql.all<CardText>(
    `select id, label, metadata, substr(number, 13) as last4, bin_id, created_at from cards
     where account_id = ? and id > ? order by id limit ?`,
    account,
    after,
    limit,
  );

/** Those made at a time or later. */
export const cardTextsSince = (sql: Sql, account: string, since: number, limit: number) =>
  sql.all<CardText>(
    `select id, label, metadata, substr(number, 13) as last4, bin_id, created_at from cards
     where account_id = ? and created_at >= ? order by created_at, id limit ?`,
    account,
    since,
    limit,
  );

/** So many at once stand in one statement. */
const AT_ONCE = 200;

async function inParts<Key extends string | number, Row>(
  keys: readonly Key[],
  ask: (marks: string, part: readonly Key[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const part = keys.slice(from, from + AT_ONCE);
    // Always the same number of marks, so that there is one statement.
    const padded = [...part, ...Array<Key>(AT_ONCE - part.length).fill(part[0] as Key)];
    rows.push(...(await ask(Array(AT_ONCE).fill('?').join(', '), padded)));
  }
  return rows;
}

/** All postings of these entries, oldest entry first, as `entriesOfCard` gives them. */
export async function entriesById(sql: Sql, account: string, ids: readonly number[]): Promise<readonly EntryOfCard[]> {
  return inParts(ids, (marks, part) =>
    sql.all<EntryOfCard>(
      `select e.id, e.kind, e.ref, e.created_at, p.ledger, p.amount from entries e
       join postings p on p.account_id = e.account_id and p.entry_id = e.id
       where e.account_id = ? and e.id in (${marks}) order by e.id, p.ledger`,
      account,
      ...part,
    ),
  );
}

/** Cards by their ids, in the order of these. */
export async function cardsById(sql: Sql, account: string, ids: readonly string[]): Promise<readonly FoundCard[]> {
  const rows = await inParts(ids, (marks, part) =>
    sql.all<FoundCard>(
      `select id, label, substr(number, 13) as last4, network, status, balance, hold, bin_id, created_at from cards
       where account_id = ? and id in (${marks})`,
      account,
      ...part,
    ),
  );
  const byId = new Map(rows.map(row => [row.id, row]));
  return ids.flatMap(id => byId.get(id) ?? []);
}
