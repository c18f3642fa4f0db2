/** Books of a data set that is too large for one statement a posting: balances in memory, entries in bulk. */
import { CliError } from '../../core/errors.ts';
import { type Cents, cents } from '../../core/money.ts';
import type { EntryKind } from '../account/ledger.ts';
import { BulkInsert } from '../store/bulk.ts';
import { keepWalletSums } from '../store/ledger.ts';
import type { Sql } from '../store/sql.ts';

/** What an entry moves, cents; its sides sum to 0, as in `ledger.ts`. */
export interface BulkEntry {
  readonly kind: EntryKind;
  readonly ref: string;
  readonly at: number;
  /** Place of the card it is about, in the order of the cards. */
  readonly card?: number;
  readonly moves: {
    readonly wallet?: number;
    readonly card?: number;
    readonly hold?: number;
    readonly crypto?: number;
    readonly network?: number;
  };
}

export class CrowdLedger {
  /** Balances and holds of the cards, cents; whole numbers far below 2^53. */
  readonly balance: Float64Array;
  readonly hold: Float64Array;
  wallet = 0;
  #deposited = 0;
  #spent = 0;
  #entries = 0;
  readonly #sql: Sql;
  readonly #account: string;
  readonly #ids: readonly string[];
  readonly #entryRows: BulkInsert;
  readonly #postingRows: BulkInsert;

  constructor(sql: Sql, account: string, ids: readonly string[]) {
    this.#sql = sql;
    this.#account = account;
    this.#ids = ids;
    this.balance = new Float64Array(ids.length);
    this.hold = new Float64Array(ids.length);
    this.#entryRows = new BulkInsert(sql, 'entries', ['account_id', 'id', 'kind', 'ref', 'created_at']);
    this.#postingRows = new BulkInsert(sql, 'postings', ['account_id', 'entry_id', 'ledger', 'amount']);
  }

  balanceOf(card: number): Cents {
    return cents(this.balance[card] ?? 0);
  }

  /** Throws `internal` for an entry that does not sum to 0: a bug of the data set. */
  post({ kind, ref, at, card, moves }: BulkEntry): void {
    const { wallet = 0, card: onCard = 0, hold = 0, crypto = 0, network = 0 } = moves;
    if (wallet + onCard + hold + crypto + network !== 0) {
      throw new CliError('internal', { message: `not a balanced entry: ${kind} ${JSON.stringify(moves)}` });
    }
    this.#entries += 1;
    this.wallet += wallet;
    this.#deposited -= crypto;
    this.#spent += network;
    this.#entryRows.add([this.#account, this.#entries, kind, ref, at]);
    const id = card === undefined ? '' : (this.#ids[card] ?? '');
    if (card !== undefined) {
      this.balance[card] = (this.balance[card] ?? 0) + onCard;
      this.hold[card] = (this.hold[card] ?? 0) + hold;
    }
    this.#side(`wallet:${this.#account}`, wallet);
    this.#side(`card:${id}`, onCard);
    this.#side(`hold:${id}`, hold);
    this.#side('ext:crypto', crypto);
    this.#side('ext:network', network);
  }

  #side(ledger: string, amount: number): void {
    if (amount !== 0) this.#postingRows.add([this.#account, this.#entries, ledger, amount]);
  }

  get isFull(): boolean {
    return this.#postingRows.isFull;
  }

  /** Writes what was posted; entries first, for postings refer to them. */
  async flush(): Promise<void> {
    await this.#entryRows.flush();
    await this.#postingRows.flush();
  }

  /** Writes what is left, and the sums of the wallet. */
  async close(): Promise<void> {
    await this.flush();
    await keepWalletSums(this.#sql, this.#account, {
      wallet: cents(this.wallet),
      deposited: cents(this.#deposited),
      spent: cents(this.#spent),
      entries: this.#entries,
    });
  }
}
