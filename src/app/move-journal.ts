/** `journal move`: the files of this machine and the shared journal of this run, put side by side. */
import { CliError } from '../core/errors.ts';
import { accountPrint } from '../core/key-print.ts';
import { leftTwins, twinNotes } from '../journal/runs/twin-rows.ts';
import type { MovedJournal, MoveWish } from '../journal/shared-ops.ts';
import { localStore } from '../journal/store/local-store.ts';
import { placesIn } from '../journal/store/paths.ts';
import { readOrError } from '../journal/store/read-ops.ts';
import { moveToLocal, moveToShared } from '../team/move.ts';
import { openShared } from '../team/open-shared.ts';
import { type Around, localSettings, sharedSettings, storeFor } from './journal.ts';
import { stepsToLocal } from './still-named.ts';

/** Throws `usage` where no shared journal is named, and what each direction refuses. */
export async function moveJournal(
  around: Around & { readonly localHead: () => Promise<{ readonly seq: number; readonly hash: string } | undefined> },
  { to, mine, keepBoth, leave }: MoveWish,
): Promise<MovedJournal> {
  const { host, opened } = around;
  const { mode, baseUrl: origin } = await opened.identity();
  const settings = mode === 'sandbox' ? undefined : await sharedSettings(around);
  if (settings === undefined || mode === 'sandbox') throw notNamed(mode);
  opened.onClose(async () => settings.connection[Symbol.asyncDispose]());
  const shared = await openShared(settings);
  const kept = localSettings(around);
  const parts = {
    local: { disk: kept.disk, places: placesIn(host.folders.state) },
    shared,
    service: { origin, mode },
    pid: host.pid,
    keyPrint: accountPrint(await opened.key(), settings.account),
    accountPrint: async (account: string) => accountPrint(await opened.key(), account),
    stateFolder: host.folders.state,
    address: settings.connection.shown,
    isOwnPlan: localStore(kept).isOwnPlan,
    localPrint: () => localStore(kept).keyPrint(mode),
    localHead: around.localHead,
  };
  if (to === 'shared') {
    const moved = await moveToShared(parts, { keepBoth, leave });
    await tellTwins(around);
    return moved;
  }
  const moved = await moveToLocal(parts, { mine });
  const steps = await stepsToLocal(around);
  if (steps.length > 0) {
    around.notice(
      `note: this run names the shared journal, which takes nothing now. To go on with this machine alone: ${steps.join('; ')}`,
    );
  }
  return moved;
}

/** What was moved may be what others have begun there: no resume sends it then. */
async function tellTwins(around: Around): Promise<void> {
  const store = await storeFor(around);
  for await (const { op } of store.heads({ unfinished: true })) {
    const history = await readOrError(store, op);
    if (history === undefined || history instanceof CliError || history.end !== undefined) continue;
    for (const note of twinNotes(op, await leftTwins(store, history))) around.notice(`note: ${note}`);
  }
}

function notNamed(mode: string): CliError {
  return new CliError('usage', {
    message:
      mode === 'sandbox'
        ? 'the operations of a sandbox stay on this machine'
        : 'no shared journal is named: give --journal, or set CARDWRIGHT_JOURNAL_URL',
    hint: 'cardwright journal move --help',
    outcome: 'not_sent',
  });
}
