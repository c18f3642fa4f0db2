/**
 * What becomes of an operation that was claimed: who holds it, that a change is about to be sent, what came of it, that it was acknowledged.
 * Every write checks the epoch: a process that has lost its op to another one can write nothing more. `sent` is durable before the
 * first byte leaves, an outcome before it is reported.
 */
import type { WriteName } from '../contract/calls.ts';
import { CliError } from '../core/errors.ts';
import { appendLine, outcomeDigest } from './chain.ts';
import { type ClaimRules, moment, reserve, workedOn } from './claim.ts';
import { type Database, sql, type Transaction } from './database.ts';
import { LEASE_MS, type Self, whoWorks } from './holder.ts';
import {
  type Change,
  type ChangeState,
  type Evidence,
  type KeptError,
  type Op,
  opOf,
  readChanges,
  readOp,
} from './records.ts';
import { opError } from './words.ts';

/** An op that this process holds. */
export interface HeldOp {
  readonly database: Database;
  readonly self: Self;
  readonly op: Op;
}

/** Which operations take money from the wallet. */
export const SPENDS: ReadonlySet<WriteName> = new Set<WriteName>(['cards.create', 'cards.fund']);

/** What came of a change. */
export interface Settling {
  readonly state: ChangeState;
  readonly card?: string | undefined;
  readonly last4?: string | undefined;
  readonly evidence: Evidence;
  readonly error?: KeptError | undefined;
  /** When the service says that a created card was made, ms UTC; NaN where it does not say. */
  readonly madeAt?: number | undefined;
  /** The key of its next sending, where a refusal is kept under this one. */
  readonly nextKey?: string | undefined;
}

/**
 * The card is ours alone until the change is settled: transfers of one card come one after the other, in the process and across
 * processes, because its balance is their evidence. Resolves to the time of the store. Throws `guarded` where a transfer of the
 * card is not settled and nobody works on it.
 */
export async function holdCard(
  { database, self, op }: HeldOp,
  { n, card }: Pick<Change, 'n' | 'card'>,
  sleep: (ms: number) => Promise<void>,
): Promise<number> {
  for (let pause = 5; ; pause = Math.min(pause * 2, 250)) {
    const step = await database.grouped(async tx => {
      const now = await tx.now();
      await refuseLost(tx, op, now);
      await tx.run(
        sql`insert into card_hold (account, card, op, n) values (${op.account}, ${card ?? ''}, ${op.id}, ${n})
          on conflict (account, card) do nothing`,
      );
      const [held] = await tx.all<{ op: string; n: number; state: ChangeState }>(
        sql`select h.op, h.n, c.state from card_hold h join change c on c.op = h.op and c.n = h.n
          where h.account = ${op.account} and h.card = ${card ?? ''}`,
      );
      if (held === undefined || (held.op === op.id && held.n === n)) return { now };
      const other = await readOp(tx, held.op);
      // Whoever waited for one that nobody settles would wait for ever: another row of this op waits for this one itself.
      const isLeft = other !== undefined && (other.id === op.id || whoWorks(other, self, now) === 'nobody');
      if (other !== undefined && (held.state === 'unknown' || isLeft)) return { now, other };
      return undefined;
    });
    if (step?.other !== undefined) throw transferUnsettled(card ?? '', step.other);
    if (step !== undefined) return step.now;
    await sleep(pause);
  }
}

/** Lets the card of a change go that was not sent. */
export function releaseCard({ database, op }: HeldOp, n: number): Promise<number> {
  return database.grouped(tx => tx.run(sql`delete from card_hold where op = ${op.id} and n = ${n}`));
}

/** Durable before the first byte leaves. Throws `guarded` when another process has the op. */
export async function markSent({ database, op }: HeldOp, change: Change): Promise<void> {
  const before = change.before === undefined ? null : JSON.stringify(change.before);
  const now = await database.grouped(async tx => {
    const now = await tx.now();
    const [, changed] = await Promise.all([
      refuseLost(tx, op, now),
      tx.run(
        sql`update change set state = 'sent', attempts = attempts + 1, sent_at = coalesce(sent_at, ${now}),
          last_sent_at = ${now},
        before = case when state = 'planned' then ${before} else coalesce(before, ${before}) end, idempotency_key = ${change.key}, error = null
        where op = ${op.id} and n = ${change.n} and state in ('planned', 'sent', 'unknown')`,
      ),
    ]);
    if (changed !== 1) throw taken(op.id);
    return now;
  });
  // Only what is committed is true.
  change.state = 'sent';
  change.attempts += 1;
  change.sentAt ??= now;
  change.lastSentAt = now;
}

/**
 * What came of a change; it may be reported when this has resolved. Where an answer names a card that another change of this journal
 * has made, nothing is written, and it resolves to that change.
 */
export async function settle(
  { database, self, op }: HeldOp,
  change: Change,
  settling: Settling,
): Promise<MadeBy | undefined> {
  const written = await database.grouped(async tx => {
    const now = await tx.now();
    const [, other] = await Promise.all([refuseLost(tx, op, now), madeByOther(tx, op, change, settling)]);
    return other === undefined
      ? { settled: await writeSettled(tx, op, change, settling, { now, by: self.process }) }
      : { other };
  });
  // Only what is committed is true.
  if (written.settled !== undefined) Object.assign(change, written.settled);
  return written.other;
}

type MadeBy = Pick<Change, 'op' | 'n'>;

async function madeByOther(
  tx: Transaction,
  { account }: Op,
  { op, n, operation }: Change,
  { card, evidence: { via }, madeAt = Number.NaN }: Settling,
): Promise<MadeBy | undefined> {
  if (operation !== 'cards.create' || card === undefined || via !== 'answer') return undefined;
  const made = await tx.all<MadeBy & { readonly evidence: string; readonly account: string }>(
    sql`select op, n, evidence, (select account from op where id = change.op) as account from change
      where card = ${card} and operation = 'cards.create' and state = 'done'`,
  );
  const others = made.filter(other => other.account === account && (other.op !== op || other.n !== n));
  // A service that was set back gives its ids anew: then the card is younger than what was done with it before.
  return others.find(
    ({ evidence }) => !(madeAt > ((JSON.parse(evidence) as Evidence).serviceAt ?? Number.POSITIVE_INFINITY) + 1_000),
  );
}

/** Writes what came of a change and resolves to the members of it that differ then. */
export async function writeSettled(
  tx: Transaction,
  op: Pick<Op, 'id'>,
  change: Change,
  settling: Settling,
  { now, by }: { readonly now: number; readonly by: string },
): Promise<Partial<Change>> {
  const { state, evidence, error, nextKey } = settling;
  const card = settling.card ?? change.card;
  const last4 = settling.last4 ?? change.last4;
  const key = nextKey ?? change.key;
  // What is sent later is sent anew: balances from before, and the age of its key, are read then.
  const isUnsent =
    (state === 'planned' && error?.kind !== 'insufficient_funds') ||
    (state === 'not_sent' && error?.kind !== 'rate_limited');
  await Promise.all([
    tx.run(
      sql`update change set state = ${state}, card = ${card}, last4 = ${last4}, evidence = ${JSON.stringify(evidence)},
        error = ${error && JSON.stringify(error)}, idempotency_key = ${key}, decided_at = ${now}, decided_by = ${by}
        ${isUnsent ? sql`, sent_at = null, last_sent_at = null, before = null` : sql``}
        where op = ${op.id} and n = ${change.n}`,
    ),
    // An unknown transfer keeps its card: another one would blur the balance that is its evidence.
    state === 'unknown' || change.operation === 'cards.create'
      ? 0
      : tx.run(sql`delete from card_hold where op = ${op.id} and n = ${change.n}`),
  ]);
  const settled = { state, card, last4, evidence, error, key, decidedAt: now, decidedBy: by };
  return isUnsent ? { ...settled, sentAt: undefined, lastSentAt: undefined, before: undefined } : settled;
}

/** For `ops show`. */
export async function addEvent(
  tx: Transaction,
  op: string,
  kind: 'resumed' | 'resolved' | 'rejected' | 'approved',
  text: string,
  n?: number,
): Promise<void> {
  const [last] = await tx.all<{ seq: number | null }>(sql`select max(seq) as seq from event where op = ${op}`);
  const row = [op, (last?.seq ?? 0) + 1, n ?? null, await tx.now(), kind, text] as const;
  await tx.insert('event', ['op', 'seq', 'n', 'at', 'kind', 'facts'], [row]);
}

/**
 * Nothing of the op is left to send or to find out: its cents are spent, its lease ends. `acknowledged` with it where nobody waits
 * for an answer. Without it a resume finishes the op once more.
 */
export function finishOp(
  { database, op }: HeldOp,
  objections: readonly string[],
  isAcknowledged: boolean,
): Promise<void> {
  return database.grouped(async tx => {
    const now = await tx.now();
    await refuseLost(tx, op, now);
    await writeFinished(tx, op, now, objections, isAcknowledged);
  }, 'soon');
}

export async function writeFinished(
  tx: Transaction,
  op: Op,
  now: number,
  objections: readonly string[],
  isAcknowledged: boolean,
): Promise<void> {
  const [sum] = await tx.all<{ spent: number | null }>(
    sql`select sum(amount) as spent from change where op = ${op.id} and state in ('done', 'unknown')
      and operation in ('cards.create', 'cards.fund')`,
  );
  // The line locks the account, before a row of its day is written: in the order of a claim.
  await appendLine(tx, op.account, { event: 'finished', op: op.id, outcome: await outcomeDigest(tx, op.id) });
  if (op.state === 'open') await reserve(tx, op, -1, Number(sum?.spent ?? 0));
  await tx.run(
    sql`update op set state = 'finished', finished = ${now}, acknowledged = ${isAcknowledged ? now : null},
      objections = ${objections.length === 0 ? null : JSON.stringify(objections)}, touched = ${now} where id = ${op.id}`,
  );
}

/** The answer of the command was written: what it said of done rows is known. */
export function acknowledge(database: Database, op: Pick<Op, 'id' | 'epoch'>): Promise<number> {
  return database.grouped(
    async tx =>
      tx.run(
        sql`update op set acknowledged = ${await tx.now()}, lease = 0 where id = ${op.id} and epoch = ${op.epoch}
          and acknowledged is null`,
      ),
    'soon',
  );
}

/** Holds an op for so long; 0 lets one go that is not over, so that whoever resumes it need not wait for the lease. */
export function keepLease({ database, op }: HeldOp, ms: number): Promise<number> {
  return database.grouped(async tx => {
    const lease = ms === 0 ? 0 : (await tx.now()) + ms;
    return tx.run(sql`update op set lease = ${lease} where id = ${op.id} and epoch = ${op.epoch} and lease > 0`);
  }, 'soon');
}

/**
 * Takes an op up: epoch + 1. Throws `guarded` while another process works on it, and what `mayResume` throws, which tells who has
 * approved it.
 */
export function takeOp(
  { database, self }: Omit<HeldOp, 'op'>,
  id: string,
  mayResume: ClaimRules['resume'],
  reason: string | undefined,
): Promise<{ readonly op: Op; readonly changes: readonly Change[]; readonly approvedBy: readonly string[] }> {
  return database.transaction(async tx => {
    const op = await lockedOp(tx, database, id);
    const { now, day: today } = await moment(tx, op.account);
    if (whoWorks(op, self, now) !== 'nobody' && op.finished === undefined) throw workedOn(op, now);
    const isPending = op.state === 'pending';
    const changes = await readChanges(tx, id);
    const approvedBy = await mayResume(tx, op, changes);
    // What was held is counted in the day of its release.
    const day = isPending ? today : op.day;
    if (isPending) await reserve(tx, { ...op, day }, 1);
    const state = isPending ? 'open' : op.state;
    const process = self.process;
    const lease = now + LEASE_MS;
    const acknowledged = op.finished === undefined ? null : (op.acknowledged ?? null);
    await tx.run(
      sql`update op set state = ${state}, day = ${day}, epoch = epoch + 1, process = ${process}, holder = ${self.holder},
        lease = ${lease}, touched = ${now}, acknowledged = ${acknowledged} where id = ${id}`,
    );
    const why = reason === undefined ? '' : `: ${reason}`;
    await addEvent(tx, id, 'resumed', `by ${self.holder}${why}`);
    await appendLine(tx, op.account, { event: 'resumed', op: id, who: self.holder });
    const taken = { ...op, state, day, epoch: op.epoch + 1, process, holder: self.holder, lease };
    return { op: taken, changes, approvedBy };
  });
}

/** An op, with its account locked as a claim locks it: caps are counted by one at a time. Throws `not_found`. */
export async function lockedOp(tx: Transaction, { lock }: Pick<Database, 'lock'>, id: string): Promise<Op> {
  await tx.all(sql`select id from account where id = (select account from op where id = ${id})${lock}`);
  const [row] = await tx.all(sql`select * from op where id = ${id}${lock}`);
  if (row === undefined) throw unknownOp(id);
  return opOf(row);
}

const checks = new WeakMap<Transaction, Map<string, Promise<void>>>();

/** Renews the lease, and throws where another process has taken the op. Once a transaction: the row stays locked until it ends. */
function refuseLost(tx: Transaction, { id, epoch }: Op, now: number): Promise<void> {
  const checked = checks.get(tx) ?? new Map<string, Promise<void>>();
  checks.set(tx, checked);
  const holder = `${id} ${epoch}`;
  const check =
    checked.get(holder) ??
    tx
      .run(sql`update op set lease = ${now + LEASE_MS}, touched = ${now} where id = ${id} and epoch = ${epoch}`)
      .then(held => {
        if (held !== 1) throw taken(id);
      });
  checked.set(holder, check);
  return check;
}

export function unknownOp(op: string): CliError {
  return new CliError('not_found', {
    message: `this journal knows no operation ${op}`,
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}

function taken(op: string): CliError {
  return new CliError('guarded', {
    reason: 'taken_over',
    message: `${op} was taken over by another process, or its journal was put back. This command sends nothing more`,
    hint: `cardwright ops show ${op}`,
    op,
  });
}

function transferUnsettled(card: string, op: Op): CliError {
  const message = `a transfer of card ${card} is not settled: ${op.id}. Beside it the balance of the card would prove nothing, so this one was not sent`;
  return opError('guarded', op.id, message, { reason: 'transfer_unsettled', hint: `cardwright ops resume ${op.id}` });
}

/**
 * For a journal that was put back: what is open in it, of one account or of all, may have been done since. A resume looks for it
 * first then, and what no look can tell stays unknown.
 */
export async function doubtOpen(tx: Transaction, account?: string): Promise<void> {
  await tx.run(
    sql`update change set state = 'unknown', error = null, attempts = case when attempts = 0 then 1 else attempts end,
      decided_at = ${await tx.now()},
      sent_at = coalesce(sent_at, (select o.created from op o where o.id = change.op))
      where (state = 'planned' or (state = 'unknown' and error is not null))
      and op in (select id from op where state <> 'finished'
      and account = coalesce(${account}, account))`,
  );
}
