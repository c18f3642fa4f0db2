/** Statements on what happened to one card: the newest of each kind, told oldest first. */
import type { Cents } from '../../core/money.ts';
import type { DeliveryRow } from './deliveries.ts';
import { ABOUT_CARD, aboutCard, type EventRow } from './ledger-pages.ts';
import type { RequestRow } from './requests.ts';
import type { Sql } from './sql.ts';

/** Rows of a kind that are looked at; of what lies further back nobody asks card by card. */
export const MOST_OF_A_KIND = 10_000;

export type RequestOfCard = Pick<
  RequestRow,
  'request_id' | 'at' | 'operation' | 'method' | 'path' | 'status' | 'error' | 'fault' | 'replayed' | 'idempotency_key'
> & {
  /** Its number in the log; null of one that is in no store yet. */
  readonly position: number | null;
};

/** Of the log, which keeps the newest alone. */
export async function requestsOfCard(sql: Sql, account: string, card: string): Promise<readonly RequestOfCard[]> {
  return sql.all<RequestOfCard>(
    `select position, request_id, at, operation, method, path, status, error, fault, replayed, idempotency_key
     from requests where account_id = ? and card_id = ? order by position`,
    account,
    card,
  );
}

export interface EntryOfCard {
  readonly id: number;
  readonly kind: string;
  readonly ref: string;
  readonly created_at: number;
  readonly ledger: string;
  readonly amount: Cents;
}

/** A row a posting, all postings of each entry that touches the card or its hold. */
export async function entriesOfCard(sql: Sql, account: string, card: string): Promise<readonly EntryOfCard[]> {
  const rows = await sql.all<EntryOfCard>(
    `select e.id, e.kind, e.ref, e.created_at, p.ledger, p.amount
     from (select distinct entry_id from postings where account_id = ? and ledger in (?, ?)
       order by entry_id desc limit ${MOST_OF_A_KIND}) t
     join entries e on e.account_id = ? and e.id = t.entry_id
     join postings p on p.account_id = e.account_id and p.entry_id = e.id
     order by e.id desc, p.ledger desc`,
    account,
    `card:${card}`,
    `hold:${card}`,
    account,
  );
  return rows.toReversed();
}

export async function eventsOfCard(sql: Sql, account: string, card: string): Promise<readonly EventRow[]> {
  const rows = await sql.all<EventRow>(
    `select seq, id, type, created_at, body from events where account_id = ? and ${ABOUT_CARD}
     order by seq desc limit ${MOST_OF_A_KIND}`,
    account,
    ...aboutCard(card),
  );
  return rows.toReversed();
}

export type DeliveryOfCard = Pick<
  DeliveryRow,
  'id' | 'position' | 'webhook_id' | 'event_id' | 'event_type' | 'state' | 'attempt' | 'created_at'
>;

/** Those of the events about the card. */
export async function deliveriesOfCard(sql: Sql, account: string, card: string): Promise<readonly DeliveryOfCard[]> {
  const rows = await sql.all<DeliveryOfCard>(
    `select id, position, webhook_id, event_id, event_type, state, attempt, created_at from deliveries
     where account_id = ? and event_seq in (select seq from events where account_id = ? and ${ABOUT_CARD})
     order by position desc limit ${MOST_OF_A_KIND}`,
    account,
    account,
    ...aboutCard(card),
  );
  return rows.toReversed();
}

export interface ChallengeOfCard {
  readonly id: string;
  readonly merchant: string;
  readonly amount: Cents;
  readonly status: string;
  readonly attempts: number;
  readonly created_at: number;
}

/** Without the code. */
export async function challengesOfCard(sql: Sql, account: string, card: string): Promise<readonly ChallengeOfCard[]> {
  const rows = await sql.all<ChallengeOfCard>(
    `select id, merchant, amount, status, attempts, created_at from challenges where account_id = ? and card_id = ?
     order by created_at desc, id desc limit ${MOST_OF_A_KIND}`,
    account,
    card,
  );
  return rows.toReversed();
}
