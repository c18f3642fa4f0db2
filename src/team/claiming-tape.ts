/**
 * An op whose claim goes with the first records behind its plan: of a single change that is SENT. One call of the database in
 * place of two (docs/decisions/0029-calls-of-a-shared-journal.md).
 */
import type { Claim, Tape } from '../journal/store/op-store.ts';
import { OutdatedFacts } from '../journal/wal/writer.ts';
import { claimed, claimOnce, isUnanswered, newNonce, refuseFrom } from './claim-call.ts';
import { localCopy } from './local-copies.ts';
import type { SharedOps } from './shared-ops.ts';
import { createStanding } from './standing.ts';

interface Planned {
  readonly claim: Claim;
  /** Every line of the plan. */
  readonly first: Uint8Array;
  /** How far the chain was when the rules looked. */
  readonly looked: number;
}

/** Nothing of the op is in the database before the first sync, and no cap was asked. */
export async function claimingTape(shared: SharedOps, { claim, first, looked }: Planned): Promise<Tape> {
  const { op } = claim.record;
  const copy = await localCopy(shared, { op, by: standingAfter(first).writer() ?? '', bytes: first });
  const lost = new AbortController();
  let tape: Tape | undefined;
  let mayBeClaimed = false;
  let pending: Uint8Array[] = [];

  function hold(taken: Tape): Tape {
    taken.lost?.addEventListener('abort', () => lost.abort(taken.lost?.reason), { once: true });
    tape = taken;
    return taken;
  }

  async function claimWith(records: Uint8Array): Promise<void> {
    const bytes = Buffer.concat([first, records]);
    const standing = standingAfter(bytes);
    const sent = standing.counts().unknown > 0;
    const nonce = newNonce(shared);
    const answer = await claimOnce(shared, claim, { first: bytes, standing, looked, copy, nonce, sent }).catch(
      (thrown: unknown) => {
        mayBeClaimed = isUnanswered(thrown);
        throw thrown;
      },
    );
    if (!('verdict' in answer)) {
      // Behind the claim: what lies here and was never claimed would count as sent.
      await copy.file.append(records);
      hold(answer);
      return shared.head.keep();
    }
    // Somebody came between, or speaks against it: the rules say it in their words, or the op is in hand without records.
    const again = { first, standing: standingAfter(first), looked: await refuseFrom(shared, claim), copy };
    const inHand = hold(await claimed(shared, claim, again));
    await shared.head.keep();
    if (sent) throw new OutdatedFacts(op);
    await inHand.file.append(records);
    await inHand.file.sync();
  }

  // By a copy that is left the next command ends the lease of a claim that arrived.
  const unclaimed = () => copy.end(mayBeClaimed ? 'left' : 'gone');

  return {
    op,
    lost: lost.signal,
    mayLeave: async () => (await tape?.mayLeave?.()) ?? false,
    file: {
      ...copy.file,
      async append(bytes) {
        if (tape === undefined) pending.push(bytes);
        else await tape.file.append(bytes);
      },
      async sync() {
        if (tape !== undefined) return tape.file.sync();
        const records = Buffer.concat(pending);
        pending = [];
        if (records.length > 0) await claimWith(records);
      },
    },
    async abandon() {
      if (tape !== undefined) return tape.abandon();
      await copy.file.close();
      await unclaimed();
    },
    release: async finished => (tape === undefined ? unclaimed() : tape.release(finished)),
  };
}

function standingAfter(bytes: Uint8Array) {
  const standing = createStanding();
  standing.read(bytes);
  return standing;
}
