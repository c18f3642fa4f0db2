/**
 * Transactions and cards of a copy, found by words and filters and read as the service would show them. No SQL of a
 * caller passes.
 */

import type { CardRow, TxRow } from '../books/rows.ts';
import { LIMITS } from '../contract/limits.ts';
import type { ListPage } from '../contract/operation.ts';
import type { Reader } from '../contract/service.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, toUsd } from '../core/money.ts';
import type { SqlValue } from '../engine/connection.ts';
import type { MirrorDatabase } from './file.ts';
import type { Card, Transaction } from './store.ts';

interface SearchQuery {
  /** Each must stand in the name of the merchant, or in label, last four or metadata of the card. */
  readonly words?: readonly string[] | undefined;
  /** Of the amount of a record, or the balance of a card. */
  readonly min?: Cents | undefined;
  readonly max?: Cents | undefined;
  /** Part of the label of the card. */
  readonly label?: string | undefined;
}

export interface TransactionQuery extends SearchQuery {
  readonly card_id?: string | undefined;
  readonly type?: string | undefined;
  /** ISO 8601, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly mcc?: string | undefined;
}

export interface CardQuery extends SearchQuery {
  readonly status?: string | undefined;
  readonly bin_id?: string | undefined;
}

/** Conditions of a `where`, with the values of their question marks. */
interface Conditions {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

/** A condition with its values. */
type Condition = readonly [condition: string, ...values: SqlValue[]];

const every = (conditions: readonly Condition[]): Conditions => ({
  where: conditions.map(([condition]) => condition).join(' and '),
  values: conditions.flatMap(([, ...values]) => values),
});

const where = (condition: string, value: SqlValue | undefined): Condition[] =>
  value === undefined ? [] : [[condition, value]];

/** Conditions on `tx t`, without those that are gone. Throws `usage` for words that hold no letter, digit or symbol. */
function transactionConditions(db: MirrorDatabase, query: TransactionQuery): Conditions {
  return every([
    ['t.gone_at is null'],
    ...checkedWords(query.words).map(
      (word): Condition => [
        `(t.merchant in (select value from json_each(?)) or t.card_id in (select value from json_each(?)))`,
        namesWith(db, 'select name as key, name as text from merchant', word),
        namesWith(db, CARDS, word),
      ],
    ),
    ...where('t.card_id = ?', query.card_id),
    ...where('t.type = ?', query.type),
    ...where('t.at_ms >= ?', query.from === undefined ? undefined : Date.parse(query.from)),
    ...where('t.at_ms <= ?', query.to === undefined ? undefined : Date.parse(query.to)),
    ...where('t.cents >= ?', query.min),
    ...where('t.cents <= ?', query.max),
    ...where('t.mcc = ?', query.mcc),
    ...labelled(db, 't.card_id', query.label),
  ]);
}

/** Conditions on `card c`, without those that are gone. */
function cardConditions(db: MirrorDatabase, query: CardQuery): Conditions {
  return every([
    ['c.gone_at is null'],
    ...checkedWords(query.words).map(
      (word): Condition => ['c.card_id in (select value from json_each(?))', namesWith(db, CARDS, word)],
    ),
    ...where('c.status = ?', query.status),
    ...where('c.bin_id = ?', query.bin_id),
    ...where('c.balance_cents >= ?', query.min),
    ...where('c.balance_cents <= ?', query.max),
    ...labelled(db, 'c.card_id', query.label),
  ]);
}

const CARDS = `select card_id as key, coalesce(label, '') || ' ' || coalesce(last4, '') || ' ' || metadata as text from card`;

/** A list as JSON: the engine folds ASCII letters alone, so texts are compared here. */
function namesWith(db: MirrorDatabase, texts: string, part: string): string {
  const wanted = folded(part);
  const found: string[] = [];
  for (const { key, text } of db.each<{ key: string; text: string }>(texts)) {
    if (folded(text).includes(wanted)) found.push(key);
  }
  return JSON.stringify(found);
}

/** Without accents and capitals. */
const folded = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

function labelled(db: MirrorDatabase, column: string, part: string | undefined): Condition[] {
  if (part === undefined) return [];
  const labels = 'select card_id as key, label as text from card where label is not null';
  return [[`${column} in (select value from json_each(?))`, namesWith(db, labels, part)]];
}

function checkedWords(typed: readonly string[] | undefined): string[] {
  if (typed === undefined) return [];
  const words = typed
    .flatMap(text => text.toWellFormed().replaceAll('\0', ' ').split(/\s+/))
    .filter(word => /[\p{L}\p{N}\p{S}]/u.test(word));
  if (words.length > 0) return words;
  throw new CliError('usage', {
    message: 'a search needs a word with a letter, a digit or a symbol in it',
    outcome: 'not_sent',
  });
}

// A copy read as the service would be

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
