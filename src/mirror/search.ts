/**
 * Transactions and cards of a copy, found by words and filters and read as the service would show them. No SQL of a
 * caller passes.
 */

import type { TxRow } from '../books/rows.ts';
import { LIMITS } from '../contract/limits.ts';
import type { ListPage } from '../contract/operation.ts';
import type { Reader } from '../contract/service.ts';
import { CliError, notSent, usage } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';
import type { SqlValue } from '../engine/connection.ts';
import type { MirrorDatabase } from './file.ts';
import { type Card, type StoredCard, type Transaction, toldCard, toldRecord } from './store.ts';

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

/** A condition of a `where`, with the values of its question marks. */
type Condition = readonly [condition: string, ...values: SqlValue[]];

const where = (condition: string, value: SqlValue | undefined): Condition[] =>
  value === undefined ? [] : [[condition, value]];

/** What is read: rows of a table called `r`, newest first, and how the service would show them. */
interface Subject<Query, Row, Shown> {
  readonly table: 'tx' | 'card';
  readonly order: string;
  readonly conditions: (query: Query) => readonly Condition[];
  readonly shown: (row: Row) => Shown;
}

const TRANSACTIONS: Subject<TransactionQuery, TxRow, Transaction> = {
  table: 'tx',
  order: 'r.at_ms desc, r.tx_id desc',
  conditions: query => [
    ...where('r.card_id = ?', query.card_id),
    ...where('r.type = ?', query.type),
    ...where('r.at_ms >= ?', query.from === undefined ? undefined : Date.parse(query.from)),
    ...where('r.at_ms <= ?', query.to === undefined ? undefined : Date.parse(query.to)),
    ...where('r.cents >= ?', query.min),
    ...where('r.cents <= ?', query.max),
    ...where('r.mcc = ?', query.mcc),
  ],
  shown: toldRecord,
};

const CARDS: Subject<CardQuery, StoredCard, Card> = {
  table: 'card',
  order: 'r.created_ms desc, r.card_id desc',
  conditions: query => [
    ...where('r.status = ?', query.status),
    ...where('r.bin_id = ?', query.bin_id),
    ...where('r.balance_cents >= ?', query.min),
    ...where('r.balance_cents <= ?', query.max),
  ],
  shown: toldCard,
};

/** Words and labels are found by names. Throws `usage` for words that hold no letter, digit or symbol. */
function textConditions(db: MirrorDatabase, table: 'tx' | 'card', { words, label }: SearchQuery): readonly Condition[] {
  const ofCard = 'r.card_id in (select value from json_each(?))';
  const labelled = 'select card_id as key, label as text from card where label is not null';
  return [
    ...checkedWords(words).map((word): Condition => {
      const cards = namesWith(db, CARD_TEXTS, word);
      if (table === 'card') return [ofCard, cards];
      const merchants = namesWith(db, 'select name as key, name as text from merchant', word);
      return [`(r.merchant in (select value from json_each(?)) or ${ofCard})`, merchants, cards];
    }),
    ...(label === undefined ? [] : [[ofCard, namesWith(db, labelled, label)] as const]),
  ];
}

const CARD_TEXTS = `select card_id as key, coalesce(label, '') || ' ' || coalesce(last4, '') || ' ' || metadata as text from card`;

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

function checkedWords(typed: readonly string[] | undefined): string[] {
  if (typed === undefined) return [];
  const words = typed
    .flatMap(text => text.toWellFormed().replaceAll('\0', ' ').split(/\s+/))
    .filter(word => /[\p{L}\p{N}\p{S}]/u.test(word));
  if (words.length > 0) return words;
  throw usage('a search needs a word with a letter, a digit or a symbol in it');
}

// A copy read as the service would be

export interface Found<Row> {
  readonly total: number;
  /** Pages of rows, newest first; of none one empty page. */
  readonly pages: AsyncIterable<ListPage<Row>>;
}

interface Paging {
  readonly page?: number;
  readonly per_page?: number;
}

export const findTransactions = (db: MirrorDatabase, query: TransactionQuery & Paging) =>
  found(db, TRANSACTIONS, query);
export const findCards = (db: MirrorDatabase, query: CardQuery & Paging) => found(db, CARDS, query);

function found<Query extends SearchQuery, Row, Shown>(
  db: MirrorDatabase,
  { table, order, conditions, shown }: Subject<Query, Row, Shown>,
  query: Query & Paging,
): Found<Shown> {
  const all = [...textConditions(db, table, query), ...conditions(query)];
  const from = `${table} r where ${['r.gone_at is null', ...all.map(([condition]) => condition)].join(' and ')}`;
  const values = all.flatMap(([, ...of]) => of);
  const total = db.count(from, ...values);
  return { total, pages: pages() };

  async function* pages(): AsyncGenerator<ListPage<Shown>> {
    const { page: first = 1, per_page = 100 } = query;
    const facts = { per_page, total, total_pages: Math.ceil(total / per_page) };
    const sql = `select r.* from ${from} order by ${order} limit -1 offset ?`;
    let [page, data]: [number, Shown[]] = [first, []];
    for (const row of db.each<Row>(sql, ...values, (first - 1) * per_page)) {
      data.push(shown(row));
      if (data.length < per_page) continue;
      yield { data, page: { page, ...facts } };
      [page, data] = [page + 1, []];
    }
    if (data.length > 0 || page === first) yield { data, page: { page, ...facts } };
  }
}

/** Reading operations of the service, answered by the copy. Whatever it does not hold is refused in words. */
export function copyReader(db: MirrorDatabase): Reader {
  const pages = (operation: string, input: Readonly<Record<string, unknown>>): AsyncIterable<ListPage<object>> => {
    const query = { ...input, per_page: (input['per_page'] as number | undefined) ?? LIMITS.pageSize.defaults };
    if (operation === 'cards.list') return findCards(db, query).pages;
    if (operation === 'transactions.list') return findTransactions(db, query).pages;
    throw notSent('unreachable', `the mirror does not hold what ${operation} reads; leave --offline out`, {
      operation,
    });
  };
  const reader = {
    async read(operation: string, input: Readonly<Record<string, unknown>>) {
      if (operation === 'cards.get') return oneCard(db, String(input['card_id']));
      for await (const page of pages(operation, input)) return page;
      return { data: [], page: {} };
    },
    pages,
  };
  return reader as unknown as Reader;
}

function oneCard(db: MirrorDatabase, cardId: string): Card {
  const stored = db.get<StoredCard>('select * from card where card_id = ? and gone_at is null', cardId);
  if (stored !== undefined) return toldCard(stored);
  throw new CliError('not_found', {
    message: `the mirror holds no card ${cardId}`,
    hint: 'cardwright books sync',
    operation: 'cards.get',
  });
}
