/**
 * What this machine has seen of shared journals: of each account the last audit line. A database that is behind it, or has another
 * line there, was restored or failed over. One line is added here after each claim, before anything is sent. Who has used a shared
 * journal for an account makes no change of it past that.
 */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../core/errors.ts';
import { keyPrint } from '../core/key-print.ts';
import { jsonOrUndefined } from '../core/objects.ts';
import type { Secret } from '../core/secret.ts';
import { shellWord } from '../core/shell-quote.ts';
import { type FileDependencies, inOurWords, preparePrivateFolder, readPrivate } from '../files/private-files.ts';
import { type Database, sql, type Transaction } from './database.ts';

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

/** Kept in `shared-journals.ndjson` of the state folder; lines are added, so that no process takes away what another has noted. */
export function seenJournalsIn(stateFolder: string, files: FileDependencies) {
  const path = join(stateFolder, 'shared-journals.ndjson');
  return {
    path,
    /** The last state of each account of each journal, by each of its keys. */
    async read(): Promise<readonly SeenJournal[]> {
      const found = new Map<string, SeenJournal>();
      for (const line of ((await readPrivate(path, files)) ?? '').split('\n')) {
        const seen = jsonOrUndefined(line) as SeenJournal | undefined;
        // A line that was cut off by a full disk or a crash is none.
        if (typeof seen?.journal !== 'string' || !Number.isSafeInteger(seen.seq)) continue;
        const name = `${seen.journal} ${seen.account} ${seen.print}`;
        if ((found.get(name)?.seq ?? 0) <= seen.seq) found.set(name, seen);
      }
      return [...found.values()];
    },
    async note(seen: SeenJournal): Promise<void> {
      await preparePrivateFolder(stateFolder, files);
      await inOurWords(path, () => appendFile(path, `${JSON.stringify(seen)}\n`, { mode: 0o600 }));
    },
  };
}

/**
 * A database whose claims are held against what this machine has seen, and noted before they resolve. A line that is another one than
 * was seen shows that it was put back too, also where it has more lines by now.
 */
export function watched(database: Database, note: (seen: SeenJournal) => Promise<void>, last: SeenJournal): Database {
  let seen = last;
  const headOf = async (tx: Pick<Transaction, 'all'>, { account, seq }: SeenJournal) => {
    const [row] = await tx.all<{ seq: number; hash: string; own: string | null; accepted: number | null }>(
      sql`select audit_seq as seq, audit_hash as hash, (select hash from audit where account = a.id and seq = ${seq}) as own,
        (select max(seq) from audit where account = a.id and seq > ${seq} and line like '%"event":"accepted"%') as accepted
        from account a where id = ${account}`,
    );
    return row ?? { seq: 0, hash: '', own: null, accepted: null };
  };
  return {
    id: database.id,
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

/**
 * Throws `guarded` where this machine keeps the account of this key in a shared journal: beside it another journal, or a change without
 * one, could make the same change a second time. `here`: the shared journal that is used now.
 */
export async function refuseBesideShared(
  stateFolder: string,
  files: FileDependencies,
  key: () => Promise<Secret>,
  here?: string,
): Promise<void> {
  const known = (await seenJournalsIn(stateFolder, files).read()).filter(({ journal }) => journal !== here);
  const ownKey = known.length === 0 ? undefined : await key();
  const shared = known.find(({ journal, print }) => ownKey !== undefined && keyPrint(ownKey, journal) === print);
  if (shared === undefined) return;
  const other = `This is another journal (${here?.slice(0, 8)}, not ${shared.journal.slice(0, 8)}). If it takes its place for good:`;
  throw new CliError('guarded', {
    message: `this account is kept in the shared journal ${shared.shown}: beside it the same change could be made twice`,
    notes: [
      'Name it with --journal, in CARDWRIGHT_JOURNAL_URL, in the profile, or as the journal of a client. Nothing was sent.',
      ...(here === undefined ? [] : [other]),
    ],
    reason: 'shared_elsewhere',
    hint: here === undefined ? `export CARDWRIGHT_JOURNAL_URL=${shellWord(shared.shown)}` : 'cardwright journal accept',
    outcome: 'not_sent',
  });
}
