/** Whether who began an op that has ended has seen what came of it. */
import { type SharedOps, takesNothing } from './shared-ops.ts';

/** From here on its operator has seen it. */
export async function endUntold(shared: SharedOps, op: string): Promise<void> {
  const { statements, account, head } = shared;
  const machine = await shared.machine();
  const answer = await statements().told({ account, known: head.known(), machine, op, is_told: true });
  head.learn(answer.head);
}

/**
 * Its operator has not seen it; of what may be repeated freely the database notes nothing. False where the account takes nothing
 * now. Then its copy is left, by which a later command notes it.
 */
export async function noteUntold({ statements, account, head }: SharedOps, op: string): Promise<boolean> {
  try {
    const answer = await statements().told({ account, known: head.known(), op, is_told: false });
    head.learn(answer.head);
    return true;
  } catch (thrown) {
    if (!takesNothing(thrown)) throw thrown;
    return false;
  }
}

/** The same; false also where the database could not be asked. */
export function couldNoteUntold(shared: SharedOps, op: string): Promise<boolean> {
  return noteUntold(shared, op).catch(() => false);
}

/** A colleague has brought it back who did not know who began it, and perhaps its end. This operator did. */
export async function claimBegun({ statements, account, head }: SharedOps, op: string): Promise<void> {
  const answer = await statements().told({ account, known: head.known(), op, is_told: false, began: true });
  head.learn(answer.head);
}
