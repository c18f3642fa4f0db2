/** An account whose operations this user keeps in a shared journal: a program must not change it past that. */
import { CliError } from '../core/errors.ts';
import { accountPrint, keyPrint } from '../core/key-print.ts';
import { movedBy, movedFrom, whereIs } from '../journal/store/moved.ts';
import { placesIn } from '../journal/store/paths.ts';
import { createDisk } from '../journal/wal/storage.ts';
import type { NamedCalls } from './journal.ts';

type Acting = Pick<NamedCalls, 'clock' | 'random' | 'platform' | 'pid' | 'baseUrl' | 'mode' | 'key'>;

/** Throws `guarded` where `journal move`, or a command or program over a shared journal, has noted so in this state folder; `check_failed` for a note that nobody can read. */
export async function refuseMovedAccount(
  { clock, random, platform, pid, baseUrl: origin, mode, key }: Acting,
  stateFolder: string,
): Promise<void> {
  const disk = createDisk({ platform, random, warn: () => undefined, lock: { pid, clock, random } });
  const places = placesIn(stateFolder);
  const notes = await movedFrom({ disk, places });
  if (notes.length === 0) return;
  const salt = await disk.read(places.saltFile);
  const plan = { origin, mode, key_print: salt === undefined ? '' : keyPrint(key, salt) };
  const to = await movedBy(notes, plan, async account => accountPrint(key, account));
  if (to === undefined) return;
  const whose = `the operations of ${to.origin}${to.origin === origin ? '' : `, where the API key of ${origin} is used too,`}`;
  const reached = to.address === undefined ? '' : ` (reached until now at ${to.address})`;
  const cure = `give createClient journal: "postgres://…"${reached} and journalAccount: ${JSON.stringify(to.account)}, and each such call an intent`;
  throw new CliError('guarded', {
    // A program is shown the message alone, so the cure stands in it.
    message: `${whose} ${whereIs(to)} by a command or program of this user, and nothing was sent: past it the same change could be made twice; ${cure}`,
    outcome: 'not_sent',
  });
}
