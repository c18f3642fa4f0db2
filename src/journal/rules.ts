/**
 * Limits and approvals of an account, asked within the transaction of a claim: what exceeds a limit is refused, what a rule holds is
 * written down as pending until other persons have signed it, and what was held is released when they have.
 */
import {
  type Approval,
  type ApprovalRequest,
  type Approver,
  canonicalJson,
  changesDigest,
  checkChanges,
  countApprovals,
  pendingError,
  readApproverLine,
  readRequest,
} from '../approvals/request.ts';
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, spendingOf } from '../core/money.ts';
import { resolveCommand, rowsNamed } from '../core/row-words.ts';
import {
  heldPlan,
  isLimitName,
  type LimitSource,
  overDay,
  overLimit,
  readLimits,
  type SourcedLimits,
  type StrictestLimits,
  sourceWords,
  strictest,
} from '../limits/limits.ts';
import { journalId } from './account.ts';
import { appendLine, outcomeDigest, refuseAltered, signedChanges } from './chain.ts';
import { addEvent, lockedOp, unknownOp } from './changes.ts';
import { type Claimed, type ClaimRules, moment } from './claim.ts';
import { type Database, type Reading, sql } from './database.ts';
import { REJECTED } from './ops.ts';
import { type Change, type Op, readOp } from './records.ts';
import { opError } from './words.ts';

export interface RulesSettings {
  readonly isShared: boolean;
  /** Limits of the managed file and of the profile. */
  readonly sources: () => Promise<readonly SourcedLimits[]>;
  /** Approvers whom the managed file names; of the journal of one machine also those of the profile's file. Else the journal's. */
  readonly approvers: () => Promise<readonly Approver[] | undefined>;
  /** Who asks, `user@host`; in a shared journal the database says it. */
  readonly requester: string;
}

/** The limits that a journal sets for everybody who uses it. */
export async function journalLimits(tx: Reading, account: string): Promise<SourcedLimits> {
  const rows = await tx.all<{ name: string; value: string }>(
    sql`select name, value from approval_rule where account in (${account}, '')`,
  );
  const read = readLimits(Object.fromEntries(rows.map(({ name, value }) => [name, value])));
  const odd = 'wrong' in read ? read.wrong : rows.find(({ name }) => !isLimitName(name))?.name;
  if (odd !== undefined || 'wrong' in read) {
    throw new CliError('guarded', {
      message: `the journal has a rule ${odd} that this build cannot read, so nothing is sent`,
      reason: 'journal_rule',
      hint: 'cardwright journal status',
      outcome: 'not_sent',
    });
  }
  return { source: { kind: 'journal', name: `of ${account}` }, limits: read.limits };
}

/** Limits of all sources as they are now. */
async function limitsOf(tx: Reading, account: string, { sources }: RulesSettings) {
  return [...(await sources()), await journalLimits(tx, account)];
}

/** Those who may approve now. */
export async function approversOf(
  tx: Reading,
  account: string,
  { approvers }: Pick<RulesSettings, 'approvers'>,
): Promise<readonly Approver[]> {
  const named = await approvers();
  if (named !== undefined) return named;
  const rows = await tx.all<{ person: string; key: string }>(
    sql`select person, key from approver where account in (${account}, '') and removed is null`,
  );
  return rows.map(({ person, key }) => readApproverLine(`${person} ed25519 ${key}`)).filter(each => each !== undefined);
}

export function claimRules(settings: RulesSettings): ClaimRules {
  async function caps(
    tx: Reading,
    op: Pick<Op, 'account' | 'profile'>,
    day: string | undefined,
    spending: ReturnType<typeof spendingOf>,
  ): Promise<StrictestLimits> {
    const sources = await limitsOf(tx, op.account, settings);
    const limits = strictest(sources);
    const over = overLimit(limits, spending);
    if (over !== undefined) throw over;
    if (limits.max_per_day === undefined || day === undefined) return limits;
    // What a profile allows for a day is counted for that profile, every other limit for the account.
    const ofProfile = sources.filter(({ source }) => source.kind === 'profile');
    const others = sources.filter(({ source }) => source.kind !== 'profile');
    const scopes = [[ofProfile, `profile:${op.profile}`] as const, [others, 'account'] as const];
    for (const [some, scope] of scopes) {
      const [row] = await tx.all<{ used: number }>(
        sql`select held + spent as used from spent where account = ${op.account} and scope = ${scope} and day = ${day}`,
      );
      const tooMuch = overDay(strictest(some), cents(row?.used ?? 0), spending.total);
      if (tooMuch !== undefined) throw tooMuch;
    }
    return limits;
  }

  return {
    async judge(tx, claimed) {
      const spending = spendingOf(claimed.rows);
      const limits = await caps(tx, claimed, claimed.day, spending);
      const used = limits.approve_day === undefined ? cents(0) : await unapprovedToday(tx, claimed);
      return heldPlan(limits, claimed.rows, used);
    },
    async hold(tx, claimed, why) {
      const changes = await signedChanges(tx, claimed.id);
      const [{ purpose } = {}] = claimed.rows;
      const [by] = settings.isShared ? await tx.all<{ name: string }>('select session_user as name') : [];
      const request: ApprovalRequest = {
        type: 'cardwright-approval',
        v: 1,
        journal: await journalId(tx),
        account: claimed.account,
        op: claimed.id,
        command: claimed.command,
        changes: changes.length,
        changes_sha256: changesDigest(changes),
        total_cents: claimed.total,
        why: why.why,
        ...(purpose !== undefined && { purpose }),
        requested_by: by?.name ?? settings.requester,
        needed: why.needed,
        expires_at: new Date(claimed.now + why.standsMs).toISOString(),
      };
      await refuseTooFew(tx, settings, request);
      const text = canonicalJson(request);
      await tx.insert('approval_request', ['op', 'request', 'at'], [[claimed.id, text, claimed.now]]);
      return pendingError(request, text, { persons: [], refused: [], needed: why.needed });
    },
    async resume(tx, op, changes) {
      if (op.state === 'open') await refuseAltered(tx, op, await approversOf(tx, op.account, settings));
      const open = changes.flatMap(({ state, operation, input, amount }) =>
        state === 'planned' ? [{ operation, input, amount: cents(amount) }] : [],
      );
      const [spending, { day }] = [spendingOf(open), await moment(tx, op.account)];
      // What was claimed before is held in its day already.
      const { max_per_day: limit } = await caps(tx, op, op.state === 'pending' ? day : undefined, spending);
      if (op.state !== 'pending') {
        const isOld = Date.parse(day) - Date.parse(op.day) > DAY;
        if (limit !== undefined && spending.total > 0 && isOld) throw countedLongAgo(op, changes, limit.source);
        return [];
      }
      const { request, text, counted, needed } = await approvalState(tx, op, settings);
      if ((await tx.now()) >= Date.parse(request.expires_at)) throw expired(request);
      if (counted.persons.length < needed) throw pendingError(request, text, { ...counted, needed });
      return counted.persons;
    },
  };
}

/** What is left of each day before would be a cap more on one day (decision 0035). */
function countedLongAgo({ id, day }: Op, changes: readonly Change[], source: LimitSource): CliError {
  const rows = changes.filter(({ state }) => state === 'planned').map(({ n }) => n);
  const message = `${id} was counted on ${day} (UTC): for max_per_day of ${sourceWords(source)}, ${rowsNamed(rows)} can be sent on that day and the next alone. Nothing was sent`;
  return opError('guarded', id, message, {
    reason: 'max_per_day',
    notes: ['Give these rows up; then ask for them anew. What was sent before is settled by ops resume.'],
    hint: resolveCommand(id, rows, 'not-done'),
  });
}

/** A request for approval as it stands. */
export type ApprovalState = Awaited<ReturnType<typeof approvalState>>;

/**
 * The request of an op, checked against everything that stands beside it in the journal. Throws `check_failed` where one of them
 * was changed, `usage` for an op that asks for no approval.
 */
export async function approvalState(tx: Reading, op: Pick<Op, 'id' | 'account' | 'total'>, settings: RulesSettings) {
  const [row] = await tx.all<{ request: string; by_role: string }>(
    sql`select request, by_role from approval_request where op = ${op.id}`,
  );
  if (row === undefined) throw notPending(op.id);
  const request = readRequest(row.request, op.id);
  const changes = await signedChanges(tx, op.id);
  checkChanges(request, changes);
  const isOfThis =
    request.journal === (await journalId(tx)) && request.account === op.account && request.total_cents === op.total;
  const isBySame = !settings.isShared || request.requested_by === row.by_role;
  // Reading it as the request of another op refuses it in the words for what was changed.
  if (!isOfThis || !isBySame) readRequest(row.request, '');
  const given = await tx.all<Approval>(sql`select keyid, signature from approval where op = ${op.id} order by at`);
  const approvers = await approversOf(tx, op.account, settings);
  const counted = countApprovals(row.request, given, {
    approvers,
    requester: settings.isShared ? row.by_role : undefined,
  });
  const { approvals_needed: now } = strictest(await limitsOf(tx, op.account, settings));
  // The very text that is signed goes along.
  return { request, text: row.request, counted, changes, needed: Math.max(request.needed, now?.value ?? 1) };
}

/** Keeps the approval of a person. Throws `guarded` for a key that may not approve, or not this. Resolves to who has approved by now. */
export function keepApproval(
  database: Database,
  id: string,
  approval: Approval,
  settings: RulesSettings,
): Promise<ApprovalState> {
  return database.transaction(async tx => {
    const op = await pendingOp(tx, id);
    const { request, counted: before } = await approvalState(tx, op, settings);
    if ((await tx.now()) >= Date.parse(request.expires_at)) throw expired(request);
    await tx.run(
      sql`insert into approval (op, keyid, signature, at)
        values (${id}, ${approval.keyid}, ${approval.signature}, ${await tx.now()}) on conflict (op, keyid) do nothing`,
    );
    const state = await approvalState(tx, op, settings);
    const approvers = await approversOf(tx, op.account, settings);
    const person = approvers.find(({ keyid }) => keyid === approval.keyid)?.person;
    if (person !== undefined && state.counted.persons.includes(person)) {
      if (before.persons.includes(person)) return state;
      const text = `by ${person}: ${state.counted.persons.length} of ${state.needed}`;
      await addEvent(tx, id, 'approved', text);
      await appendLine(tx, op.account, { event: 'approved', op: id, text: `${person} with key ${approval.keyid}` });
      return state;
    }
    const why = state.counted.refused.at(-1) ?? 'its key may not approve';
    throw opError('guarded', id, `your approval of ${id} would not count: ${why}`, {
      reason: 'approval_own',
      hint: 'cardwright ops keys list',
    });
  });
}

/** Ends an op that waits: nothing of it was sent, and nothing will be. Throws `usage` for one that does not wait. */
export function rejectOp(
  database: Database,
  id: string,
  { who, reason }: { readonly who: string; readonly reason: string },
): Promise<void> {
  return database.transaction(async tx => {
    const op = await lockedOp(tx, database, id);
    if (op.state !== 'pending') throw notPending(id);
    const now = await tx.now();
    const error = JSON.stringify({ kind: 'guarded', message: `rejected by ${who}: ${reason}` });
    await tx.run(
      sql`update change set state = 'not_sent', error = ${error}, decided_at = ${now}, decided_by = ${who} where op = ${id}`,
    );
    await tx.run(
      sql`update op set state = 'finished', finished = ${now}, acknowledged = ${now}, touched = ${now},
        objections = ${JSON.stringify([`${REJECTED}by ${who}: ${reason}`])}, epoch = epoch + 1 where id = ${id}`,
    );
    await addEvent(tx, id, 'rejected', `by ${who}: ${reason}`);
    await appendLine(tx, op.account, {
      event: 'rejected',
      op: id,
      who,
      text: reason,
      outcome: await outcomeDigest(tx, id),
    });
  });
}

export async function pendingOp(tx: Reading, id: string): Promise<Op> {
  const op = await readOp(tx, id);
  if (op?.state === 'pending') return op;
  throw op === undefined ? unknownOp(id) : notPending(id);
}

function notPending(op: string): CliError {
  return opError('usage', op, `${op} does not wait for approval`);
}

function expired({ op, expires_at }: ApprovalRequest): CliError {
  const message = `the request for approval of ${op} stood until ${expires_at}. Nothing was signed or sent`;
  return opError('guarded', op, message, {
    reason: 'approval_expired',
    notes: ['Reject it, then ask anew with the same command.'],
    hint: `cardwright ops reject ${op} --reason expired`,
  });
}

/** A request that could never be met is refused, and not held. */
async function refuseTooFew(
  tx: Reading,
  settings: RulesSettings,
  { account, needed, requested_by, why }: ApprovalRequest,
): Promise<void> {
  const approvers = await approversOf(tx, account, settings);
  const others = approvers.filter(({ person }) => !settings.isShared || person !== requested_by);
  const persons = [...new Set(others.map(({ person }) => person))];
  if (persons.length >= needed) return;
  const known = persons.length === 0 ? 'nobody may approve it' : `only ${persons.join(', ')} may approve it`;
  throw new CliError('guarded', {
    message: `${why}: that needs ${needed === 1 ? 'a person who approves' : `${needed} persons who approve`}, and ${known}`,
    notes: [
      settings.isShared
        ? 'Another person makes a key (cardwright ops keys create), and an admin of the journal lists it: cardwright journal init <address> --approver <line>'
        : 'A person makes a key at a terminal of this machine:',
    ],
    reason: 'approvers',
    hint: 'cardwright ops keys create',
    outcome: 'not_sent',
  });
}

/** Cents that left the wallet today, or may still, by ops that nobody had to approve. */
async function unapprovedToday(
  tx: Reading,
  { account, day, id }: Pick<Claimed, 'account' | 'day' | 'id'>,
): Promise<Cents> {
  const [row] = await tx.all<{ used: number | null }>(
    sql`select sum(c.amount) as used from change c join op o on o.id = c.op
      where o.account = ${account} and o.day = ${day} and o.id <> ${id} and c.operation in ('cards.create', 'cards.fund')
      and c.state not in ('refused', 'not_sent') and not exists (select 1 from approval_request r where r.op = o.id)`,
  );
  return cents(row?.used ?? 0);
}
