/** What other persons say to ops that are held, in the database that several machines share. */
import { CliError } from '../core/errors.ts';
import { cents } from '../core/money.ts';
import { type Approver, keyIdOf } from '../journal/approvals/approvers.ts';
import { readEnvelope } from '../journal/approvals/envelope.ts';
import { ruleOfAccount } from '../journal/approvals/rule.ts';
import type { ApprovingAccount, PendingRequests } from '../journal/store/op-store.ts';
import { notPending, requestExpired } from '../journal/store/refusals.ts';
import { encodeLines } from '../journal/wal/codec.ts';
import type { ApprovalRecord, DeniedRecord, PlanRecord } from '../journal/wal/records.ts';
import type { AccountApprover } from './approval-statements.ts';
import type { OpHead } from './calls.ts';
import { factsOf, planIn } from './claims.ts';
import type { SharedOps } from './shared-ops.ts';

export function sharedRequests(shared: () => Promise<SharedOps>): PendingRequests {
  return {
    journal: async () => (await shared()).journalId,
    async approvals(op) {
      const { statements, account } = await shared();
      return (await statements().requestOf(account, op))?.approvals ?? [];
    },
    keep: async (op, approval) => keep(await shared(), op, approval),
    deny: async (op, denied) => deny(await shared(), op, denied),
    account: approvingAccount(shared),
  };
}

function approvingAccount(shared: () => Promise<SharedOps>): ApprovingAccount {
  return {
    name: async () => (await shared()).account,
    async requester() {
      const { role, host } = await shared();
      return `${role}@${host}`;
    },
    mayHold: async () => (await shared()).mayHold,
    async standing() {
      const { statements, account } = await shared();
      const { rule, approvers, left_today, clock_ms } = await statements().approvalStanding(account);
      return {
        rule: ruleOfAccount(rule),
        approvers: approvers.map(approverOf),
        leftToday: cents(left_today),
        now: clock_ms,
      };
    },
    async usedAt(op) {
      const { statements, account } = await shared();
      const standing = await statements().requestOf(account, op);
      return standing?.state === 'used' ? (standing.used_ms ?? undefined) : undefined;
    },
  };
}

/** Roles are the names of a person in the journal. */
function approverOf({ person, key: text, roles, removed_ms }: AccountApprover) {
  const key = Buffer.from(text, 'base64');
  const approver: Approver = { person, key, keyid: keyIdOf(key), users: roles };
  return { ...approver, ...(removed_ms !== null && { removedAt: removed_ms }) };
}

interface KnownPlan {
  readonly head: OpHead;
  readonly plan: PlanRecord;
}

async function planOf({ statements, account }: SharedOps, op: string): Promise<KnownPlan> {
  const [head] = await statements().heads(account, { op, plan: true });
  const plan = planIn(head?.plan ?? undefined);
  if (head === undefined || plan === undefined) throw notPending(op);
  return { head, plan };
}

async function keep(shared: SharedOps, op: string, { envelope }: ApprovalRecord): Promise<void> {
  const { statements, account, host, head } = shared;
  const { plan } = await planOf(shared, op);
  const keyid = readEnvelope(envelope, op).signatures[0]?.keyid ?? '';
  const call = { account, known: head.known(), op, host, keyid, envelope };
  const answer = await statements().approve(call, { ...factsOf(plan, 'approved'), key: keyid });
  head.learn(answer.head);
  await head.keep();
  if (answer.verdict !== 'approved') throw notKept(shared, op, answer.verdict);
}

function notKept({ role }: SharedOps, op: string, verdict: string): CliError {
  const [kind, reason, message] =
    verdict === 'untrusted'
      ? (['guarded', 'approval_untrusted', `the key is not among the approvers as one of ${role}`] as const)
      : verdict === 'own'
        ? ([
            'guarded',
            'approval_own',
            `${op} was asked for by the same person; nobody approves his own request`,
          ] as const)
        : (['check_failed', 'approval_other', `what was signed is not the request for ${op}`] as const);
  if (verdict === 'expired') return requestExpired(op);
  if (verdict === 'over' || verdict === 'absent') return notPending(op);
  return new CliError(kind, { message, reason, hint: `cardwright ops show ${op}`, outcome: 'not_sent', op });
}

async function deny(shared: SharedOps, op: string, denied: DeniedRecord): Promise<void> {
  const { statements, account, random, host, head } = shared;
  const { head: known, plan } = await planOf(shared, op);
  const by = Buffer.from(random.bytes(4)).toString('hex');
  const end = { t: 'END', done: 0, refused: 0, not_sent: plan.rows, cents: 0, at: denied.at } as const;
  const counts = { done: 0, refused: 0, unknown: 0, not_sent: plan.rows, open: 0 };
  const shown = { state: 'finished', at: denied.at, counts } as const;
  const call = { account, known: head.known(), op, by, host, n: known.n + 1, shown, why: denied.why };
  const facts = { ...factsOf(plan, denied.why), reason: denied.note };
  const answer = await statements().deny(call, encodeLines(by, 0, [denied, end]), facts);
  head.learn(answer.head);
  await head.keep();
  if (answer.verdict === 'other') throw notOurs(shared, op);
  if (answer.verdict !== 'denied') throw notPending(op);
}

function notOurs({ role }: SharedOps, op: string): CliError {
  return new CliError('guarded', {
    message: `${op} was asked for by somebody else, and ${role} does not approve in this account`,
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
