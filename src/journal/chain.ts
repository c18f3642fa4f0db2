/**
 * The audit lines of an account as a hash chain in its journal: what was begun, resumed, ended, approved, decided. Who changes an
 * operation by SQL leaves a chain that no longer fits, and `journal check` says where.
 */
import { createHash, hash } from 'node:crypto';
import {
  type Approval,
  type Approver,
  canonicalJson,
  changesDigest,
  countApprovals,
  readApproverLine,
  readRequest,
  type SignedChange,
} from '../approvals/request.ts';
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Reading, sql, type Transaction } from './database.ts';
import type { Op } from './records.ts';

/** What a line may tell; no secrets, no labels. */
export interface ChainFacts {
  readonly event:
    | 'begun'
    | 'resumed'
    | 'finished'
    | 'resolved'
    | 'approved'
    | 'rejected'
    | 'accepted'
    | 'set_aside'
    | 'key'
    | 'limit';
  readonly op?: string;
  readonly command?: string;
  /** `user@host`. */
  readonly who?: string;
  /** Of `begun`: digest of what will be sent. */
  readonly changes?: string;
  /** Of `finished` and `resolved`: digest of what came of each change. */
  readonly outcome?: string;
  /** Cents. */
  readonly total?: number;
  readonly text?: string;
}

/** How long the journal of one machine keeps finished operations, ms. */
export const KEPT_MS = 90 * DAY;

/** Appends a line; the account stays locked until the transaction ends. Resolves to its number. */
export async function appendLine(tx: Transaction, account: string, facts: ChainFacts, skip = 0): Promise<number> {
  const [head] = await tx.all<{ audit_seq: number; audit_hash: string }>(
    sql`update account set audit_seq = audit_seq + ${1 + skip} where id = ${account} returning audit_seq, audit_hash`,
  );
  if (head === undefined) return 0;
  const line = canonicalJson({ ...facts, seq: head.audit_seq, at: await tx.now() });
  const hash = linkOf(head.audit_hash, line);
  const [added] = await Promise.all([
    tx.run(
      sql`insert into audit (account, seq, line, hash) values (${account}, ${head.audit_seq}, ${line}, ${hash})
        on conflict (account, seq) do nothing`,
    ),
    tx.run(sql`update account set audit_hash = ${hash} where id = ${account}`),
  ]);
  if (added !== 1) throw lineTaken(head.audit_seq);
  return head.audit_seq;
}

/** Somebody has changed the journal by SQL. */
function lineTaken(seq: number): CliError {
  return new CliError('guarded', {
    message: `audit line ${seq} is there already, and no claim has written it. Nothing was sent`,
    notes: ['See who has written it with cardwright journal check; then go on behind it:'],
    reason: 'journal_behind',
    hint: 'cardwright journal accept',
    outcome: 'not_sent',
  });
}

function linkOf(before: string, line: string): string {
  return hash('sha256', `${before}\n${line}`);
}

/** Digest of what an op will send. */
export async function plannedDigest(tx: Reading, op: string): Promise<string> {
  return changesDigest(await signedChanges(tx, op));
}

/** The changes of an op as they are signed. Keys are not part of it: a refusal may be kept under one. */
export function signedChanges(tx: Reading, op: string): Promise<readonly SignedChange[]> {
  return tx.all<SignedChange>(
    sql`select n, operation, request, amount, marker, intent from change where op = ${op} order by n`,
  );
}

/** Digest of what came of the changes of an op. */
export async function outcomeDigest(tx: Reading, op: string): Promise<string> {
  const rows = await tx.all<{ n: number; state: string; card: string | null }>(
    sql`select n, state, card from change where op = ${op} order by n`,
  );
  const digest = createHash('sha256');
  for (const { n, state, card } of rows) digest.update(`${canonicalJson([n, state, card])}\n`);
  return digest.digest('hex');
}

/** One thing that does not fit. */
export interface ChainFlaw {
  readonly what: string;
  readonly op?: string;
}

/**
 * Follows the chain of an account from its beginning, and holds its operations and the signatures of their approvals against it.
 * `approvers` may approve now; who is listed no more may have approved before. Nothing is written.
 */
export async function checkChain(
  tx: Reading,
  account: string,
  approvers: readonly Approver[],
): Promise<{ readonly lines: number; readonly flaws: readonly ChainFlaw[] }> {
  const flaws: ChainFlaw[] = [];
  const begun = new Map<string, ChainFacts & { readonly at: number }>();
  const ended = new Map<string, string>();
  let [before, last, lines] = ['', 0, 0];
  const rows = await tx.all<{ seq: number; line: string; hash: string; by_role: string }>(
    sql`select seq, line, hash, by_role from audit where account = ${account} order by seq`,
  );
  for (const { seq, line, hash, by_role: role } of rows) {
    lines += 1;
    const facts = readLine(line);
    if (facts === undefined || facts.seq !== seq || linkOf(before, line) !== hash) {
      flaws.push({ what: `audit line ${seq} is not one that follows the line before it` });
      before = hash;
      last = seq;
      continue;
    }
    if (seq !== last + 1 && facts.event !== 'accepted')
      flaws.push({ what: `audit lines ${last + 1} to ${seq - 1} are missing` });
    const named = facts.who?.split('@')[0];
    if (role !== '' && named !== undefined && named !== role)
      flaws.push({
        what: `audit line ${seq} says ${facts.who}, and ${role} has written it`,
        ...(facts.op && { op: facts.op }),
      });
    if (facts.event === 'begun' && facts.op !== undefined) begun.set(facts.op, facts);
    if (facts.event === 'set_aside') begun.clear();
    if (facts.outcome !== undefined && facts.op !== undefined) ended.set(facts.op, facts.outcome);
    [before, last] = [hash, seq];
  }
  const [head] = await tx.all<{ audit_seq: number; audit_hash: string }>(
    sql`select audit_seq, audit_hash from account where id = ${account}`,
  );
  if (head !== undefined && (head.audit_seq !== last || head.audit_hash !== before))
    flaws.push({ what: `the account names audit line ${head.audit_seq} as its last, and ${last} is` });
  const ops = await tx.all<{
    id: string;
    state: string;
    day: string;
    total: number;
    moved: number | null;
    request: string | null;
    by_role: string | null;
  }>(
    sql`select id, state, day, total, r.request, r.by_role,
      (select sum(amount) from change c where c.op = o.id and c.state in ('done', 'unknown')
        and c.operation in ('cards.create', 'cards.fund')) as moved
      from op o left join approval_request r on r.op = o.id where account = ${account}`,
  );
  const ever = [...approvers, ...(await everListed(tx, account))];
  const counted = new Map<string, number>();
  for (const { id, state, day, total, moved, request, by_role: role } of ops) {
    const planned = begun.get(id);
    if (planned?.total !== undefined) {
      if (planned.total !== total) flaws.push({ what: `the total of ${id} is not the one that was begun`, op: id });
      const cents = state === 'open' ? total : state === 'finished' ? Number(moved ?? 0) : 0;
      counted.set(day, (counted.get(day) ?? 0) + cents);
    }
    const wasSent = state === 'open' || Number(moved ?? 0) > 0;
    if (request !== null && wasSent) {
      const { refused, isEnough } = await approvalsGiven(tx, { id, request, role }, ever);
      for (const why of refused) flaws.push({ what: `an approval of ${id} does not count: ${why}`, op: id });
      if (!isEnough) flaws.push({ what: openedWithout(id), op: id });
    }
    if (planned === undefined) flaws.push({ what: `no audit line says that ${id} was begun`, op: id });
    else if (planned.changes !== (await plannedDigest(tx, id))) flaws.push({ what: otherChanges(id), op: id });
    const outcome = ended.get(id);
    if (outcome !== undefined && outcome !== (await outcomeDigest(tx, id)))
      flaws.push({ what: `what came of ${id} was changed since it ended`, op: id });
    if (outcome === undefined && state === 'finished')
      flaws.push({ what: `no audit line says how ${id} ended`, op: id });
    begun.delete(id);
  }
  const days = await tx.all<{ day: string; used: number }>(
    sql`select day, held + spent as used from spent where account = ${account} and scope = 'account'`,
  );
  const used = new Map(days.map(row => [row.day, row.used]));
  for (const [day, cents] of counted)
    if ((used.get(day) ?? 0) < cents)
      flaws.push({ what: `less is counted against the limits of ${day} than its operations have taken` });
  const oldest = (await tx.now()) - KEPT_MS;
  for (const [id, { at }] of begun)
    if (at >= oldest) flaws.push({ what: `${id} was begun, and is not in the journal any more`, op: id });
  return { lines, flaws };
}

/** Whoever is listed, or was. */
async function everListed(tx: Reading, account: string): Promise<readonly Approver[]> {
  const listed = await tx.all<{ person: string; key: string }>(
    sql`select person, key from approver where account in (${account}, '')`,
  );
  const known = listed.map(({ person, key }) => readApproverLine(`${person} ed25519 ${key}`));
  return known.filter(each => each !== undefined);
}

/** The approvals of an op that was held: why some do not count, and whether enough do. `role`: who has asked, where the database says it. */
async function approvalsGiven(
  tx: Reading,
  { id, request, role }: { readonly id: string; readonly request: string; readonly role: string | null },
  approvers: readonly Approver[],
) {
  const given = await tx.all<Approval>(sql`select keyid, signature from approval where op = ${id}`);
  const { persons, refused } = countApprovals(request, given, { approvers, requester: role || undefined });
  return { refused, isEnough: persons.length >= readRequest(request, id).needed };
}

const openedWithout = (op: string) => `${op} was held for approval and opened without it`;
const otherChanges = (op: string) => `the changes of ${op} are not those that were begun`;

/**
 * For an open op that is taken up: throws `check_failed` where its changes are not those that it was begun with, or where it was held
 * and opened without approval. Somebody has changed the journal by SQL then.
 */
export async function refuseAltered(
  tx: Reading,
  { id, account }: Pick<Op, 'id' | 'account'>,
  approvers: readonly Approver[],
): Promise<void> {
  const [begun] = await tx.all<{ line: string }>(
    sql`select line from audit where account = ${account} and line like '%"event":"begun"%'
      and line like ${`%"op":"${id}"%`}`,
  );
  const [held] = await tx.all<{ request: string; role: string | null }>(
    sql`select request, by_role as role from approval_request where op = ${id}`,
  );
  const ever = held === undefined ? [] : [...approvers, ...(await everListed(tx, account))];
  const isSame = begun !== undefined && readLine(begun.line)?.changes === (await plannedDigest(tx, id));
  if (isSame && (held === undefined || (await approvalsGiven(tx, { id, ...held }, ever)).isEnough)) return;
  throw new CliError('check_failed', {
    message: `${isSame ? openedWithout(id) : otherChanges(id)}: something else has changed the journal. Nothing was sent`,
    hint: 'cardwright journal check',
    outcome: 'not_sent',
    op: id,
  });
}

function readLine(line: string): (ChainFacts & { readonly seq: number; readonly at: number }) | undefined {
  try {
    const facts = JSON.parse(line);
    return canonicalJson(facts) === line ? facts : undefined;
  } catch {
    return undefined;
  }
}
