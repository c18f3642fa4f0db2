/** Statements on `accounts`: who is served from one database, and by which key. */
import type { PostgresPipeline } from '../../../postgres/client.ts';
import type { IdForm } from '../meta.ts';
import type { SqlValue } from '../sql.ts';
import { numbered, rowsOf, sent } from './types.ts';

export interface AccountRow {
  readonly account_id: string;
  readonly name: string;
  readonly instance: string;
  readonly seed: number;
  readonly ids: IdForm;
  readonly generation: number;
  readonly dialect: string;
  readonly created_at: number;
}

const COLUMNS = 'account_id, name, instance, seed, ids, generation, dialect, created_at';

/** One statement outside of any account, in a transaction of its own that knows where the tables are. */
async function asked(
  connection: PostgresPipeline,
  schema: string,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const steps = [
    connection.send('begin', []),
    connection.send(`select set_config('search_path', $1, true)`, [schema]),
    connection.send(numbered(text), values.map(sent)),
    connection.send('commit', []),
  ] as const;
  const [, , answer] = await Promise.all(steps).catch(async (error: unknown) => {
    await connection.send('rollback', []).catch(() => undefined);
    throw error;
  });
  return rowsOf(answer);
}

export interface AccountsDatabase {
  readonly schema: string;
  /** Lends a connection for one question. */
  readonly using: <T>(work: (connection: PostgresPipeline) => Promise<T>) => Promise<T>;
}

export class Accounts {
  readonly #database: AccountsDatabase;

  constructor(database: AccountsDatabase) {
    this.#database = database;
  }

  /** Makes the row of an account; undefined when the name is taken. */
  async insert(row: AccountRow & { readonly key_digest: string | null; readonly token_digest: string | null }) {
    const values = [row.account_id, row.name, row.instance, row.seed, row.ids, row.generation, row.dialect];
    const made = await this.#ask(
      `insert into accounts (${COLUMNS}, key_digest, token_digest) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do nothing returning account_id`,
      [...values, row.created_at, row.key_digest, row.token_digest],
    );
    return made.length === 1;
  }

  all(): Promise<readonly AccountRow[]> {
    return this.#ask(`select ${COLUMNS} from accounts order by name`) as Promise<readonly never[]>;
  }

  async named(name: string): Promise<AccountRow | undefined> {
    return (await this.#ask(`select ${COLUMNS} from accounts where name = ?`, [name]))[0] as AccountRow | undefined;
  }

  /** That of an API key: the account's own, or one that was made for it. */
  async byKey(digest: string): Promise<AccountRow | undefined> {
    const made = 'select account_id from api_keys where digest = ?';
    const text = `select ${COLUMNS} from accounts where key_digest = ? or account_id in (${made}) limit 1`;
    return (await this.#ask(text, [digest, digest]))[0] as AccountRow | undefined;
  }

  async byToken(digest: string): Promise<AccountRow | undefined> {
    const text = `select ${COLUMNS} from accounts where token_digest = ?`;
    return (await this.#ask(text, [digest]))[0] as AccountRow | undefined;
  }

  #ask(text: string, values: readonly SqlValue[] = []) {
    return this.#database.using(connection => asked(connection, this.#database.schema, text, values));
  }
}
