/** A copy read as the service would be: its lists, one card, and what a search finds, newest first. Nothing is sent. */
import type { CardRow, TxRow } from '../books/rows.ts';
import { LIMITS } from '../contract/limits.ts';
import type { ListPage } from '../contract/operation.ts';
import type { Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, toUsd } from '../core/money.ts';
import type { MirrorDatabase } from './database.ts';
import type { Card, Transaction } from './records.ts';
import {
  type CardQuery,
  type Conditions,
  cardConditions,
  type TransactionQuery,
  transactionConditions,
} from './search.ts';

export interface Found<Row> {
  readonly total: number;
  /** Pages of rows, newest first. */
  readonly pages: AsyncIterable<ListPage<Row>>;
}

const ROWS = 100;

export function findTransactions(db: MirrorDatabase, query: TransactionQuery, perPage = ROWS): Found<Transaction> {
  const conditions = transactionConditions(db, query);
  const total = count(db, 'tx t', conditions);
  const sql = `select t.* from tx t where ${conditions.where} order by t.at_ms desc, t.tx_id desc`;
  return { total, pages: paged(db.each<TxRow>(sql, ...conditions.values), { total, perPage, shown: wireTransaction }) };
}

export function findCards(db: MirrorDatabase, query: CardQuery, perPage = ROWS): Found<Card> {
  const conditions = cardConditions(db, query);
  const total = count(db, 'card c', conditions);
  const sql = `select c.* from card c where ${conditions.where} order by c.created_ms desc, c.card_id desc`;
  return { total, pages: paged(db.each<StoredCard>(sql, ...conditions.values), { total, perPage, shown: wireCard }) };
}

/** Reading operations of the service, answered by the copy. Whatever it does not hold is refused in words. */
export function copyReader(db: MirrorDatabase): Reader {
  const list = (operation: string, input: Readonly<Record<string, unknown>>) => {
    const perPage = Number(input['per_page'] ?? LIMITS.pageSize.defaults);
    const found =
      operation === 'cards.list'
        ? findCards(db, input as CardQuery, perPage)
        : operation === 'transactions.list'
          ? findTransactions(db, input as TransactionQuery, perPage)
          : undefined;
    if (found === undefined) throw notHeld(operation);
    return fromPage(found.pages as AsyncIterable<ListPage<object>>, Number(input['page'] ?? 1));
  };
  const reader = {
    async read(operation: string, input: Readonly<Record<string, unknown>>) {
      if (operation === 'cards.get') return oneCard(db, String(input['card_id']));
      for await (const page of list(operation, input)) return page;
      return { data: [], page: {} };
    },
    pages: list,
  };
  return reader as unknown as Reader;
}

async function* fromPage(pages: AsyncIterable<ListPage<object>>, first: number): AsyncGenerator<ListPage<object>> {
  let isEmpty = true;
  for await (const page of pages) {
    if ((page.page.page ?? 1) < first) continue;
    isEmpty = false;
    yield page;
  }
  if (isEmpty) yield { data: [], page: { page: first } };
}

interface Paging<Row, Shown> {
  readonly total: number;
  readonly perPage: number;
  readonly shown: (row: Row) => Shown;
}

/** An empty list is one empty page. */
async function* paged<Row, Shown>(
  rows: Iterable<Row>,
  { total, perPage, shown }: Paging<Row, Shown>,
): AsyncGenerator<ListPage<Shown>> {
  const total_pages = Math.ceil(total / perPage);
  let data: Shown[] = [];
  let page = 1;
  for (const row of rows) {
    data.push(shown(row));
    if (data.length < perPage) continue;
    yield { data, page: { page, per_page: perPage, total, total_pages } };
    data = [];
    page += 1;
  }
  if (data.length > 0 || page === 1) yield { data, page: { page, per_page: perPage, total, total_pages } };
}

function count(db: MirrorDatabase, from: string, { where, values }: Conditions): number {
  return db.get<{ n: number }>(`select count(*) as n from ${from} where ${where}`, ...values)?.n ?? 0;
}

type StoredCard = CardRow & { readonly created_at: string | null; readonly expires_at: string | null };

function oneCard(db: MirrorDatabase, cardId: string): Card {
  const stored = db.get<StoredCard>('select * from card where card_id = ? and gone_at is null', cardId);
  if (stored !== undefined) return wireCard(stored);
  throw new CliError('not_found', {
    message: `the mirror holds no card ${cardId}`,
    hint: 'cardwright books sync',
    operation: 'cards.get',
  });
}

function wireCard(card: StoredCard): Card {
  const usd = (amount: Cents | null) => (amount === null ? undefined : toUsd(amount));
  const shown = {
    id: card.card_id,
    bin_id: card.bin_id,
    network: card.network,
    last4: card.last4 ?? '',
    status: card.status,
    balance: usd(card.balance_cents),
    spending_limit: usd(card.spending_limit_cents),
    label: card.label,
    allowed_categories: JSON.parse(card.allowed_categories) as string[],
    auto_freeze_at: usd(card.auto_freeze_cents) ?? null,
    metadata: JSON.parse(card.metadata) as Record<string, string>,
    created_at: card.created_at,
    expires_at: card.expires_at,
  };
  return withoutNothing(shown, ['auto_freeze_at']) as unknown as Card;
}

function wireTransaction(tx: TxRow): Transaction {
  const shown = {
    id: tx.tx_id,
    card_id: tx.card_id,
    type: tx.type,
    status: tx.status,
    amount: toUsd(tx.cents),
    currency: tx.currency,
    merchant: tx.merchant,
    mcc: tx.mcc,
    merchant_country: tx.merchant_country,
    authorization_id: tx.authorization_id,
    decline_reason: tx.decline_reason,
    created_at: tx.created_at,
  };
  return withoutNothing(shown, ['authorization_id', 'decline_reason']) as unknown as Transaction;
}

/** What the service did not tell is left out, as in its own answers. */
function withoutNothing(shown: object, nullable: readonly string[]): object {
  const members = Object.entries(shown).filter(
    ([name, value]) => value != null || (value === null && nullable.includes(name)),
  );
  return Object.fromEntries(members);
}

function notHeld(operation: string): CliError {
  return new CliError('unreachable', {
    message: `the mirror does not hold what ${operation} reads; leave --offline out`,
    operation,
    outcome: 'not_sent',
  });
}
