/**
 * The note that this machine begins ops over a shared journal, made by the first command that does: from then on neither its
 * own files nor another shared journal take any of that account, or the same change could be made once by each
 * (docs/design/team.md, section 6).
 */
import { CliError } from '../../core/errors.ts';
import { refuseWorking } from './local-export.ts';
import type { LocalOps } from './local-ops.ts';
import {
  type AccountPrint,
  forgetMoved,
  isInAccount,
  isOf,
  type MovedTo,
  movedFrom,
  noteMoved,
  onlyFreezes,
} from './moved.ts';
import type { Claim } from './op-store.ts';
import { refuseOtherJournal } from './other-journal.ts';
import { refuseUnmoved, type UnmovedBy } from './unmoved.ts';

export interface SharedNote {
  /** Identifier of the shared journal, and the account in it. */
  readonly journal: string;
  readonly account: string;
  /** Where it is reached, without a password. */
  readonly address: string;
  readonly accountPrint: AccountPrint;
  readonly unmovedBy: UnmovedBy;
  readonly pid: number;
}

/**
 * Throws `guarded` where this machine has begun something with this API key in another shared journal, while a command of it
 * works in its own files, and as `refuseUnmoved`; then no note is left. What it gives takes a new note back, for an account that
 * takes nothing with this API key.
 */
export async function noteShared(
  local: LocalOps,
  claim: Claim,
  at: SharedNote,
): Promise<(() => Promise<void>) | undefined> {
  const { origin, mode } = claim.record;
  if (onlyFreezes(claim.record)) return undefined;
  const { journal, account, address, accountPrint } = at;
  const here = { origin, mode, journal, account, address };
  const notes = await movedFrom(local);
  await refuseOtherJournal(notes, here, accountPrint);
  const account_print = await accountPrint(account);
  const isNoted = (note: MovedTo) =>
    isOf(note, here) && isInAccount(note, here) && (note.account_print ?? account_print) === account_print;
  if (notes.some(isNoted)) return undefined;
  const takeBack = () => forgetMoved(local, isNoted);
  await local.disk.prepareFolder(local.places.root);
  await noteMoved(local, { ...here, account_print, began: true });
  try {
    // Who began before the note was there holds a lock, or has left an op, or a note of another journal.
    await refuseOtherJournal(await movedFrom(local), here, accountPrint);
    await refuseWorking(local, at.pid).catch((thrown: unknown) => {
      throw thrown instanceof CliError && thrown.kind === 'guarded' ? stillWorking(origin) : thrown;
    });
    await refuseUnmoved(local, claim, at.unmovedBy);
  } catch (thrown) {
    await takeBack();
    throw thrown;
  }
  return takeBack;
}

function stillWorking(origin: string): CliError {
  return new CliError('guarded', {
    message: `a command of this machine is at work in its own folder, and this is the first one over the shared journal for ${origin}; nothing was sent`,
    notes: ['When that one has ended, run the same command again.'],
    hint: 'cardwright ops list --journal local',
    outcome: 'not_sent',
  });
}
