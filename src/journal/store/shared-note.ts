/**
 * The note that this machine begins ops over a shared journal, made by the first command that does: from then on its own
 * files take none of that service, or the same change could be made once by each (docs/design/team.md, section 6).
 */
import { CliError } from '../../core/errors.ts';
import { refuseWorking } from './local-export.ts';
import type { LocalOps } from './local-ops.ts';
import { isOf, type MovedTo, movedFrom, noteMoved, onlyFreezes } from './moved.ts';
import type { Claim } from './op-store.ts';
import { refuseUnmoved } from './unmoved.ts';

export interface SharedNote {
  /** Identifier of the shared journal, the account in it, and the print of the API key as the account knows it. */
  readonly journal: string;
  readonly account: string;
  readonly accountPrint: () => Promise<string>;
  /** ms UTC. */
  readonly now: number;
  readonly pid: number;
  readonly notice: (text: string) => void;
}

/** Throws `guarded` while a command of this machine works in its own files, and as `refuseUnmoved`; then no note is left. */
export async function noteShared(local: LocalOps, claim: Claim, at: SharedNote): Promise<void> {
  const { origin, mode } = claim.record;
  if (onlyFreezes(claim.record)) return;
  const before = (await movedFrom(local)).find(each => isOf(each, claim.record));
  if (before !== undefined && (before.began !== true || isSame(before, at))) return;
  const { journal, account } = at;
  if (before !== undefined) at.notice(changedWarning(before, at));
  await local.disk.prepareFolder(local.places.root);
  const note = { origin, mode, journal, account, account_print: await at.accountPrint(), began: true } as const;
  await noteMoved(local, claim.record, note);
  try {
    // Who began before the note was there holds a lock, or has left an op.
    await refuseWorking(local, at.pid).catch((thrown: unknown) => {
      throw thrown instanceof CliError && thrown.kind === 'guarded' ? stillWorking(origin) : thrown;
    });
    await refuseUnmoved(local, claim, at.now);
  } catch (thrown) {
    await noteMoved(local, claim.record, before);
    throw thrown;
  }
}

function isSame({ journal, account }: MovedTo, at: SharedNote): boolean {
  return journal === at.journal && account === at.account;
}

function changedWarning(before: MovedTo, { journal, account }: SharedNote): string {
  return `warning: this machine has begun operations of ${before.origin} in the account ${before.account} of the shared journal ${before.journal}, and now does so in ${account} of ${journal}, which does not know them`;
}

function stillWorking(origin: string): CliError {
  return new CliError('guarded', {
    message: `a command of this machine is at work in its own folder, and this is the first one over the shared journal for ${origin}; nothing was sent`,
    notes: ['When that one has ended, run the same command again.'],
    hint: 'cardwright ops list --journal local',
    outcome: 'not_sent',
  });
}
