/**
 * What this machine has seen of shared journals: of each account the highest number of an audit line. A database that is behind
 * it was restored or failed over, and has lost what others rely on. One line is added after each claim, before anything is sent.
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
 * A database whose claims are held against what this machine has seen, and noted before they resolve. `account` is asked within
 * each transaction.
 */
export function watched(
  database: Database,
  seen: Pick<SeenJournals, 'note'> & { readonly last: () => SeenJournal | undefined },
): Database {
  const seqOf = async (tx: Pick<Transaction, 'all'>, account: string) => {
    const [row] = await tx.all<{ audit_seq: number }>('select audit_seq from account where id = ?', account);
    return row?.audit_seq ?? 0;
  };
  let highest = 0;
  return {
    isShared: database.isShared,
    shown: database.shown,
    lock: database.lock,
    grouped: work => database.grouped(work),
    read: work => database.read(work),
    close: () => database.close(),
    async transaction(work) {
      const before = seen.last();
      if (before === undefined) return database.transaction(work);
      let now = 0;
      const value = await database.transaction(async tx => {
        const there = await seqOf(tx, before.account);
        if (there < Math.max(before.seq, highest)) throw behind(database.shown, there, Math.max(before.seq, highest));
        const result = await work(tx);
        now = await seqOf(tx, before.account);
        return result;
      });
      if (now > Math.max(before.seq, highest)) {
        highest = now;
        await seen.note({ ...before, seq: now });
      }
      return value;
    },
  };
}

function behind(shown: string, there: number, seen: number): CliError {
  return new CliError('guarded', {
    message: `the shared journal ${shown} was restored or failed over: it ends with audit line ${there}, and this machine has seen line ${seen}`,
    notes: [
      'What was done since is not in it, so that a change could be made twice. Nothing was sent.',
      'Look at what it lacks with cardwright journal check; then go on with it as it is:',
    ],
    reason: 'journal_behind',
    hint: 'cardwright journal accept',
    outcome: 'not_sent',
  });
}
