/** Statements on `accounts`: who is served from one database, and by which key. */
import type { DialectName } from '../../../contract/sandbox/faults.ts';
import type { PostgresPipeline } from '../../../postgres/client.ts';
import { emptyArchived } from '../archived.ts';
import type { IdForm } from '../meta.ts';
import type { Sql, SqlValue } from '../sql.ts';
import { numbered, rowsOf, sent } from './types.ts';

export interface AccountRow {
  readonly account_id: string;
  readonly name: string;
  readonly instance: string;
  readonly seed: number;
  readonly ids: IdForm;
  readonly generation: number;
  readonly dialect: DialectName;
  readonly created_at: number;
  /** SHA-256, hexadecimal; null while the account is being made. */
  readonly key_digest: string | null;
  readonly token_digest: string | null;
}

/** What is due first in an account, on its clock but for the lease: that is real time. */
export interface DueRow extends ClockFacts {
  readonly account_id: string;
  readonly timer_due: number | null;
  readonly delivery_due: number | null;
  readonly lease_until: number | null;
  /** Names of the processes that are sending, one a line. */
  readonly senders: string | null;
  /** Who moves the clock, until when that is believed (real ms), and where to; null where nobody does. */
  readonly mover: string | null;
  readonly move_until: number | null;
  readonly moves_to: number | null;
}

interface ClockFacts {
  readonly mode: 'real' | 'offset' | 'frozen' | 'scaled';
  readonly at: number;
  readonly real_since: number;
  readonly rate_milli: number;
}

const COLUMNS = 'account_id, name, instance, seed, ids, generation, dialect, created_at, key_digest, token_digest';

const DUE = `select a.account_id, coalesce(c.mode, 'real') as mode, coalesce(c.at, 0) as at,
    coalesce(c.real_since, 0) as real_since, coalesce(c.rate_milli, 1000) as rate_milli,
    (select min(t.due_at) from timers t where t.account_id = a.account_id) as timer_due,
    (select min(d.due_at) from deliveries d where d.account_id = a.account_id and d.state = 'queued') as delivery_due,
    s.lease_until, s.senders, v.owner as mover, v.lease_until as move_until, v.moves_to
  from accounts a left join clock c on c.account_id = a.account_id
    left join advances v on v.account_id = a.account_id
    left join lateral (select min(d.lease_until) as lease_until, string_agg(distinct d.lease_owner, chr(10)) as senders
      from deliveries d where d.account_id = a.account_id and d.state = 'sending') s on true
  where a.key_digest is not null`;

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

  /** Makes the row of an account; false when the name is taken. */
  async insert(row: AccountRow): Promise<boolean> {
    const values = [row.account_id, row.name, row.instance, row.seed, row.ids, row.generation, row.dialect];
    const made = await this.#ask(
      `insert into accounts (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do nothing returning account_id`,
      [...values, row.created_at, row.key_digest, row.token_digest],
    );
    return made.length === 1;
  }

  /** What is due in every account, whatever its clock says. */
  due(): Promise<readonly DueRow[]> {
    return this.#ask(DUE) as Promise<readonly never[]>;
  }

  /** Keeps the dialect an account speaks. */
  async setDialect(account: string, dialect: DialectName): Promise<void> {
    await this.#ask('update accounts set dialect = ? where account_id = ?', [dialect, account]);
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

/** Gives an account its keys, in the transaction that fills it: before that nobody reaches it. */
export async function giveKeys(sql: Sql, account: string, { key, token }: { key: string; token: string }) {
  await sql.run('update accounts set key_digest = ?, token_digest = ? where account_id = ?', key, token, account);
}

const NOT_ARCHIVED = ['advances', 'ledger_checks', 'rate_hits'];

/** Removes an account with everything it holds, in one transaction. */
export async function removeAccount(sql: Sql, account: string): Promise<void> {
  await emptyArchived(sql, account);
  for (const table of [...NOT_ARCHIVED, 'accounts'])
    await sql.run(`delete from ${table} where account_id = ?`, account);
}
