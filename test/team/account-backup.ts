/** An account of a journal as a backup has it, put in the place of the present one: what was written since is lost. */
import type { PostgresSession } from '../../src/postgres/client.ts';

/** What a backup holds of an account; those that refer to others stand behind them. */
const TABLES = ['op', 'segment', 'intent', 'given_key', 'waiting_name', 'spend_day', 'audit'] as const;

export interface AccountBackup {
  /** Puts it there. */
  restore(): Promise<void>;
}

export async function backupOf(root: PostgresSession, account: string): Promise<AccountBackup> {
  const id = `(select a.id from cardwright.account a where a.name = '${account}')`;
  const kept = new Map<string, string>();
  for (const table of TABLES) {
    const [[rows] = []] = await root.call(
      `select coalesce(json_agg(t), '[]')::text from cardwright.${table} t where t.account = ${id}`,
      [],
    );
    kept.set(table, rows ?? '[]');
  }
  const [[seq, hash] = []] = await root.call(
    'select audit_seq::text, audit_hash from cardwright.account where name = $1',
    [account],
  );
  return {
    async restore() {
      for (const table of TABLES.toReversed())
        await root.call(`delete from cardwright.${table} where account = ${id}`, []);
      for (const [table, rows] of kept)
        await root.call(
          `insert into cardwright.${table} select * from json_populate_recordset(null::cardwright.${table}, $1::json)`,
          [rows],
        );
      await root.call('update cardwright.account set audit_seq = $2::bigint, audit_hash = $3 where name = $1', [
        account,
        seq ?? '0',
        hash ?? '',
      ]);
    },
  };
}

/** The account is that of another server from now on, as behind a standby that was promoted. */
export async function promoted(root: PostgresSession, account: string): Promise<void> {
  await root.call(`update cardwright.account set timeline = 'before' where name = $1`, [account]);
}
