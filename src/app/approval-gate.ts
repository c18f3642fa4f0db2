/** The gate of the journal: which plans are held, and whether those that were may be sent (docs/design/approvals.md). */
import { CliError } from '../core/errors.ts';
import { type Counted, countedApprovals } from '../journal/approvals/counted.ts';
import { type ApprovalPayload, readPayload } from '../journal/approvals/payload.ts';
import { checkedRequest } from '../journal/approvals/request-file.ts';
import { type ApprovalGate, cameToNothing } from '../journal/runs/approval-gate.ts';
import { historyNamed } from '../journal/store/read-ops.ts';
import type { DeniedRecord } from '../journal/wal/records.ts';
import type { History } from '../journal/wal/replay.ts';
import { beginUnderRules, whyPendingNow } from './approval-judging.ts';
import { type ApprovalContext, type ApprovalDependencies, approvalParts } from './approval-parts.ts';
import { neededFor, pendingError } from './approval-pending.ts';
import { recheckOpenRows, refuseForged } from './approval-recheck.ts';
import { cardBefore } from './approval-request.ts';

export function approvalGate(surroundings: ApprovalDependencies): ApprovalGate {
  const around = { ...surroundings, parts: approvalParts(surroundings) };
  return {
    async foresee({ rows }) {
      const { profile } = await around.opened.identity();
      return whyPendingNow(around, { rows, profile, at: around.host.clock.now() });
    },
    async judge(planned, begin) {
      // A file that cannot be read is a wrong command line: nothing is asked for.
      await around.parts.given();
      return beginUnderRules(around, planned, begin);
    },
    verify: history => verify(around, history),
    isApproved: history => isApproved(around, history),
    recheck: history => recheck(around, history),
    flaw: history => flawOf(around, history),
    async pending({ plan: { op } }) {
      const history = await historyNamed(await around.store(), op);
      const counted = await countedOf(around, history);
      const pending = await pendingError(around, history, counted);
      const [other] = counted.refused;
      if (other === undefined || (await around.parts.given()).length === 0) return pending;
      // An approval that was given and is for something else is a mistake of the caller.
      const { message, notes = [], hint } = pending.facts;
      return other.with({ notes: [`${message}.`, ...notes], ...(hint !== undefined && { hint }) });
    },
  };
}

async function recheck(around: ApprovalContext, history: History): Promise<void> {
  const account = await around.parts.account();
  if (account !== undefined) await recheckOpenRows(account, history, each => requestOf(around, each));
}

async function flawOf({ parts }: ApprovalContext, history: History): Promise<string | undefined> {
  const account = history.approved === undefined ? undefined : await parts.account();
  if (account === undefined) return undefined;
  try {
    await refuseForged(account, history);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind === 'check_failed') return thrown.facts.message;
    throw thrown;
  }
}

async function verify(around: ApprovalContext, history: History) {
  const { payload } = await requestOf(around, history);
  await refuseExpired(around, history, payload);
  const counted = await countedOf(around, history);
  const { approvals, refused } = counted;
  const needed = await neededFor(around, payload);
  const [first] = refused;
  if (approvals.length < needed) throw first ?? (await pendingError(around, history, counted));
  for (const { message } of refused) around.notice(`warning: ${message}; it does not count`);
  await refuseStale(around, history, payload);
  return { persons: approvals.map(({ person }) => person), envelopes: approvals.map(({ text }) => text) };
}

async function isApproved(around: ApprovalContext, history: History): Promise<boolean> {
  const payload = readPayload(Buffer.from(history.plan.approval ?? ''));
  if ((await around.parts.now(history.plan.at)) >= Date.parse(payload.expires_at)) return false;
  return (await countedOf(around, history)).approvals.length >= (await neededFor(around, payload));
}

/** The request of an op, checked against all that stands beside it in the journal. */
async function requestOf({ parts }: ApprovalContext, { plan, rows }: History) {
  const items = [...rows.values()].map(({ item }) => item);
  const request = checkedRequest(Buffer.from(plan.approval ?? ''), items);
  const { payload } = request;
  const journal = await (await parts.requests()).journal();
  const isSame =
    payload.op === plan.op &&
    payload.journal === journal &&
    payload.account === (await parts.accountOf(plan)) &&
    payload.origin === plan.origin &&
    payload.mode === plan.mode &&
    payload.rows === plan.rows &&
    payload.cents === plan.total_cents &&
    payload.command === plan.command;
  if (isSame) return request;
  throw new CliError('check_failed', {
    message: `the request for ${plan.op} is that of another operation, account or journal`,
    reason: 'approval_account',
    hint: `cardwright ops show ${plan.op}`,
    outcome: 'not_sent',
    op: plan.op,
  });
}

async function countedOf({ parts }: ApprovalContext, history: History): Promise<Counted> {
  const bytes = Buffer.from(history.plan.approval ?? '');
  const kept = await (await parts.requests()).approvals(history.plan.op);
  const stored = kept.map((text, index) => ({
    name: `approval ${index + 1} of ${history.plan.op}`,
    text,
    isKept: true as const,
  }));
  const asked = {
    payload: readPayload(bytes),
    bytes,
    approvers: await parts.approvers(),
    removed: await parts.removed(),
  };
  return countedApprovals(asked, [...stored, ...(await parts.given())]);
}

async function refuseExpired(around: ApprovalContext, history: History, payload: ApprovalPayload): Promise<void> {
  const [asked, expires] = [history.plan.at, Date.parse(payload.expires_at)];
  const now = await around.parts.now(asked);
  if (now < expires) return;
  await denied(around, history, { why: 'expired', note: `it stood until ${payload.expires_at}` });
}

/** What cannot be undone was approved for a card as it was. */
async function refuseStale(
  around: ApprovalContext,
  history: History,
  { before, targets }: ApprovalPayload,
): Promise<void> {
  const [target] = targets;
  if (before === undefined || target?.card_id === undefined) return;
  const now = await cardBefore(target.card_id, await around.reader());
  if (now?.status === before.status && now.balance_cents === before.balance_cents) return;
  const note = `${target.card_id} has another status or balance than when it was asked for`;
  await denied(around, history, { why: 'stale', note });
}

async function denied(
  { parts, host }: ApprovalContext,
  { plan }: History,
  { why, note }: Pick<DeniedRecord, 'why' | 'note'>,
): Promise<never> {
  const { requested_by: who } = await parts.requester();
  const record = { t: 'DENIED', why, note, who, at: host.clock.now() } as const;
  await (await parts.requests()).deny(plan.op, record);
  throw cameToNothing({ plan, denied: record });
}
