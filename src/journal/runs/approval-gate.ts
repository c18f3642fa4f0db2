/**
 * Plans that other persons must agree to. Whoever begins an op asks here whether it is held, and whoever takes one up asks
 * here whether it was approved: no other way leads to a run that sends.
 */
import { CliError } from '../../core/errors.ts';
import { capital } from '../../core/row-words.ts';
import { countedApprovals } from '../approvals/counted.ts';
import { readPayload } from '../approvals/payload.ts';
import type { OpStore } from '../store/op-store.ts';
import type { RunPlan } from '../types.ts';
import type { ItemRecord, PlanRecord } from '../wal/records.ts';
import type { History } from '../wal/replay.ts';

/** A plan with its requests, before anything of it is written. */
export interface UnwrittenPlan {
  readonly plan: RunPlan;
  readonly record: PlanRecord;
  readonly items: Iterable<ItemRecord>;
}

export interface ApprovalGate {
  /** Why a plan would be held, in words; undefined where it would not. Nothing is written. */
  foresee(plan: Pick<RunPlan, 'rows'>): Promise<string | undefined>;
  /**
   * Begins a plan by `begin`, with what is to be signed where a rule holds it. No other plan that the same sum of the day
   * counts for is judged meanwhile. Throws `guarded` for a rule that nobody can meet.
   */
  judge<T>(planned: UnwrittenPlan, begin: (request: string | undefined) => Promise<T>): Promise<T>;
  /**
   * The approvals that count, of an op that is held. Throws `pending_approval` where there are too few, `guarded` and
   * `check_failed` for an approval that must not count and for a request that came to nothing.
   */
  verify(history: History): Promise<VerifiedApprovals>;
  /** Whether as many persons as it needs have approved an op that is held, and it has not expired. Nothing is written. */
  isApproved(history: History): Promise<boolean>;
  /**
   * Of an op that is not held, before rows of it are sent that never were: what released it, and whether a rule holds it
   * now. Throws `check_failed` where its approvals are none, `guarded` where it was begun without any and needs them.
   */
  recheck(history: History): Promise<void>;
  /** What is wrong with the approvals of an op, in words; undefined for one that needed none. */
  flaw(history: History): Promise<string | undefined>;
  /** The refusal of an op that is held. */
  pending(history: Pick<History, 'plan'>): Promise<CliError>;
}

export interface VerifiedApprovals {
  readonly persons: readonly string[];
  /** Their texts. */
  readonly envelopes: readonly string[];
}

/** An op that is held, where nothing here knows approvals. Who reads the message alone must know what goes on. */
export function pendingElsewhere({ plan: { op } }: Pick<History, 'plan'>, isApproved = false): CliError {
  const how = `the command line sends it: cardwright ops resume ${op}`;
  return new CliError('pending_approval', {
    message: isApproved
      ? `${op} is approved, and was not sent yet. ${capital(how)}`
      : `${op} is held until other persons have approved it. Then ${how}`,
    hint: `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

/** By the persons of a journal that says itself who approves; false where the profile does. */
export async function isApprovedIn({ requests }: Pick<OpStore, 'requests'>, { plan }: History): Promise<boolean> {
  const standing = await requests?.account?.standing();
  if (requests === undefined || standing === undefined || plan.approval === undefined) return false;
  const bytes = Buffer.from(plan.approval);
  const payload = readPayload(bytes);
  const approvers = standing.approvers.filter(({ removedAt }) => removedAt === undefined);
  const given = (await requests.approvals(plan.op)).map(text => ({ name: payload.id, text }));
  const { approvals } = countedApprovals({ payload, bytes, approvers }, given);
  const needed = Math.max(payload.needed, standing.rule.needed);
  return approvals.length >= needed && standing.now < Date.parse(payload.expires_at);
}

/** Who has ended a request, and why. */
export function deniedWords({ plan: { op }, denied }: Pick<History, 'plan' | 'denied'>): string {
  const { why, who, note } = denied ?? { why: 'rejected', who: 'nobody', note: '' };
  return {
    rejected: `the request for ${op} was rejected by ${who}: ${note}`,
    expired: `the request for ${op} has expired: ${note}`,
    stale: `the request for ${op} no longer fits: ${note}`,
  }[why];
}

/** An op whose request came to nothing. */
export function cameToNothing(history: Pick<History, 'plan' | 'denied'>): CliError {
  const { op } = history.plan;
  return new CliError('guarded', {
    message: `${deniedWords(history)}. Nothing of it was or will be sent`,
    notes: ['The same command again asks anew.'],
    reason: `approval_${history.denied?.why ?? 'rejected'}`,
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
