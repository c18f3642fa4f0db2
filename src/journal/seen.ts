/**
 * What this machine has seen of shared journals: of each account the last audit line, by its number and hash. A database that
 * is behind it, or has another line there, was restored or failed over, and has lost what others rely on. One line is added here
 * after each claim, before anything is sent.
 */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { type FileDependencies, inOurWords, preparePrivateFolder, readPrivate } from '../files/private-files.ts';
import type { Database, Transaction } from './database.ts';

export interface SeenJournal {
  /** Id of the journal. */
  readonly journal: string;
  readonly account: string;
  /** Print of the API key under the id of the journal. */
  readonly print: string;
  /** Its address, for people. */
  readonly shown: string;
  readonly seq: number;
  /** Of that line; left out before the first claim. */
  readonly hash?: string;
}

export interface SeenJournals {
  readonly path: string;
  /** The last state of each account of each journal. */
  read(): Promise<readonly SeenJournal[]>;
  note(seen: SeenJournal): Promise<void>;
}

/** Kept in `shared-journals.ndjson` of the state folder; lines are added, so that no process takes away what another has noted. */
export function seenJournalsIn(stateFolder: string, files: FileDependencies): SeenJournals {
  const path = join(stateFolder, 'shared-journals.ndjson');
  return {
    path,
    async read() {
      const found = new Map<string, SeenJournal>();
      for (const line of ((await readPrivate(path, files)) ?? '').split('\n')) {
        const seen = readLine(line);
        if (seen === undefined) continue;
        const name = `${seen.journal} ${seen.account}`;
        const before = found.get(name);
        if (before === undefined || before.seq <= seen.seq) found.set(name, seen);
      }
      return [...found.values()];
    },
    async note(seen) {
      await preparePrivateFolder(stateFolder, files);
      await inOurWords(path, () => appendFile(path, `${JSON.stringify(seen)}\n`, { mode: 0o600 }));
    },
  };
}

/** A line that was cut off by a full disk or a crash is none. */
function readLine(line: string): SeenJournal | undefined {
  try {
    const seen = JSON.parse(line) as SeenJournal;
    return typeof seen.journal === 'string' && Number.isSafeInteger(seen.seq) ? seen : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A database whose claims are held against what this machine has seen, and noted before they resolve. A line that is another one than
 * was seen shows that it was put back too, also where it has more lines by now.
 */
export function watched(database: Database, note: SeenJournals['note'], last: SeenJournal): Database {
  let seen = last;
  const headOf = async (tx: Pick<Transaction, 'all'>, { account, seq }: SeenJournal) => {
    const [row] = await tx.all<{ seq: number; hash: string; own: string | null; accepted: number | null }>(
      `select audit_seq as seq, audit_hash as hash, (select hash from audit where account = a.id and seq = ?) as own,
        (select max(seq) from audit where account = a.id and seq > ? and line like '%"event":"accepted"%') as accepted
        from account a where id = ?`,
      seq,
      seq,
      account,
    );
    return row ?? { seq: 0, hash: '', own: null, accepted: null };
  };
  return {
    isShared: database.isShared,
    shown: database.shown,
    lock: database.lock,
    grouped: work => database.grouped(work),
    read: work => database.read(work),
    close: () => database.close(),
    async transaction(work) {
      let now = seen;
      const value = await database.transaction(async tx => {
        const there = await headOf(tx, seen);
        const isOther = seen.hash !== undefined && there.own !== seen.hash && there.accepted === null;
        if (there.seq < seen.seq || isOther) throw behind(database.shown, there.seq, seen.seq);
        const result = await work(tx);
        const { seq, hash } = await headOf(tx, seen);
        now = { ...seen, seq, hash };
        return result;
      });
      if (now.seq > seen.seq) {
        seen = now;
        await note(now);
      }
      return value;
    },
  };
}

function behind(shown: string, there: number, seen: number): CliError {
  const how =
    there < seen
      ? `it ends with audit line ${there}, and this machine has seen line ${seen}`
      : `its audit line ${seen} is another one than this machine has seen`;
  return new CliError('guarded', {
    message: `the shared journal ${shown} was restored or failed over: ${how}`,
    notes: [
      'What was done since is not in it, so that a change could be made twice. Nothing was sent.',
      'Look at what it lacks with cardwright journal check; then go on with it as it is:',
    ],
    reason: 'journal_behind',
    hint: 'cardwright journal accept',
    outcome: 'not_sent',
  });
}
