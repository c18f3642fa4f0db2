/**
 * Claims of an account come one after the other in the database. The rules are asked before the claim, and once more where
 * the database says that somebody came between (docs/decisions/0023-op-store.md).
 */
import { CliError } from '../core/errors.ts';
import type { Claim, Tape } from '../journal/store/op-store.ts';
import { claimed, isUnanswered, refuseFrom } from './claim-call.ts';
import { claimingTape } from './claiming-tape.ts';
import { localCopy } from './local-copies.ts';
import type { SharedOps } from './shared-ops.ts';
import { createStanding } from './standing.ts';

/** Throws what the rules and the caps say against it; nothing of it is there then. */
export async function claimOp(shared: SharedOps, claim: Claim): Promise<Tape> {
  const looked = await refuseFrom(shared, claim);
  const lines = claim.lines()[Symbol.iterator]();
  const standing = createStanding();
  let first = new Uint8Array();
  while (standing.writer() === undefined) {
    const { value, done } = lines.next();
    if (done === true) throw new CliError('internal', { message: 'a plan without lines' });
    standing.read(value);
    first = Buffer.concat([first, value]);
  }
  if (claim.sentNext === true && !shared.mayHold && lines.next().done === true) {
    return claimingTape(shared, { claim, first, looked });
  }
  const copy = await localCopy(shared, { op: claim.record.op, by: standing.writer() ?? '', bytes: first });
  const tape = await claimed(shared, claim, { first, standing, looked, copy }).catch(async (thrown: unknown) => {
    await copy.file.close();
    await copy.end(isUnanswered(thrown) ? 'left' : 'gone');
    throw thrown;
  });
  try {
    for (let next = lines.next(); next.done !== true; next = lines.next()) {
      await tape.file.append(next.value);
      await tape.file.sync();
    }
    await claim.refuseAgain();
    await shared.head.keep();
    return tape;
  } catch (thrown) {
    // What the database does not take back is not planned, or is open: a resume says so.
    await tape.abandon().catch(() => undefined);
    throw thrown;
  }
}
