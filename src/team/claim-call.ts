/** One claim as a call of the database, and the rules beside it. */
import { CliError } from '../core/errors.ts';
import type { Claim, Tape } from '../journal/store/op-store.ts';
import { keyInUse } from '../journal/store/refusals.ts';
import type { ClaimResult } from './calls.ts';
import { factsOf, refusalOf, wantedOf } from './claims.ts';
import { type LocalCopy, localCopy } from './local-copies.ts';
import type { SharedOps } from './shared-ops.ts';
import { sharedTape } from './shared-tape.ts';
import type { Standing } from './standing.ts';

/** How far the chain was before the rules looked. Throws what they say. */
export async function refuseFrom(shared: SharedOps, claim: Claim): Promise<number> {
  const looked = shared.head.looked();
  const toldBefore = shared.recent;
  shared.looking = new Map();
  try {
    await claim.refuse();
    return looked;
  } catch (thrown) {
    // Whoever has waited has asked anew already.
    if (toldBefore === undefined || shared.recent === undefined) throw thrown;
  } finally {
    shared.looking = undefined;
  }
  // Who was in the way may be through by now.
  shared.recent = undefined;
  return refuseFrom(shared, claim);
}

export interface Claiming {
  /** The lines that go with the claim. */
  readonly first: Uint8Array;
  /** After them. */
  readonly standing: Standing;
  /** How far the chain was when the rules looked. */
  readonly looked: number;
  /** It holds them already; made when left out. */
  readonly copy?: LocalCopy | undefined;
}

/** One call of the database. */
export async function claimOnce(
  shared: SharedOps,
  claim: Claim,
  {
    standing,
    first,
    looked,
    copy,
    nonce,
    sent,
  }: Omit<Claiming, 'looked'> & {
    readonly looked: number | undefined;
    readonly nonce: string;
    readonly sent?: boolean;
  },
): Promise<Tape | Exclude<ClaimResult, { verdict: 'claimed' }>> {
  const { statements, head, clock } = shared;
  const machine = await shared.machine();
  const more = { nonce, known: head.known(), machine, looked, ...(sent && { sent }) };
  const wanted = { ...wantedOf(shared, claim, standing), ...more };
  const facts = factsOf(claim.record, 'begun');
  const since = clock.monotonic();
  const answer = await statements().claim(wanted, first, facts);
  head.learn(answer.head);
  shared.recent = undefined;
  if (answer.verdict !== 'claimed') {
    shared.mayHold ||= answer.verdict === 'pending';
    return answer;
  }
  const { op, by, freely, intents = [], rows } = wanted;
  const { epoch, n, lease_ms: leaseMs } = answer;
  const endsUntold = !wanted.bulk && (freely || intents.length === rows);
  const [reserved, kept] = [wanted.spending.total, copy ?? (await localCopy(shared, { op, by, bytes: first }))];
  return sharedTape(shared, { op, epoch, n, leaseMs, reserved, since, facts, endsUntold, standing, copy: kept });
}

/** The same call again where somebody came between and the rules do not know him; a second no for one op is the last word. */
export async function claimed(shared: SharedOps, claim: Claim, claiming: Claiming): Promise<Tape> {
  const nonce = newNonce(shared);
  const seen = new Set<string>();
  let { looked } = claiming;
  for (let changes = 0; ; ) {
    const answer = await claimOnce(shared, claim, {
      ...claiming,
      nonce,
      looked: changes < MOST_CHANGES ? looked : undefined,
    });
    if (!('verdict' in answer)) return answer;
    looked = await refuseFrom(shared, claim);
    if (answer.verdict === 'changed') {
      changes += 1;
      continue;
    }
    if (answer.verdict === 'key') await shared.keyUnknown?.();
    const passing = passingOp(answer);
    if (passing === undefined || seen.has(passing)) throw refusedBy(shared, answer, claim);
    seen.add(passing);
  }
}

/** Whether the database may have carried out the call that has thrown this. */
export function isUnanswered(thrown: unknown): boolean {
  return thrown instanceof CliError && thrown.facts.reason === 'journal_unreachable';
}

export function newNonce({ random }: SharedOps): string {
  return Buffer.from(random.bytes(16)).toString('hex');
}

/** Where others claim all the time the rules are asked so often; then the database alone decides. */
const MOST_CHANGES = 5;

/** Somebody may be through by now with this op; undefined where it makes no difference. */
function passingOp(answer: ClaimResult): string | undefined {
  if (answer.verdict === 'twin') return answer.standing.op;
  return answer.verdict === 'repeated' ? answer.op : undefined;
}

function refusedBy(
  { account, role }: SharedOps,
  answer: Exclude<ClaimResult, { verdict: 'claimed' | 'changed' }>,
  { record }: Claim,
): CliError {
  const { given_key: key, key_print } = record;
  const refused = refusalOf(answer, { account, key_print, role });
  const isKey = key !== undefined && 'key' in answer && answer.key !== undefined;
  return isKey ? (keyInUse(key, refused) as CliError) : refused;
}
