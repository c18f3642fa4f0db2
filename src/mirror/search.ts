/** Finds transactions and cards of a copy by words and by the filters of the lists. No SQL and no FTS syntax of a caller passes. */

import { CliError } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';
import type { SqlValue } from '../engine/connection.ts';
import type { MirrorDatabase } from './database.ts';

export interface TransactionQuery {
  /** Each must be the beginning of a word of the merchant, or of label, last four or metadata of the card. */
  readonly words?: readonly string[] | undefined;
  /** Words may stand anywhere, also inside of others. */
  readonly like?: boolean | undefined;
  readonly card_id?: string | undefined;
  readonly type?: string | undefined;
  /** ISO 8601, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly min?: Cents | undefined;
  readonly max?: Cents | undefined;
  readonly mcc?: string | undefined;
  /** Part of the label of the card, large and small letters alike. */
  readonly label?: string | undefined;
}

export interface CardQuery {
  /** Each must be the beginning of a word of label, last four or metadata. */
  readonly words?: readonly string[] | undefined;
  readonly like?: boolean | undefined;
  readonly status?: string | undefined;
  readonly bin_id?: string | undefined;
  /** Of the balance. */
  readonly min?: Cents | undefined;
  readonly max?: Cents | undefined;
  readonly label?: string | undefined;
}

/** Conditions of a `where`, with the values of their question marks. */
export interface Conditions {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

/** Conditions on `tx t`, without those that are gone. Throws `usage` for words that hold no letter and no digit. */
export function transactionConditions(db: MirrorDatabase, query: TransactionQuery): Conditions {
  const all = new Every('t.gone_at is null');
  for (const word of checkedWords(query.words)) {
    if (query.like || isWrittenTogether(word)) {
      const [part] = [likePattern(word)];
      all.add(
        `(t.merchant like ? escape '\\' or t.card_id in (select card_id from card
          where label like ? escape '\\' or last4 like ? escape '\\' or metadata like ? escape '\\'))`,
        ...[part, part, part, part],
      );
    } else {
      const prefix = prefixOf(word);
      all.add(
        `(t.merchant in (select m.name from merchant_words w join merchant m on m.id = w.rowid where merchant_words match ?)
          or t.card_id in (select c.card_id from card_words w join card c on c.id = w.rowid where card_words match ?))`,
        prefix,
        prefix,
      );
    }
  }
  all.maybe('t.card_id = ?', query.card_id);
  all.maybe('t.type = ?', query.type);
  all.maybe('t.at_ms >= ?', query.from === undefined ? undefined : Date.parse(query.from));
  all.maybe('t.at_ms <= ?', query.to === undefined ? undefined : Date.parse(query.to));
  all.maybe('t.cents >= ?', query.min);
  all.maybe('t.cents <= ?', query.max);
  all.maybe('t.mcc = ?', query.mcc);
  if (query.label !== undefined) {
    all.add('t.card_id in (select value from json_each(?))', JSON.stringify(cardsLabelled(db, query.label)));
  }
  return all;
}

/** Conditions on `card c`, without those that are gone. */
export function cardConditions(db: MirrorDatabase, query: CardQuery): Conditions {
  const all = new Every('c.gone_at is null');
  for (const word of checkedWords(query.words)) {
    if (query.like || isWrittenTogether(word)) {
      const part = likePattern(word);
      const columns = "c.label like ? escape '\\' or c.last4 like ? escape '\\' or c.metadata like ? escape '\\'";
      all.add(`(${columns})`, part, part, part);
    } else all.add('c.id in (select rowid from card_words where card_words match ?)', prefixOf(word));
  }
  all.maybe('c.status = ?', query.status);
  all.maybe('c.bin_id = ?', query.bin_id);
  all.maybe('c.balance_cents >= ?', query.min);
  all.maybe('c.balance_cents <= ?', query.max);
  if (query.label !== undefined) {
    all.add('c.card_id in (select value from json_each(?))', JSON.stringify(cardsLabelled(db, query.label)));
  }
  return all;
}

class Every implements Conditions {
  readonly #conditions: string[];
  readonly #values: SqlValue[] = [];

  constructor(first: string) {
    this.#conditions = [first];
  }

  get where(): string {
    return this.#conditions.join(' and ');
  }

  get values(): readonly SqlValue[] {
    return this.#values;
  }

  add(condition: string, ...values: readonly SqlValue[]): void {
    this.#conditions.push(condition);
    this.#values.push(...values);
  }

  maybe(condition: string, value: SqlValue | undefined): void {
    if (value !== undefined) this.add(condition, value);
  }
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

/**
 * Looked for inside of words, too: the index holds no emoji and no other symbol, and a line of a script that puts no
 * blanks between its words is one word to it.
 */
function isWrittenTogether(word: string): boolean {
  return (
    !/[\p{L}\p{N}]/u.test(word) || /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}]/u.test(word)
  );
}

/** The word as one phrase of FTS5, taken as a beginning; what it means to FTS5 is quoted away. */
function prefixOf(word: string): string {
  return `"${word.replaceAll('"', '""')}"*`;
}

function likePattern(word: string): string {
  return `%${word.replace(/[\\%_]/g, '\\$&')}%`;
}

/** The engine folds ASCII letters alone. */
function cardsLabelled(db: MirrorDatabase, part: string): string[] {
  const wanted = part.toLowerCase();
  return db
    .all<{ card_id: string; label: string | null }>('select card_id, label from card where label is not null')
    .filter(({ label }) => (label ?? '').toLowerCase().includes(wanted))
    .map(({ card_id }) => card_id);
}
