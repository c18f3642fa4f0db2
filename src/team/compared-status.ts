/** Where a shared journal stands, held against what this machine has seen of it. Nothing is written, there or here. */
import type { JournalDisk } from '../journal/wal/storage.ts';
import type { Clock } from '../platform/host.ts';
import type { JournalStatus } from './calls.ts';
import type { JournalConnection } from './connect.ts';
import { type AccountLock, longLock } from './locked-account.ts';
import { behindBy } from './loss.ts';
import { withUsedJournal } from './lost-journal.ts';
import { refuseOtherSchema } from './refusals.ts';
import { type Behind, headsByJournal } from './shared-ops.ts';
import { statementsOver } from './statements.ts';

export interface ComparedStatus {
  readonly status: JournalStatus;
  /** What the journal lacks; undefined where it has everything that is known of it. */
  readonly behind: Behind | undefined;
  /** A session that locks the account for longer than a command does. */
  readonly locked: AccountLock | undefined;
}

interface Compared {
  readonly disk: JournalDisk;
  readonly stateFolder: string;
  readonly connection: JournalConnection;
  readonly account: string;
  readonly clock: Clock;
}

/** Throws as a call of the database does, and `guarded` or `check_failed` for another schema. */
export async function comparedStatus(compared: Compared): Promise<ComparedStatus> {
  const { disk, stateFolder, connection, account, clock } = compared;
  const statements = statementsOver(connection);
  // Before the database is asked: another command of this machine may go on meanwhile.
  const heads = await headsByJournal(disk, stateFolder, account);
  const status = await statements.status(account).catch(async (thrown: unknown) => {
    throw await withUsedJournal(thrown, { disk, stateFolder, account, shown: connection.shown });
  });
  refuseOtherSchema(status, connection.shown);
  const seen = heads[status.journal_id];
  const isLast = seen === undefined || seen.hash === status.head.hash;
  const line = isLast ? undefined : await statements.auditLine(account, seen.seq);
  // A server that only reads locks nothing.
  const locked = status.standby ? undefined : await longLock(connection, account, clock);
  return { status, behind: behindBy({ status, line }, isLast ? undefined : seen), locked };
}
