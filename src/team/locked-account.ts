/** Whether a session of the database holds an account, so that every change waits for it: somebody's open transaction. */
import { CliError } from '../core/errors.ts';
import type { Clock } from '../platform/host.ts';
import type { PostgresSession } from '../postgres/client.ts';

/** A session in whose transaction the account is locked. */
export interface AccountLock {
  readonly pid: number;
  readonly role: string | null;
  /** ISO 8601 UTC; null where it is not shown to this login. */
  readonly since: string | null;
  /** Of its transaction: two looks that have the same saw the same one. */
  readonly transaction: string;
}

type Asks = Pick<PostgresSession, 'call'>;

/** A transaction of cardwright is over long before. */
const LONG_MS = 2_000;

/** The pids come from a function of the schema; what is known of them is what this login may see. */
const LOCKERS = `select h.pid, h.transaction, s.usename,
    to_char(s.xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
  from cardwright.locked_by($1) h left join pg_catalog.pg_stat_activity s on s.pid = h.pid
  order by s.xact_start, h.pid limit 1`;

/** Undefined where nobody locks it at this moment. Rejects as `call` does, also where the server only reads. */
export async function lockOf({ call }: Asks, account: string): Promise<AccountLock | undefined> {
  const [row] = await call(LOCKERS, [account]);
  if (row === undefined) return undefined;
  const [pid, transaction, role, since] = row;
  return { pid: Number(pid), transaction: transaction ?? '', role: role ?? null, since: since ?? null };
}

/** The same of a session that locks it for longer than a command does. */
export async function longLock(asks: Asks, account: string, clock: Clock): Promise<AccountLock | undefined> {
  const first = await lockOf(asks, account);
  if (first === undefined) return undefined;
  await clock.sleep(LONG_MS);
  const again = await lockOf(asks, account);
  return again?.transaction === first.transaction ? again : undefined;
}

/** Who, for a sentence. */
export function lockerText({ pid, role, since }: AccountLock): string {
  return [`pid ${pid}`, ...(role === null ? [] : [`role ${role}`]), ...(since === null ? [] : [`since ${since}`])].join(
    ', ',
  );
}

/** What ends it. */
export function endOfLock({ pid }: AccountLock): string {
  return `Where it does not end by itself, an admin of PostgreSQL ends it: select pg_terminate_backend(${pid});`;
}

/** A change that has waited for it in vain. `lock` is undefined where it has ended since, or cannot be asked for. */
export function accountLocked(shown: string, lock: AccountLock | undefined, cause: unknown): CliError {
  const who = lock === undefined ? '' : `: ${lockerText(lock)}`;
  return new CliError('guarded', {
    message: `the shared journal ${shown}: another session of its database locks the account${who}`,
    reason: 'journal_unreachable',
    notes: [
      'Every change over the journal waits for it, and is refused.',
      ...(lock === undefined ? [] : [endOfLock(lock)]),
    ],
    hint: 'cardwright journal status',
    outcome: 'not_sent',
    cause,
  });
}
