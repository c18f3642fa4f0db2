/**
 * Where events begin: a data set tells none, so what it holds is counted when it is loaded, and the check of events
 * against the books (I14) starts from there.
 */
import type { EventName } from '../../contract/events.ts';
import type { Sql } from '../store/sql.ts';

/** Read as they lie; see `WHOLE` in ledger-check.ts. */
const records = (type: string) => `transactions where coalesce(account_id, '') = ? and type = '${type}'`;

/** How many things are there that each had one event of this name. Freezing has none: it goes both ways. */
const HAPPENED = {
  'card.created': 'cards where account_id = ?',
  'card.terminated': "cards where account_id = ? and status = 'terminated'",
  'card.funded': "entries where account_id = ? and kind = 'fund'",
  'transaction.authorized': records('authorization'),
  'transaction.settled': records('settlement'),
  'transaction.declined': records('decline'),
  'transaction.refunded': records('refund'),
  // One that was opened on a card that could not take it failed at once, without an event.
  '3ds.challenge': "challenges where account_id = ? and not (status = 'failed' and attempts = 0)",
  'deposit.pending': 'deposits where account_id = ?',
  'deposit.confirmed': "deposits where account_id = ? and status = 'confirmed'",
} as const satisfies Partial<Record<EventName, string>>;

type Counted = keyof typeof HAPPENED;

const NAMES = Object.keys(HAPPENED) as Counted[];

/** Things of the account that had an event of each name, the data set's own included. */
export async function happened(sql: Sql, account: string): Promise<ReadonlyMap<Counted, number>> {
  const counts = new Map<Counted, number>();
  for (const name of NAMES) {
    const row = await sql.get<{ total: number }>(`select count(*) as total from ${HAPPENED[name]}`, account);
    counts.set(name, row?.total ?? 0);
  }
  return counts;
}

const PREFIX = 'origin ';

/** Keeps what is there now as the data set's. */
export async function rememberOrigin(sql: Sql, account: string): Promise<void> {
  for (const [name, count] of await happened(sql, account)) {
    await sql.run('insert into counters (account_id, name, value) values (?, ?, ?)', account, PREFIX + name, count);
  }
}

/** What the data set held of each. */
export async function originOf(sql: Sql, account: string): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all<{ name: string; value: number }>(
    'select name, value from counters where account_id = ? and name like ? order by name',
    account,
    `${PREFIX}%`,
  );
  return new Map(rows.map(({ name, value }) => [name.slice(PREFIX.length), value]));
}
