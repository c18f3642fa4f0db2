/** A damaged journal is never changed: with what a person knows of it, it is put beside the others. */
import { CliError } from '../../core/errors.ts';
import { isLocked } from '../../files/lock.ts';
import type { LocalOps } from './local-ops.ts';
import type { ByHand } from './op-store.ts';

interface Aside {
  readonly op: string;
  readonly note: ByHand;
  readonly pid: number;
}

/** See `OpStore.keepDamaged`. The mark goes last: until then the op is in the way of others. */
export async function keepDamaged({ disk, places }: LocalOps, { op, note, pid }: Aside): Promise<string> {
  if (await isLocked(places.lock(op), { pid })) {
    const message = `another process works on ${op}; nothing was recorded`;
    throw new CliError('guarded', { message, hint: 'cardwright ops list', outcome: 'not_sent', op });
  }
  const folder = places.damagedFolder(op);
  await disk.prepareFolder(places.damaged);
  // Its journal may be gone with its folder, or was moved before a crash.
  if ((await disk.names(places.root)).includes(op)) await disk.rename(places.folder(op), folder);
  else await disk.prepareFolder(folder);
  await disk.replace(places.recorded(op), `${JSON.stringify(note)}\n`);
  await disk.syncNames(places.damaged);
  await disk.syncNames(places.root);
  await disk.remove(places.unfinishedMark(op));
  return folder;
}

/** See `OpStore.recordedByHand`. */
export async function recordedByHand({ disk, places }: LocalOps, op: string): Promise<ByHand | undefined> {
  const text = await disk.read(places.recorded(op));
  return text === undefined ? undefined : (JSON.parse(text) as ByHand);
}
