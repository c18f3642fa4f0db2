/** The gate of the journal: which plans are held, and whether those that were may be sent (docs/design/approvals.md). */
import { join, resolve } from 'node:path';
import { DAY, SECOND } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, sumCents } from '../core/money.ts';
import { shellWord } from '../core/shell-quote.ts';
import { spendingOf } from '../core/spending.ts';
import { withLock } from '../files/lock.ts';
import { createPrivate, preparePrivateFolder, systemCode } from '../files/private-files.ts';
import { isRequester } from '../journal/approvals/approvers.ts';
import { type Counted, countedApprovals } from '../journal/approvals/counted.ts';
import { type ApprovalPayload, type PlannedItem, payloadText, readPayload } from '../journal/approvals/payload.ts';
import { checkedRequest, requestFile } from '../journal/approvals/request-file.ts';
import { isAnyRule, whyPending } from '../journal/approvals/rule.ts';
import { shownRequest } from '../journal/approvals/shown-request.ts';
import { type ApprovalGate, cameToNothing, type UnwrittenPlan } from '../journal/runs/approval-gate.ts';
import { spentByOp } from '../journal/runs/spent.ts';
import { historyNamed } from '../journal/store/read-ops.ts';
import type { DeniedRecord } from '../journal/wal/records.ts';
import type { History } from '../journal/wal/replay.ts';
import { type ApprovalDependencies, type ApprovalParts, approvalParts } from './approval-parts.ts';
import { cardBefore, isIrreversible, requestPayload } from './approval-request.ts';

interface Around extends ApprovalDependencies {
  readonly parts: ApprovalParts;
}

export function approvalGate(surroundings: ApprovalDependencies): ApprovalGate {
  const around = { ...surroundings, parts: approvalParts(surroundings) };
  return {
    judge: (planned, begin) => judge(around, planned, begin),
    verify: history => verify(around, history),
    async pending({ plan: { op } }) {
      const history = await historyNamed(await around.store(), op);
      return pendingError(around, history, await countedOf(around, history));
    },
  };
}

async function judge<T>(around: Around, planned: UnwrittenPlan, begin: (request?: string) => Promise<T>): Promise<T> {
  const rule = await around.parts.rule();
  if (!isAnyRule(rule)) return begin(undefined);
  const { plan } = planned;
  const spending = spendingOf(plan.rows);
  const ofDay = rule.day !== undefined && spending.total > 0;
  const judged = async () => {
    const why = whyPending(rule, {
      spending,
      irreversible: isIrreversible(plan.rows),
      rows: [...plan.rows].filter(({ operation }) => operation !== 'cards.freeze').length,
      today: ofDay ? await leftToday(around, planned) : sumCents([]),
    });
    if (why === undefined) return begin(undefined);
    const requester = await around.parts.requester();
    await refuseTooFew(around, { needed: rule.needed, requester });
    const [requests, reader] = [await around.parts.requests(), await around.reader()];
    const journal = await requests.journal();
    return begin(payloadText(await requestPayload({ planned, rule, why, requester, journal, reader })));
  };
  return ofDay ? oneAtATime(around, planned, judged) : judged();
}

/** Two commands at once would each find the sum of the day below the rule. */
async function oneAtATime<T>({ host }: Around, { record }: UnwrittenPlan, work: () => Promise<T>): Promise<T> {
  const { platform, noise: random, clock, pid, folders } = host;
  const folder = join(folders.state, 'spend');
  await preparePrivateFolder(folder, { platform, random, warn: () => undefined });
  const isRunning = (other: number) => host.isRunning(other);
  const options = { pid, clock, random, isRunning, timeoutMs: 30 * SECOND };
  return withLock(join(folder, `${record.profile}.approval.lock`), options, work);
}

async function leftToday({ store }: Around, { record }: UnwrittenPlan): Promise<Cents> {
  const since = Math.floor(record.at / DAY) * DAY;
  const asked = { profile: record.profile, since, writtenSince: since - DAY, unapproved: true };
  return sumCents([...(await spentByOp(await store(), asked)).values()]);
}

/** A request that could never be met is no request. */
async function refuseTooFew(
  { parts }: Around,
  { needed, requester }: { needed: number; requester: Pick<ApprovalPayload, 'requested_by' | 'requester_key'> },
): Promise<void> {
  const approvers = await parts.approvers();
  const others = approvers.filter(each => !isRequester(each, approvers, requester));
  const persons = new Set(others.map(({ person }) => person)).size;
  if (persons >= needed) return;
  throw new CliError('guarded', {
    message: `this needs the approval of ${needed} other than ${requester.requested_by}, and the approvers are ${persons}`,
    reason: 'approvers_file',
    hint: 'cardwright approvals key show',
    outcome: 'not_sent',
  });
}

async function verify(around: Around, history: History) {
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

/** The request of an op, checked against all that stands beside it in the journal. */
async function requestOf({ parts }: Around, { plan, rows }: History) {
  const items = [...rows.values()].map(({ item }) => item);
  const request = checkedRequest(Buffer.from(plan.approval ?? ''), items);
  const { payload } = request;
  const journal = await (await parts.requests()).journal();
  const isSame =
    payload.op === plan.op &&
    payload.journal === journal &&
    payload.account === plan.profile &&
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

/** A rule that asks for more now applies to what was asked for before. */
async function neededFor({ parts }: Around, { needed }: ApprovalPayload): Promise<number> {
  return Math.max(needed, (await parts.rule()).needed);
}

async function countedOf({ parts }: Around, history: History): Promise<Counted> {
  const bytes = Buffer.from(history.plan.approval ?? '');
  const kept = await (await parts.requests()).approvals(history.plan.op);
  const stored = kept.map((text, index) => ({ name: `approval ${index + 1} of ${history.plan.op}`, text }));
  const asked = { payload: readPayload(bytes), bytes, approvers: await parts.approvers() };
  return countedApprovals(asked, [...stored, ...(await parts.given())]);
}

async function refuseExpired(around: Around, history: History, payload: ApprovalPayload): Promise<void> {
  const [asked, expires] = [history.plan.at, Date.parse(payload.expires_at)];
  const now = await around.parts.now(asked);
  if (now < expires) return;
  await denied(around, history, { why: 'expired', note: `it stood until ${payload.expires_at}` });
}

/** What cannot be undone was approved for a card as it was. */
async function refuseStale(around: Around, history: History, { before, targets }: ApprovalPayload): Promise<void> {
  const [target] = targets;
  if (before === undefined || target?.card_id === undefined) return;
  const now = await cardBefore(target.card_id, await around.reader());
  if (now?.status === before.status && now.balance_cents === before.balance_cents) return;
  const note = `${target.card_id} has another status or balance than when it was asked for`;
  await denied(around, history, { why: 'stale', note });
}

async function denied(
  { parts, host }: Around,
  { plan }: History,
  { why, note }: Pick<DeniedRecord, 'why' | 'note'>,
): Promise<never> {
  const { requested_by: who } = await parts.requester();
  const record = { t: 'DENIED', why, note, who, at: host.clock.now() } as const;
  await (await parts.requests()).deny(plan.op, record);
  throw cameToNothing({ plan, denied: record });
}

async function pendingError(around: Around, { plan, rows }: History, { approvals }: Counted): Promise<CliError> {
  const bytes = Buffer.from(plan.approval ?? '');
  const payload = readPayload(bytes);
  const needed = await neededFor(around, payload);
  const items = [...rows.values()].map(({ item }) => item);
  const written = await writeRequest(around, requestFile({ bytes, items: items.map(plannedItem) }));
  const command = `cardwright approvals approve ${payload.id}`;
  const have = approvals.length;
  const who = payload.requested_by;
  const until =
    needed === 1 ? `somebody other than ${who} approves it` : `${needed} persons other than ${who} approve it`;
  const known = have === 0 ? 'nobody has' : `${have} ${have === 1 ? 'has' : 'have'}`;
  return new CliError('pending_approval', {
    message: `${plan.op} is held until ${until}; ${known}`,
    notes: [payload.rule, `The request stands until ${payload.expires_at}.`, ...written],
    reason: 'approval',
    hint: command,
    outcome: 'not_sent',
    op: plan.op,
    approval: {
      id: payload.id,
      needed,
      have,
      expires_at: payload.expires_at,
      command,
      payload: bytes.toString('base64'),
      render: shownRequest(payload),
    },
  });
}

function plannedItem({ row, operation, method, path, body, key }: PlannedItem): PlannedItem {
  return { row, operation, method, path, body, key };
}

/** The lines that say so. What is held is held: a file that cannot be written is no error of it. */
async function writeRequest({ host, globals }: Around, text: string): Promise<readonly string[]> {
  const { approvalOut: path } = globals;
  if (path === undefined) return [];
  try {
    await createPrivate(resolve(host.cwd, path), text);
    return [`The request was written to ${path}.`];
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = code === 'EEXIST' ? 'there is a file of that name' : code;
    return [`The request was not written to ${shellWord(path)}: ${why}. approvals show writes it as well, with --out.`];
  }
}
