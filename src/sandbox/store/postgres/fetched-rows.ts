/** Rows that are fetched before anybody asks for them: those of one table in one statement. */
import type { Bound } from '../../../engine/connection.ts';
import { keyText, rowText } from '../kept-rows.ts';
import type { AnyRows, RowKey, SqlRow, WantedRow } from '../sql.ts';
import type { Asking } from './together.ts';

type Read = (asking: Asking) => Promise<readonly SqlRow[]>;
type Coming = Promise<SqlRow | undefined>;

const NAME = 'row_name';

export class FetchedRows {
  readonly #read: Read;
  /** By table, and then by key. */
  readonly #coming = new Map<string, Map<string, Coming>>();

  constructor(read: Read) {
    this.#read = read;
  }

  /** Asks the database for rows that it was not asked for before. */
  fetch(wanted: readonly WantedRow[]): void {
    const many = new Map<string, { readonly rows: AnyRows; readonly account: string; readonly names: string[] }>();
    for (const { rows, key } of wanted) {
      const [account, name] = key;
      if (this.of(rows, key) !== undefined || !key.every(isTaken)) continue;
      if (name === undefined) {
        this.#keep(
          rows,
          key,
          this.#read({ text: rowText(rows), values: key }).then(([row]) => row),
        );
        continue;
      }
      const same = many.get(rows.table) ?? { rows, account, names: [] };
      many.set(rows.table, same);
      same.names.push(name);
    }
    for (const { rows, account, names } of many.values()) this.#fetchMany(rows, account, names);
  }

  /** The row that is on its way; undefined where nobody fetches it. */
  of({ table }: AnyRows, key: RowKey): Coming | undefined {
    return this.#coming.get(table)?.get(keyText(key));
  }

  /** Forgets the rows of a table that is written; of all where it is not known which. */
  forget(table?: string): void {
    if (table === undefined) this.#coming.clear();
    else this.#coming.delete(table);
  }

  forgetRow(table: string, key: readonly Bound[]): void {
    this.#coming.get(table)?.delete(keyText(key));
  }

  #fetchMany(rows: AnyRows, account: string, names: readonly string[]): void {
    const { table, columns, key } = rows;
    // One look for each name, whatever the database knows of the table: it would else go through all of the account's rows.
    const one = `select ${columns} from ${table} where ${key[0]} = ? and ${key[1]} = ${NAME} limit 1`;
    const text = `select ${NAME}, r.* from unnest(cast(? as text[])) as ${NAME} cross join lateral (${one}) r`;
    const found = this.#read({ text, values: [names, account] }).then(byName);
    for (const name of names) {
      this.#keep(
        rows,
        [account, name],
        found.then(byNames => byNames.get(name)),
      );
    }
  }

  #keep({ table }: AnyRows, key: RowKey, row: Coming): void {
    // What failed is told to whoever asks for it, and by the transaction.
    row.catch(() => undefined);
    const ofTable = this.#coming.get(table) ?? new Map<string, Coming>();
    this.#coming.set(table, ofTable.set(keyText(key), row));
  }
}

function byName(rows: readonly SqlRow[]): ReadonlyMap<string, SqlRow> {
  return new Map(rows.map(({ [NAME]: name, ...row }) => [String(name), row]));
}

/** Of other texts the work itself is told that nothing takes them. */
const isTaken = (text: string) => !text.includes('\0') && text.isWellFormed();
