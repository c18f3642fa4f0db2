/** Whether who began an op that has ended has seen what came of it. */
import { type SharedOps, takesNothing } from './shared-ops.ts';

/** From here on its operator has seen it. */
export async function endUntold({ statements, account, head }: SharedOps, op: string): Promise<void> {
  const answer = await statements().told({ account, known: head.known(), op, is_told: true });
  head.learn(answer.head);
}

/** Its operator has not seen it; of what may be repeated freely the database notes nothing. */
export async function noteUntold({ statements, account, head }: SharedOps, op: string): Promise<void> {
  try {
    const answer = await statements().told({ account, known: head.known(), op, is_told: false });
    head.learn(answer.head);
  } catch (thrown) {
    if (!takesNothing(thrown)) throw thrown;
  }
}

/** The same; false where the database could not be asked. Then its copy is left, by which the next command notes it. */
export function couldNoteUntold(shared: SharedOps, op: string): Promise<boolean> {
  return noteUntold(shared, op).then(
    () => true,
    () => false,
  );
}
