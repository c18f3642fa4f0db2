/** An op of a shared journal taken up: one's own, another operator's with a reason, or one that was approved. */
import { CliError } from '../core/errors.ts';
import { readEnvelope } from '../journal/approvals/envelope.ts';
import { requestIdOf } from '../journal/approvals/request-id.ts';
import type { TakeOver, Tape } from '../journal/store/op-store.ts';
import { opInUse, requestExpired } from '../journal/store/refusals.ts';
import { encodeLines } from '../journal/wal/codec.ts';
import type { Taken, TakeResult } from './calls.ts';
import { isUnanswered } from './claim-call.ts';
import { factsOf, laterNote, overCap, planIn } from './claims.ts';
import { leaseMsFor } from './lease.ts';
import { keepShown, keptCopies, type LocalCopy, localCopy } from './local-copies.ts';
import { lostElsewhere, restoredWarning } from './lost-records.ts';
import type { SharedOps } from './shared-ops.ts';
import { sharedTape } from './shared-tape.ts';
import { comparedWith } from './spool.ts';
import { createStanding } from './standing.ts';
import { endUntold } from './untold.ts';

/** Takes an op up. Throws `guarded` where another process or operator has it, and as `release` of what was held. */
export async function takeOp(shared: SharedOps, op: string, how: TakeOver = {}): Promise<Tape> {
  const { reason, approved, settles = false } = how;
  if (!settles) await bringKept(shared, op);
  const inHand = approved && (await releaseOp(shared, op, approved));
  if (inHand !== undefined) return inHand;
  return withCopy(shared, op, async taking => {
    const { statements, head } = shared;
    const why = reason === undefined ? {} : { reason };
    const call = { ...(await callOf(shared, taking)), resume: reason === undefined };
    const answer = await statements().take(call, { event: 'taken', op, ...why });
    head.learn(answer.head);
    if (answer.verdict === 'finished') {
      if (reason !== undefined)
        shared.notice(`${op} has ended already: nothing is taken over, and the reason is not kept`);
      return overTape(shared, taking);
    }
    if (answer.verdict !== 'taken') throw await notTaken(shared, op, answer);
    return takenTape(shared, taking, answer);
  });
}

/**
 * What this machine keeps of it may tell of rows that were sent, and the database may have lost that. Throws `check_failed` where
 * it cannot be brought back.
 */
async function bringKept(shared: SharedOps, op: string): Promise<void> {
  for (const copy of await keptCopies(shared)) {
    if (copy.op !== op) continue;
    const found = await comparedWith(shared, copy);
    if (found === undefined || found.segments.length === 0) continue;
    const [head] = found.isLost ? await shared.statements().heads(shared.account, { op }) : [];
    if (head?.state === 'running') throw lostElsewhere(head, found);
    if (found.restored > 0) shared.notice(restoredWarning(op, found.restored));
  }
}

/** The copy is there before the database hands the op over: by it the next command knows a process that died in between. */
async function withCopy<T>(shared: SharedOps, op: string, take: (taking: Taking) => Promise<T>): Promise<T> {
  const by = Buffer.from(shared.random.bytes(4)).toString('hex');
  const copy = await localCopy(shared, { op, by, bytes: new Uint8Array() });
  try {
    return await take({ op, by, since: shared.clock.monotonic(), copy });
  } catch (thrown) {
    await copy.file.close();
    await copy.end(isUnanswered(thrown) ? 'left' : 'gone');
    throw thrown;
  }
}

async function callOf(shared: SharedOps, { op, by }: Pick<Taking, 'op' | 'by'>) {
  const { account, host, head } = shared;
  return { account, known: head.known(), machine: await shared.machine(), op, by, host, ttl_ms: leaseMsFor(shared) };
}

/** How often it has changed hands, the claim among them. */
async function timesTaken({ statements, account }: SharedOps, op: string): Promise<number> {
  const [head] = await statements().heads(account, { op });
  return head?.epoch ?? 1;
}

interface Taking {
  readonly op: string;
  readonly by: string;
  /** Monotonic ms when the call began. */
  readonly since: number;
  /** Empty. */
  readonly copy: LocalCopy;
}

async function takenTape(shared: SharedOps, { op, since, copy }: Taking, answer: Taken): Promise<Tape> {
  const { statements, account, head, clock } = shared;
  // Nobody else writes from here on.
  const segments = await statements().readOp(account, op, 1);
  const bytes = Buffer.concat(segments.map(segment => segment.bytes));
  const standing = createStanding();
  standing.read(bytes);
  const [known] = await statements().heads(account, { op, plan: true });
  const plan = planIn(known?.plan ?? undefined);
  const facts = plan === undefined ? { op } : factsOf(plan, 'taken');
  await copy.file.append(bytes);
  const { epoch, n, lease_ms: leaseMs, may_be_sent: mayBeSent } = answer;
  const formerLeaseEnd = clock.now() - answer.since_lease_ms;
  const reserved = known?.reserved ?? 0;
  await head.keep();
  return sharedTape(shared, {
    op,
    epoch,
    n,
    leaseMs,
    reserved,
    told: known?.spending ?? undefined,
    since,
    formerLeaseEnd,
    facts,
    standing,
    copy,
    mayBeSent,
  });
}

/** What is over may still be looked at; what is written behind its end is kept nowhere. */
async function overTape(shared: SharedOps, { op, copy }: Taking): Promise<Tape> {
  const segments = await shared.statements().readOp(shared.account, op, 1);
  await copy.file.append(Buffer.concat(segments.map(({ bytes }) => bytes)));
  const end = () => copy.end('gone');
  return {
    op,
    file: copy.file,
    abandon: end,
    async release(finished) {
      await end();
      if (!finished) return;
      // Without these who began the op is told once more, now or behind a failover.
      await endUntold(shared, op).catch(() => undefined);
      await keepShown(shared, op).catch(() => undefined);
    },
  };
}

/**
 * An op that was approved, in hand from here on: its request is used up, its cents are held, and APPROVED stands in its
 * journal. Undefined for one that was released before. Throws what the database says against it; nothing was sent.
 */
function releaseOp(shared: SharedOps, op: string, approved: Approved): Promise<Tape | undefined> {
  return withCopy(shared, op, taking => released(shared, taking, approved));
}

async function released(shared: SharedOps, taking: Taking, approved: Approved): Promise<Tape | undefined> {
  const { statements, account, clock, head } = shared;
  const { op, by, copy } = taking;
  const [known] = await statements().heads(account, { op, plan: true });
  const plan = planIn(known?.plan ?? undefined);
  const keys = approved.envelopes.flatMap(text => readEnvelope(text, op).signatures.map(({ keyid }) => keyid));
  const call = { ...(await callOf(shared, taking)), keys };
  const record = { t: 'APPROVED', ...approved, at: clock.now() } as const;
  const facts = plan === undefined ? { event: 'released', op } : factsOf(plan, 'released');
  const answer = await statements().release(call, encodeLines(by, 0, [record]), facts);
  head.learn(answer.head);
  switch (answer.verdict) {
    case 'used':
      await copy.file.close();
      await copy.end('gone');
      return undefined;
    case 'taken':
      return takenTape(shared, taking, answer);
    case 'finished':
      return overTape(shared, taking);
    case 'cap':
      throw overCap(answer).with({ op });
    case 'expired':
      throw requestExpired(op);
    case 'unapproved':
      throw tooFew(op, answer);
    default:
      throw await notTaken(shared, op, answer);
  }
}

type Approved = NonNullable<TakeOver['approved']>;

function tooFew(op: string, { have, needed }: { readonly have: number; readonly needed: number }): CliError {
  return new CliError('pending_approval', {
    message: `${op} is held until ${needed} persons have approved it; by the shared journal ${have} have`,
    reason: 'approval',
    hint: `cardwright approvals show ${requestIdOf(op)}`,
    outcome: 'not_sent',
    op,
  });
}

async function notTaken(
  shared: SharedOps,
  op: string,
  answer: Exclude<TakeResult, { verdict: 'taken' | 'finished' }>,
): Promise<unknown> {
  const { role } = shared;
  if (answer.verdict === 'absent') {
    return new CliError('usage', {
      message: `there is no operation ${op} in the shared journal`,
      hint: 'cardwright ops list',
      outcome: 'not_sent',
      op,
    });
  }
  const { holder, host } = answer;
  if (answer.verdict === 'held') {
    const seconds = Math.ceil(answer.left_ms / 1000);
    const message = `${holder} on ${host} has it; without a sign of life it can be taken up in ${seconds} s`;
    const takeUp = holder === role ? `resume ${op}` : `takeover ${op} --reason "why"`;
    const notes = [laterNote(takeUp)];
    return opInUse(op, new CliError('guarded', { message, notes, outcome: 'not_sent', retryAfterMs: answer.left_ms }));
  }
  const epoch = await timesTaken(shared, op);
  return new CliError('guarded', {
    message: `${op} was ${epoch > 1 ? 'taken up last' : 'begun'} by ${holder} on ${host}, who is another operator`,
    notes: [
      'Who takes it over says why; the reason stands in the audit log of the account.',
      ...(epoch > 1 ? ['Who began it takes it back in the same way.'] : []),
    ],
    hint: `cardwright ops takeover ${op} --reason "why"`,
    outcome: 'not_sent',
    op,
  });
}
