/** Statements on `accounts`: who is served from one database, and by which key. */
import type { DialectName } from '../../../contract/sandbox/faults.ts';
import { DAY } from '../../../core/durations.ts';
import type { PostgresPipeline } from '../../../postgres/client.ts';
import { emptyArchived } from '../archived.ts';
import type { IdForm } from '../meta.ts';
import type { Sql, SqlValue } from '../sql.ts';
import { checkSchemaNumber } from './migrate.ts';
import { numbered, rowsOf, sent } from './types.ts';

export interface AccountRow {
  readonly account_id: string;
  readonly name: string;
  readonly instance: string;
  readonly seed: number;
  readonly ids: IdForm;
  readonly generation: number;
  readonly dialect: DialectName;
  /** ms UTC of the database, and so is its end; null for one without an end. */
  readonly created_at: number;
  readonly expires_at: number | null;
  /** SHA-256, hexadecimal; null while the account is being made. */
  readonly key_digest: string | null;
  readonly token_digest: string | null;
}

/** An account before the database has told the time. */
export type NewRow = Omit<AccountRow, 'created_at' | 'expires_at'>;

/** Whose key it was, and when the account ended, by itself or by hand, ms UTC. */
export interface ExpiredRow {
  readonly name: string;
  readonly expired_at: number;
}

/** What is due first in an account, on its clock but for the lease: that is real time. */
export interface DueRow extends ClockFacts {
  readonly account_id: string;
  /** 1 when its end has come, or when nobody finished making it. */
  readonly is_over: 0 | 1;
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

const FIRST_COLUMNS = 'account_id, name, instance, seed, ids, generation, dialect, key_digest, token_digest';
const COLUMNS = `${FIRST_COLUMNS}, created_at, expires_at`;

/** The time of the database, ms UTC: servers and those who make accounts need no common clock. */
const NOW = 'cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)';
const LIVES = `(expires_at is null or expires_at > ${NOW})`;
/** ms after which nobody fills an account any more that has no keys: whoever began it lost the database. */
const MADE_WITHIN = 60_000;
const IS_OVER = `(coalesce(expires_at <= ${NOW}, false) or key_digest is null and created_at < ${NOW} - ${MADE_WITHIN})`;
/** ms that is remembered whose an expired key was. */
const EXPIRED_FOR = 30 * DAY;

const DUE = `select a.account_id, case when ${IS_OVER} then 1 else 0 end as is_over, coalesce(c.mode, 'real') as mode, coalesce(c.at, 0) as at,
    coalesce(c.real_since, 0) as real_since, coalesce(c.rate_milli, 1000) as rate_milli,
    (select min(t.due_at) from timers t where t.account_id = a.account_id) as timer_due,
    (select min(d.due_at) from deliveries d where d.account_id = a.account_id and d.state = 'queued') as delivery_due,
    s.lease_until, s.senders, v.owner as mover, v.lease_until as move_until, v.moves_to
  from accounts a left join clock c on c.account_id = a.account_id
    left join advances v on v.account_id = a.account_id
    left join lateral (select min(d.lease_until) as lease_until, string_agg(distinct d.lease_owner, chr(10)) as senders
      from deliveries d where d.account_id = a.account_id and d.state = 'sending') s on true
  where a.key_digest is not null or ${IS_OVER}`;

/** How long the row of an account is waited for that somebody else has locked, ms. */
const LOCK_MS = 25_000;

/** One statement outside of any account, in a transaction of its own, once it is known that the tables are ours. */
async function asked(
  connection: PostgresPipeline,
  schema: string,
  text: string,
  values: readonly SqlValue[] = [],
): Promise<readonly Record<string, unknown>[]> {
  try {
    const found = `(select schema_number from ${schema}.store_schema)`;
    const steps = [
      connection.send('begin', []),
      connection.send(
        `select set_config('search_path', $1, true), set_config('lock_timeout', '${LOCK_MS}', true), ${found} as found`,
        [schema],
      ),
    ] as const;
    const [, facts] = await Promise.all(steps);
    checkSchemaNumber(rowsOf(facts)[0]?.['found']);
    const [answer] = await Promise.all([
      connection.send(numbered(text), values.map(sent)),
      connection.send('commit', []),
    ]);
    return rowsOf(answer);
  } catch (error) {
    await connection.send('rollback', []).catch(() => undefined);
    throw error;
  }
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

  /** Makes the row of an account that lasts `lifetime` ms, or has no end; false when the name is taken. */
  async insert(row: NewRow, lifetime?: number): Promise<boolean> {
    const values = [row.account_id, row.name, row.instance, row.seed, row.ids, row.generation, row.dialect];
    const made = await this.#ask(
      `insert into accounts (${COLUMNS})
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ${NOW}, ${NOW} + cast(? as bigint))
       on conflict do nothing returning account_id`,
      [...values, row.key_digest, row.token_digest, lifetime ?? null],
    );
    return made.length === 1;
  }

  /** Lets an account end `lifetime` ms from now at the earliest; undefined where none of that name has an end to come. */
  async extend(name: string, lifetime: number): Promise<AccountRow | undefined> {
    const text = `update accounts set expires_at = greatest(expires_at, ${NOW} + cast(? as bigint))
      where name = ? and expires_at > ${NOW} returning ${COLUMNS}`;
    return (await this.#ask(text, [lifetime, name]))[0] as AccountRow | undefined;
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
    const text = `select ${COLUMNS} from accounts
      where (key_digest = ? or account_id in (${made})) and ${LIVES} limit 1`;
    return (await this.#ask(text, [digest, digest]))[0] as AccountRow | undefined;
  }

  async byToken(digest: string): Promise<AccountRow | undefined> {
    const text = `select ${COLUMNS} from accounts where token_digest = ? and ${LIVES}`;
    return (await this.#ask(text, [digest]))[0] as AccountRow | undefined;
  }

  /** Whose key or token it was, for 30 days after the account has ended: it expired, or was removed. */
  async expired(digest: string): Promise<ExpiredRow | undefined> {
    const made = 'select account_id from api_keys where digest = ?';
    const text = `select name, expires_at as expired_at from accounts
        where (key_digest = ? or token_digest = ? or account_id in (${made})) and ${IS_OVER}
      union all select name, expired_at from expired_keys where digest = ? limit 1`;
    return (await this.#ask(text, [digest, digest, digest, digest]))[0] as ExpiredRow | undefined;
  }

  /** Forgets keys that expired long ago. Rows that another server is removing are left to it. */
  async forgetExpired(): Promise<void> {
    const old = `select digest from expired_keys where expired_at < ${NOW} - ${EXPIRED_FOR} for update skip locked`;
    await this.#ask(`delete from expired_keys where digest in (${old})`);
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

/** Removes an account with everything it holds, in one transaction, and keeps whose its keys were. */
export async function removeAccount(sql: Sql, account: string): Promise<void> {
  await keepKeys(sql, account);
  await emptyArchived(sql, account);
  for (const table of [...NOT_ARCHIVED, 'accounts'])
    await sql.run(`delete from ${table} where account_id = ?`, account);
}

const KEYS = `select key_digest as digest, name, expires_at from accounts where account_id = ?
  union all select token_digest, name, expires_at from accounts where account_id = ?
  union all select k.digest, a.name, a.expires_at from api_keys k join accounts a on a.account_id = k.account_id
    where k.account_id = ?`;

/** An account that is removed before its end, or has none, ends now. */
async function keepKeys(sql: Sql, account: string): Promise<void> {
  await sql.run(
    `insert into expired_keys (digest, name, expired_at)
     select digest, name, least(expires_at, ${NOW}) from (${KEYS}) keys where digest is not null on conflict do nothing`,
    ...[account, account, account],
  );
}

/**
 * Removes an account whose end has come, or that nobody finished making. The transaction holds the lock of the account; false, and nothing happens, when
 * the account got a later end.
 */
export async function removeExpired(sql: Sql, account: string): Promise<boolean> {
  const over = await sql.get(`select 1 as one from accounts where account_id = ? and ${IS_OVER}`, account);
  if (over === undefined) return false;
  await removeAccount(sql, account);
  return true;
}
