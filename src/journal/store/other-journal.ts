/**
 * Two shared journals for one card account on one machine: neither knows the ops of the other, so the same change could be
 * made once by each (docs/design/team.md, section 6).
 */
import { CliError } from '../../core/errors.ts';
import { type AccountPrint, type MovedTo, notedElsewhere } from './moved.ts';

/** A shared journal as a run uses it. */
export type JournalHere = Pick<MovedTo, 'origin' | 'mode' | 'journal' | 'account'>;

/** Throws `guarded` where this machine has used another shared journal, or another account of this one, with the API key of this run. */
export async function refuseOtherJournal(
  notes: readonly MovedTo[],
  here: JournalHere,
  accountPrint: AccountPrint,
): Promise<void> {
  const [other] = await notedElsewhere(notes, here, accountPrint);
  if (other !== undefined) throw otherJournal(other, here);
}

/** How `journal move --leave` names it. */
export function nameOfJournal({ journal, account }: Pick<MovedTo, 'journal' | 'account'>): string {
  return `${account}@${journal}`;
}

export function otherJournal(other: MovedTo, here: JournalHere): CliError {
  const { journal, account, address } = other;
  const isSameDatabase = journal === here.journal;
  const place = address === undefined ? '' : `, used at ${address}`;
  const goOn = isSameDatabase
    ? `export CARDWRIGHT_JOURNAL_ACCOUNT=${account}`
    : `--journal with its address, and CARDWRIGHT_JOURNAL_ACCOUNT=${account}`;
  return new CliError('guarded', {
    message: `this machine has used the account ${account} of the shared journal ${journal}${place}, with this API key; this run names the account ${here.account} of ${isSameDatabase ? 'that journal' : here.journal}, which does not know what was begun there. That journal is not asked; nothing was sent`,
    notes: [
      `The same change could be made once in each. Go on there: ${goOn}`,
      'To change over, bring everything back with the first journal: cardwright journal move --to local. Then, with the new one: cardwright journal move --to shared',
      `Where nobody uses the first one now, and it cannot be reached: cardwright journal move --to shared --leave ${nameOfJournal(other)}`,
    ],
    hint: 'cardwright ops list --local',
    outcome: 'not_sent',
  });
}
