/**
 * Which entries of the ledger touch a card, and which cards a text is found in, remembered by a server that serves for
 * long: the store has no such index, because each write would pay for it. Entries never change, nor do labels, metadata and
 * ids of cards, so that what is new is added. It is read in slices, and others are answered between two of them.
 */
import {
  type CardPosting,
  type CardText,
  cardCount,
  cardTexts,
  cardTextsSince,
  type EntryMark,
  entryMark,
  postingsAfter,
} from '../store/card-places.ts';
import { lowerAscii } from '../store/holdings.ts';
import { generationOf } from '../store/meta.ts';
import type { Sql } from '../store/sql.ts';

/** Postings and cards in one slice. */
const SLICE = 4_000;

interface Moment {
  readonly sql: Sql;
  readonly account: string;
}

/** Answers from one moment of the store. */
export type Read = <T>(work: (moment: Moment) => Promise<T>) => Promise<T>;

interface Search {
  readonly q: string;
  readonly bin?: string | undefined;
}

interface Found {
  readonly id: string;
  /** All that a search looks at, letters of ASCII in lower case. */
  readonly label: string;
  readonly metadata: string;
  readonly last4: string;
  readonly bin: string;
  readonly created_at: number;
}

export class CardIndex {
  readonly #slice: number;
  readonly #entries = new Map<string, number[]>();
  #last: EntryMark | undefined;
  #cards: readonly Found[] = [];
  #replaced = 0;
  /** How often all was forgotten. */
  #forgotten = 0;
  #hasEntries = false;
  #hasCards = false;
  /** One at a time reads slices. */
  #readingEntries: Promise<void> = Promise.resolve();
  #readingCards: Promise<void> = Promise.resolve();

  /** So many postings or cards are read at once. */
  constructor(slice = SLICE) {
    this.#slice = slice;
  }

  /** Adds what is new. The first time it goes on by itself, and nobody waits for it: the store answers until then. */
  async readEntries(read: Read): Promise<void> {
    const all = async () => {
      while (await read(moment => this.#addEntries(moment)));
      this.#hasEntries = true;
    };
    const done = this.#readingEntries.then(all);
    this.#readingEntries = done.catch(() => undefined);
    if (this.#hasEntries) await done;
  }

  /** Ids of the entries that touch the card or its hold, oldest first; undefined where they are not read yet. */
  async entriesOf(moment: Moment, card: string): Promise<readonly number[] | undefined> {
    await this.#forgetReplaced(moment.sql, moment.account);
    if (!this.#hasEntries) return undefined;
    while (await this.#addEntries(moment));
    return this.#entries.get(card) ?? [];
  }

  /** Ids of cards in which the text is found, newest first; undefined where they are not read yet. */
  async found(read: Read, { q, bin }: Search): Promise<readonly string[] | undefined> {
    const isAll = this.#readingCards.then(() => this.#addCards(read));
    this.#readingCards = isAll
      .then(
        known => (known ? undefined : this.#readCards(read)),
        () => undefined,
      )
      .catch(() => undefined);
    if (!this.#hasCards || !(await isAll)) return undefined;
    const part = lowerAscii(q.trim());
    const pair = /^(?:metadata\.)?([^=]+)=(.*)$/.exec(q.trim());
    const member = pair && lowerAscii(`${JSON.stringify(pair[1])}:${JSON.stringify(pair[2])}`);
    const fits = ({ id, label, metadata, last4 }: Found) =>
      label.includes(part) || id.startsWith(part) || last4 === part || (member !== null && metadata.includes(member));
    return this.#cards.filter(card => (bin === undefined || card.bin === bin) && fits(card)).map(({ id }) => id);
  }

  /** Settles when what was begun is read. */
  async whenRead(): Promise<void> {
    await Promise.all([this.#readingEntries, this.#readingCards]);
  }

  /** True where there may be more. */
  async #addEntries({ sql, account }: Moment): Promise<boolean> {
    await this.#forgetReplaced(sql, account);
    const from = this.#last?.id ?? 0;
    const rows = await postingsAfter(sql, account, from, this.#slice);
    // All postings of the last entry may not be there: it is read again, unless it is all that there is.
    const unsure = rows.length < this.#slice ? undefined : rows.at(-1)?.entry_id;
    const whole = rows.filter(({ entry_id }) => entry_id !== unsure && entry_id > (this.#last?.id ?? 0));
    for (const row of whole) this.#note(row);
    const last = whole.at(-1)?.entry_id;
    if (last !== undefined) this.#last = await entryMark(sql, account, last);
    return rows.length === this.#slice;
  }

  #note({ entry_id: id, ledger }: CardPosting): void {
    const card = ledger.slice(5);
    const known = this.#entries.get(card);
    if (known === undefined) this.#entries.set(card, [id]);
    else if (known.at(-1) !== id) known.push(id);
  }

  /** A reset or a restore, of this process or of another one. */
  async #forgetReplaced(sql: Sql, account: string): Promise<void> {
    const replaced = await generationOf(sql);
    const { id, kind, ref, created_at } = this.#last ?? {};
    const now = id === undefined ? undefined : await entryMark(sql, account, id);
    const isSame = now?.kind === kind && now?.ref === ref && now?.created_at === created_at;
    if (isSame && this.#replaced === replaced) return;
    this.#entries.clear();
    this.#hasEntries = false;
    this.#hasCards = false;
    this.#forgotten += 1;
    this.#cards = [];
    this.#last = undefined;
    this.#replaced = replaced;
  }

  /** Adds the newest by their time. False where that is not all that is new, because the clock went back. */
  async #addCards(read: Read): Promise<boolean> {
    const count = await read(async moment => {
      await this.#forgetReplaced(moment.sql, moment.account);
      return cardCount(moment.sql, moment.account);
    });
    if (!this.#hasCards) return false;
    if (count === this.#cards.length) return true;
    const newest = this.#cards[0]?.created_at ?? 0;
    const rows = await read(({ sql, account }) => cardTextsSince(sql, account, newest, this.#slice));
    const known = new Set(this.#cards.filter(card => card.created_at === newest).map(({ id }) => id));
    const fresh = rows.filter(({ id }) => !known.has(id));
    // More may have come since they were counted.
    if (fresh.length + this.#cards.length < count || rows.length === this.#slice) return false;
    this.#cards = byAge([...fresh.map(foundOf), ...this.#cards]);
    return true;
  }

  async #readCards(read: Read): Promise<void> {
    this.#hasCards = false;
    const before = this.#forgotten;
    const all: CardText[] = [];
    for (let after = ''; ; ) {
      const rows = await read(({ sql, account }) => cardTexts(sql, account, after, this.#slice));
      all.push(...rows);
      after = rows.at(-1)?.id ?? '';
      if (rows.length < this.#slice) break;
    }
    await read(moment => this.#forgetReplaced(moment.sql, moment.account));
    if (this.#forgotten !== before) return;
    this.#cards = byAge(all.map(foundOf));
    this.#hasCards = true;
  }
}

const foundOf = ({ id, label, metadata, last4, bin_id: bin, created_at }: CardText): Found => ({
  id,
  label: lowerAscii(label),
  metadata: lowerAscii(metadata),
  last4,
  bin,
  created_at,
});

/** Newest first, as the list of cards is. */
const byAge = (cards: readonly Found[]) =>
  cards.toSorted((one, other) => other.created_at - one.created_at || (one.id < other.id ? 1 : -1));
