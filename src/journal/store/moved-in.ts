/** An op that was moved here from a shared journal before it was over for everybody: what its records do not say on this machine. */
import type { LocalOps } from './local-ops.ts';

export interface MovedIn {
  /** Print of its API key on this machine; its plan has that of the account. Left out where it is another key. */
  readonly key_print?: string | undefined;
  /** When, ms UTC by the clock of this machine: whoever had it before may have sent until then. */
  readonly at: number;
  /** It has ended, and who began it has not been told; as long as it has its mark here. */
  readonly untold?: true;
}

/** Durable when it resolves. */
export function noteMovedIn({ disk, places }: LocalOps, op: string, moved: MovedIn): Promise<void> {
  return disk.replace(places.movedIn(op), JSON.stringify(moved));
}

/** Undefined for every other op, and where the note cannot be read: then its key is not known. */
export async function movedIn({ disk, places }: LocalOps, op: string): Promise<MovedIn | undefined> {
  const text = await disk.read(places.movedIn(op));
  try {
    return text === undefined ? undefined : (JSON.parse(text) as MovedIn);
  } catch {
    return undefined;
  }
}

/** See `MovedIn.untold`. */
export async function isMovedUntold(local: LocalOps, op: string): Promise<boolean> {
  const { disk, places } = local;
  return (await movedIn(local, op))?.untold === true && (await disk.read(places.unfinishedMark(op))) !== undefined;
}
