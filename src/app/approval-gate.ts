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
import { type ApprovalRule, isAnyRule, judgedRows, stricter, whyPending } from '../journal/approvals/rule.ts';
import { shownRequest } from '../journal/approvals/shown-request.ts';
import { type ApprovalGate, cameToNothing, type UnwrittenPlan } from '../journal/runs/approval-gate.ts';
import { spentByOp } from '../journal/runs/spent.ts';
import type { ApprovalStanding } from '../journal/store/op-store.ts';
import { historyNamed } from '../journal/store/read-ops.ts';
import { isPendingByAccount } from '../journal/store/refusals.ts';
import type { RunPlan } from '../journal/types.ts';
import type { DeniedRecord } from '../journal/wal/records.ts';
import type { History } from '../journal/wal/replay.ts';
import { type ApprovalDependencies, type ApprovalParts, approvalParts } from './approval-parts.ts';
import { recheckOpenRows } from './approval-recheck.ts';
import { cardBefore, requestPayload } from './approval-request.ts';

interface Around extends ApprovalDependencies {
  readonly parts: ApprovalParts;
}

export function approvalGate(surroundings: ApprovalDependencies): ApprovalGate {
  const around = { ...surroundings, parts: approvalParts(surroundings) };
  return {
    async foresee({ rows }) {
      const { profile } = await around.opened.identity();
      const judging = { rows, profile, at: around.host.clock.now() };
      const account = await around.parts.account();
      const seen = (await account?.mayHold()) === true ? await account?.standing() : undefined;
      return whyHeld(around, { judging, own: await around.parts.profileRule(), account: seen });
    },
    judge: (planned, begin) => judge(around, planned, begin),
    verify: history => verify(around, history),
    recheck: history => recheck(around, history),
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

async function judge<T>(around: Around, planned: UnwrittenPlan, begin: Begin<T>): Promise<T> {
  const account = await around.parts.account();
  try {
    const seen = (await account?.mayHold()) === true ? await account?.standing() : undefined;
    return await judged(around, { planned, begin, account: seen });
  } catch (thrown) {
    // A rule was made since, or others have moved money since: the claim has said so.
    if (account === undefined || !isPendingByAccount(thrown)) throw thrown;
    return judged(around, { planned, begin, account: await account.standing() });
  }
}

type Begin<T> = (request?: string) => Promise<T>;

interface Judging<T> {
  readonly planned: UnwrittenPlan;
  readonly begin: Begin<T>;
  /** What the account of a shared journal says, where it may hold anything. */
  readonly account: ApprovalStanding | undefined;
}

async function judged<T>(around: Around, { planned, begin, account }: Judging<T>): Promise<T> {
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
  around: Around,
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
  around: Around,
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
async function oneAtATime<T>({ host }: Around, { record }: UnwrittenPlan, work: () => Promise<T>): Promise<T> {
  const { platform, noise: random, clock, pid, folders } = host;
  const folder = join(folders.state, 'spend');
  await preparePrivateFolder(folder, { platform, random, warn: () => undefined });
  const isRunning = (other: number) => host.isRunning(other);
  const options = { pid, clock, random, isRunning, timeoutMs: 30 * SECOND };
  return withLock(join(folder, `${record.profile}.approval.lock`), options, work);
}

async function leftToday({ store }: Around, { profile, at }: JudgedNow): Promise<Cents> {
  const since = Math.floor(at / DAY) * DAY;
  const asked = { profile, since, writtenSince: since - DAY, unapproved: true };
  return sumCents([...(await spentByOp(await store(), asked)).values()]);
}

/** A request that could never be met is no request. */
async function refuseTooFew(
  { parts }: Around,
  { needed, requester }: { needed: number; requester: Pick<ApprovalPayload, 'requested_by' | 'requester_key'> },
): Promise<void> {
  const approvers = await parts.approvers();
  const others = approvers.filter(each => !isRequester(each, approvers, requester));
  const persons = [...new Set(others.map(({ person }) => person))];
  if (persons.length >= needed) return;
  const own = [...new Set(approvers.map(({ person }) => person))];
  throw new CliError('guarded', {
    message: tooFewWords({ needed, who: requester.requested_by, others: persons, own }),
    notes: ['Another person makes a key, cardwright approvals key create, and its line is added to the approvers.'],
    reason: 'approvers_file',
    hint: 'cardwright approvals key show -q',
    outcome: 'not_sent',
  });
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

async function recheck(around: Around, history: History): Promise<void> {
  const account = await around.parts.account();
  if (account !== undefined) await recheckOpenRows(account, history, each => requestOf(around, each));
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
  const { path, notes: written } = await writeRequest(around, requestFile({ bytes, items: items.map(plannedItem) }));
  const isShared = (await around.parts.account()) !== undefined;
  const { command, hint, next } = approvingCommands(payload.id, { path, isShared });
  const have = approvals.length;
  const who = payload.requested_by;
  const until =
    needed === 1 ? `somebody other than ${who} approves it` : `${needed} persons other than ${who} approve it`;
  const known = have === 0 ? 'nobody has' : `${have} ${have === 1 ? 'has' : 'have'}`;
  return new CliError('pending_approval', {
    message: `${plan.op} is held until ${until}; ${known}`,
    notes: [payload.rule, `The request stands until ${payload.expires_at}.`, ...written, ...next],
    reason: 'approval',
    hint,
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

interface ApprovingCommands {
  /** What an approver runs. */
  readonly command: string;
  /** What is run next, by whoever asks or by an approver. */
  readonly hint: string;
  readonly next: readonly string[];
}

/** The journal of one machine is out of reach of an approver elsewhere: he is handed a file. */
function approvingCommands(
  id: string,
  { path, isShared }: { readonly path: string | undefined; readonly isShared: boolean },
): ApprovingCommands {
  const approve = 'cardwright approvals approve';
  if (path === undefined && isShared) return { command: `${approve} ${id}`, hint: `${approve} ${id}`, next: [] };
  const command = `${approve} --file ${shellWord(path ?? `${id}.request.json`)}`;
  if (path !== undefined) return { command, hint: command, next: [] };
  const hint = `cardwright approvals show ${id} --out ${id}.request.json`;
  return { command, hint, next: [`Write the request to a file first. Then an approver: ${command}`] };
}

function plannedItem({ row, operation, method, path, body, key }: PlannedItem): PlannedItem {
  return { row, operation, method, path, body, key };
}

interface WrittenRequest {
  /** Undefined where it was not written. */
  readonly path?: string;
  readonly notes: readonly string[];
}

/** What is held is held: a file that cannot be written is no error of it. */
async function writeRequest({ host, globals }: Around, text: string): Promise<WrittenRequest> {
  const { approvalOut: path } = globals;
  if (path === undefined) return { notes: [] };
  try {
    await createPrivate(resolve(host.cwd, path), text);
    return { path, notes: [`The request was written to ${path}.`] };
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    const why = code === 'EEXIST' ? 'there is a file of that name' : code;
    const note = `The request was not written to ${shellWord(path)}: ${why}. approvals show writes it as well, with --out.`;
    return { notes: [note] };
  }
}
