/** A database without a journal, on a machine that has used one: it was lost there, or is elsewhere, and is not made anew. */
import { CliError } from '../core/errors.ts';
import { movedFrom } from '../journal/store/moved.ts';
import { nameOfJournal } from '../journal/store/other-journal.ts';
import { placesIn } from '../journal/store/paths.ts';
import type { JournalDisk } from '../journal/wal/storage.ts';
import { codeOf } from './shared-ops.ts';

interface Reached {
  readonly disk: JournalDisk;
  readonly stateFolder: string;
  readonly account: string;
  /** Its address, without a password. */
  readonly shown: string;
}

const NO_SCHEMA = '3F000';

/** What a call has thrown, with the journal that this machine has used; any other error as it is. */
export async function withUsedJournal(thrown: unknown, reached: Reached): Promise<unknown> {
  if (!(thrown instanceof CliError) || codeOf(thrown) !== NO_SCHEMA) return thrown;
  const { disk, stateFolder, account, shown } = reached;
  const used = (await movedFrom({ disk, places: placesIn(stateFolder) })).filter(note => note.account === account);
  const note = used.find(({ address }) => address === shown) ?? used[0];
  if (note === undefined) return thrown;
  const { address } = note;
  const where = address === shown ? ' here' : address === undefined ? '' : ` at ${address}`;
  return thrown.with({
    message: `the shared journal ${shown}: there is no journal in the database, and this machine has used the account ${account} of the journal ${note.journal}${where}`,
    notes: [
      'Where it was lost, an admin of the database restores it from a backup: what was begun there is known to no other journal.',
      `Where it is gone for good, an admin makes a new one with what cardwright journal init --print-sql prints; then: cardwright journal move --to shared --leave ${nameOfJournal(note)}`,
    ],
    hint: 'cardwright ops list --local',
  });
}
