/** Which plans are held, by the rules of the profile and of the account, and the request that such a plan begins with. */
import { join } from 'node:path';
import { DAY, SECOND } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, sumCents } from '../core/money.ts';
import { spendingOf } from '../core/spending.ts';
import { withLock } from '../files/lock.ts';
import { preparePrivateFolder } from '../files/private-files.ts';
import { isRequester } from '../journal/approvals/approvers.ts';
import { type ApprovalPayload, payloadText } from '../journal/approvals/payload.ts';
import { type ApprovalRule, isAnyRule, judgedRows, stricter, whyPending } from '../journal/approvals/rule.ts';
import type { UnwrittenPlan } from '../journal/runs/approval-gate.ts';
import { spentByOp } from '../journal/runs/spent.ts';
import type { ApprovalStanding } from '../journal/store/op-store.ts';
import { isPendingByAccount } from '../journal/store/refusals.ts';
import type { RunPlan } from '../journal/types.ts';
import type { ApprovalContext } from './approval-parts.ts';
import { requestPayload } from './approval-request.ts';

/** Why a plan would be held, in words; undefined for one that would not. Nothing is written. */
export async function whyPendingNow(around: ApprovalContext, judging: JudgedNow): Promise<string | undefined> {
  return whyHeld(around, { judging, own: await around.parts.profileRule(), account: await standingIfAsked(around) });
}

/** Begins a plan that nobody has to approve, or one that waits with a request in it. */
export async function beginUnderRules<T>(around: ApprovalContext, planned: UnwrittenPlan, begin: Begin<T>): Promise<T> {
  const account = await around.parts.account();
  try {
    return await judged(around, { planned, begin, account: await standingIfAsked(around) });
  } catch (thrown) {
    // A rule was made since, or others have moved money since: the claim has said so.
    if (account === undefined || !isPendingByAccount(thrown)) throw thrown;
    return judged(around, { planned, begin, account: await account.standing() });
  }
}

/** What the account of a shared journal says, where it may hold anything. */
async function standingIfAsked({ parts }: ApprovalContext): Promise<ApprovalStanding | undefined> {
  const account = await parts.account();
  return (await account?.mayHold()) === true ? account?.standing() : undefined;
}

type Begin<T> = (request?: string) => Promise<T>;

interface Judging<T> {
  readonly planned: UnwrittenPlan;
  readonly begin: Begin<T>;
  /** What the account of a shared journal says, where it may hold anything. */
  readonly account: ApprovalStanding | undefined;
}

async function judged<T>(around: ApprovalContext, { planned, begin, account }: Judging<T>): Promise<T> {
  const own = await around.parts.profileRule();
  const ofDay = own.day !== undefined && spendingOf(planned.plan.rows).total > 0;
  const work = async () => {
    const { profile, at } = planned.record;
    const judging = { rows: planned.plan.rows, profile, at };
    const why = await whyHeld(around, { judging, own, account });
    if (why === undefined) return begin(undefined);
    return begin(await requestFor(around, { planned, why, account }));
  };
  return ofDay ? oneAtATime(around, planned, work) : work();
}

interface JudgedNow extends Pick<RunPlan, 'rows'> {
  readonly profile: string;
  /** ms UTC. */
  readonly at: number;
}

/** Why a plan is held, in words. Nothing is written. */
async function whyHeld(
  around: ApprovalContext,
  {
    judging,
    own,
    account,
  }: Pick<Judging<unknown>, 'account'> & { readonly judging: JudgedNow; readonly own: ApprovalRule },
): Promise<string | undefined> {
  const { rows } = judging;
  const plan = { ...judgedRows(rows), spending: spendingOf(rows) };
  const ofDay = own.day !== undefined && plan.spending.total > 0;
  const today = ofDay ? await leftToday(around, judging) : sumCents([]);
  const why = isAnyRule(own) ? whyPending(own, { ...plan, today }) : undefined;
  return why ?? (account && whyPending(account.rule, { ...plan, today: account.leftToday }));
}

async function requestFor(
  around: ApprovalContext,
  { planned, why, account }: Pick<Judging<unknown>, 'planned' | 'account'> & { readonly why: string },
): Promise<string> {
  const { parts } = around;
  const rule = account === undefined ? await parts.rule() : stricter(await parts.profileRule(), account.rule);
  const requester = await parts.requester();
  await refuseTooFew(around, { needed: rule.needed, requester });
  const journal = await (await parts.requests()).journal();
  const now = account?.now ?? ((await parts.account()) === undefined ? planned.record.at : await parts.now(0));
  const named = { account: await parts.accountOf(planned.record), journal, requester, now };
  return payloadText(await requestPayload({ planned, rule, why, ...named, reader: await around.reader() }));
}

/** Two commands at once would each find the sum of the day below the rule. */
async function oneAtATime<T>({ host }: ApprovalContext, { record }: UnwrittenPlan, work: () => Promise<T>): Promise<T> {
  const { platform, noise: random, clock, pid, folders } = host;
  const folder = join(folders.state, 'spend');
  await preparePrivateFolder(folder, { platform, random, warn: () => undefined });
  const isRunning = (other: number) => host.isRunning(other);
  const options = { pid, clock, random, isRunning, timeoutMs: 30 * SECOND };
  return withLock(join(folder, `${record.profile}.approval.lock`), options, work);
}

async function leftToday({ store }: ApprovalContext, { profile, at }: JudgedNow): Promise<Cents> {
  const since = Math.floor(at / DAY) * DAY;
  const asked = { profile, since, writtenSince: since - DAY, unapproved: true };
  return sumCents([...(await spentByOp(await store(), asked)).values()]);
}

/** A request that could never be met is no request. */
async function refuseTooFew(
  { parts }: ApprovalContext,
  { needed, requester }: { needed: number; requester: Pick<ApprovalPayload, 'requested_by' | 'requester_key'> },
): Promise<void> {
  const approvers = await parts.approvers();
  const others = approvers.filter(each => !isRequester(each, approvers, requester));
  const persons = [...new Set(others.map(({ person }) => person))];
  if (persons.length >= needed) return;
  const own = [...new Set(approvers.map(({ person }) => person))];
  throw new CliError('guarded', {
    message: tooFewWords({ needed, who: requester.requested_by, others: persons, own }),
    notes: [await howToAdd(parts)],
    reason: 'approvers_file',
    hint: 'cardwright help approvals',
    outcome: 'not_sent',
  });
}

/** A key becomes an approver by an admin of a shared journal, or in the file of the profile. */
async function howToAdd(parts: ApprovalContext['parts']): Promise<string> {
  const makes =
    'Another person makes a key, cardwright approvals key create, and hands on the line of approvals key show -q';
  const shared = await parts.account();
  if (shared === undefined) return `${makes}. It is added to the approvers_file.`;
  const call = `select cardwright.add_approver('${await shared.name()}', '<line>', '{<role>}')`;
  return `${makes}. An admin of the journal adds it: ${call}, with the login roles of that person.`;
}

interface TooFew {
  readonly needed: number;
  readonly who: string;
  /** Persons who may approve it. */
  readonly others: readonly string[];
  /** All persons among the approvers; where there are no others, the requester himself. */
  readonly own: readonly string[];
}

function tooFewWords({ needed, who, others, own }: TooFew): string {
  if (own.length === 0) return `nobody may approve what ${who} asks for: there are no approvers`;
  if (others.length === 0) {
    const are = own.length === 1 ? 'is an approver' : 'are approvers, and they are the one who asks';
    return `no other person may approve what ${who} asks for: only ${own.join(', ')} ${are}`;
  }
  return `what ${who} asks for needs the approval of ${needed} other persons, and only ${others.join(', ')} may give it`;
}
