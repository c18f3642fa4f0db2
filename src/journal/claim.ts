/**
 * Who may begin. A claim is one transaction, and on an account claims come one after the other. It looks, in this order, at the
 * caller's own key and intents, the same change again, the same rows again, caps and approval; then the op is written down.
 * Nothing was sent by it, and nothing may be sent before it (docs/design/reliability.md, "The claim").
 */
import { CALLS } from '../contract/calls.ts';
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { addTo } from '../core/objects.ts';
import { resolveCommand, rowsNamed } from '../core/row-words.ts';
import { sameCommandWith } from '../core/shell-quote.ts';
import type { HeldPlan } from '../limits/limits.ts';
import { appendLine, KEPT_MS, plannedDigest } from './chain.ts';
import { type Database, type Reading, sql, type Transaction } from './database.ts';
import { rowDigest } from './digest.ts';
import { LEASE_MS, type Self, whoWorks } from './holder.ts';
import { attemptKey } from './names.ts';
import { type Change, changeOf, insertRecords, type Op, opOf, type PlannedOp, readOp } from './records.ts';
import type { EarlierUse, PlannedRow } from './types.ts';
import { opError, recordedOutcome } from './words.ts';

/** An operation that is wanted, before it is written down; `total` is what it may take from the wallet. */
export interface Draft extends PlannedOp {
  readonly rows: readonly PlannedRow[];
  readonly changes: readonly Change[];
  readonly again: boolean;
  readonly applies?: number | undefined;
  /** How long ago the command began, ms. What is acknowledged since then is not, for it. */
  readonly age: () => number;
}

/** What rules may ask of a claim. */
export interface Claimed extends Draft {
  readonly account: string;
  /** ms UTC by the clock of the store. */
  readonly now: number;
  /** UTC day whose caps it is counted in. */
  readonly day: string;
}

/** Limits and approvals; each member runs within the transaction of a claim, or of what takes an op up. */
export interface ClaimRules {
  /** Throws `guarded` where a cap is exceeded: what is held and spent by then, and what is asked. Resolves to why it is held for approval. */
  judge(
    tx: Reading,
    claimed: Pick<Claimed, 'id' | 'account' | 'profile' | 'day' | 'rows'>,
  ): Promise<HeldPlan | undefined>;
  /** Writes the request for approval down, and resolves to the error (17) that ends the command; the op is pending then. */
  hold(tx: Transaction, claimed: Claimed, held: HeldPlan): Promise<CliError>;
  /**
   * Whether an op may go on: what is still to be sent of it is within the limits that hold now. Resolves to who has approved it,
   * where it is pending; throws `pending_approval` while approvals are missing, `guarded` where they do not hold.
   */
  resume(tx: Reading, op: Op, changes: readonly Change[]): Promise<readonly string[]>;
}

export interface Claiming {
  readonly database: Database;
  readonly self: Self;
  readonly useAccount: (tx: Transaction) => Promise<string>;
  readonly rules: ClaimRules;
}

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly op: Op; readonly changes: readonly Change[] }
  /** The caller's key or intent leads to an op that is there. */
  | { readonly kind: 'earlier'; readonly op: string }
  | { readonly kind: 'pending'; readonly error: CliError };

/** How long work of another process on the same change is waited for. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 250;

/** Begins again while another process works on the same change. */
export async function whenFree<T>(sleep: (ms: number) => Promise<void>, begin: () => Promise<T>): Promise<T> {
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      return await begin();
    } catch (thrown) {
      const isBusy = thrown instanceof CliError && thrown.facts.reason === 'worked_on';
      if (!isBusy || waited >= PATIENCE_MS) throw thrown;
    }
    await sleep(PAUSE_MS);
  }
}

/** Throws what a claim would be refused for now, without waiting. Nothing is written. */
export async function foresee(
  { database, self, rules }: Pick<Claiming, 'database' | 'self' | 'rules'>,
  draft: Draft,
  account: string | undefined,
): Promise<string | undefined> {
  return database.read(async tx => {
    const claimed = { ...draft, account: account ?? '', ...(await moment(tx, account ?? '')) };
    const earlier = account === undefined ? undefined : await earlierOp(tx, self, claimed);
    if (earlier === undefined) return (await rules.judge(tx, claimed))?.why;
    const isHeld = (await readOp(tx, earlier.op))?.state === 'pending';
    return isHeld ? `it is held already, as ${earlier.op}` : undefined;
  });
}

/** Claims a draft. Throws `guarded` (14), with the reason `worked_on` where another process works on the same change; `usage` (2). */
export async function claim(tx: Transaction, claiming: Claiming, draft: Draft): Promise<ClaimResult> {
  const { self, rules, database } = claiming;
  const account = await claiming.useAccount(tx);
  const locked = tx.all(sql`select id from account where id = ${account}${database.lock}`);
  const [when] = await Promise.all([moment(tx, account), locked]);
  const claimed: Claimed = { ...draft, account, ...when };
  const refused = await earlierOp(tx, self, claimed);
  if (refused !== undefined) return refused;
  const spentKey = await freeGivenKey(tx, claimed);
  const held = await rules.judge(tx, claimed);
  const { now, day } = claimed;
  const op: Op = {
    ...draft,
    account,
    state: 'open',
    day,
    holder: self.holder,
    process: self.process,
    epoch: 1,
    lease: now + LEASE_MS,
    created: now,
    touched: now,
    finished: undefined,
    acknowledged: undefined,
    objections: [],
  };
  const withOwnKey = (change: Change) => ({ ...change, key: attemptKey(op.id, { row: change.n }, 1) });
  const changes = spentKey ? draft.changes.map(withOwnKey) : draft.changes;
  await insertRecords(tx, 'op', [op]);
  await insertRecords(tx, 'change', changes);
  await reserve(tx, op, 1);
  const planned = { event: 'begun', op: op.id, command: op.command, who: self.holder, total: op.total } as const;
  await appendLine(tx, account, { ...planned, changes: await plannedDigest(tx, op.id) });
  if (held !== undefined) {
    const error = await rules.hold(tx, claimed, held);
    await tx.run(sql`update op set state = 'pending', lease = 0 where id = ${op.id}`);
    await reserve(tx, op, -1);
    return { kind: 'pending', error };
  }
  // Of a shared journal nothing is ever removed.
  if (!database.isShared) await pruneFinished(tx, account, now);
  return { kind: 'claimed', op, changes };
}

/** The time, and the UTC day whose caps count what is begun or released now: never one before the newest that was counted in. */
export async function moment(tx: Reading, account: string) {
  const [counted] = await tx.all<{ day: string | null }>(
    sql`select max(day) as day from spent where account = ${account}`,
  );
  const now = await tx.now();
  const today = new Date(now).toISOString().slice(0, 10);
  return { now, day: today > (counted?.day ?? '') ? today : String(counted?.day) };
}

/** Throws what refuses the claim; the earlier op where there is one, undefined where nothing speaks against it. */
async function earlierOp(
  tx: Reading,
  self: Self,
  claimed: Claimed,
): Promise<Extract<ClaimResult, { kind: 'earlier' }> | undefined> {
  const earlier =
    (await heldBefore(tx, claimed)) ??
    (await usedKey(tx, claimed)) ??
    (await usedIntents(tx, self, claimed)) ??
    (await unsettledSame(tx, self, claimed)) ??
    (await sameRows(tx, claimed));
  const { account, applies, plan } = claimed;
  const isApply = earlier === undefined && plan.markerPrefix !== undefined && applies !== undefined;
  if (isApply) await appliesOf(tx, self, { account, prefix: plan.markerPrefix, planned: applies });
  return earlier;
}

/** What is held for approval is meant by whoever asks for the same once more, in the same way and row by row under the same names. */
async function heldBefore(tx: Reading, { account, digest, givenKey, rows, bulk }: Claimed) {
  const held = await tx.all<{ id: string; given_key: string | null }>(
    sql`select id, given_key from op where account = ${account} and state = 'pending' and digest = ${digest}
      and bulk = ${bulk ? 1 : 0}`,
  );
  for (const { id, given_key: key } of held) {
    const names = await tx.all<{ intent: string | null }>(sql`select intent from change where op = ${id} order by n`);
    const isSame = rows.every(({ intent = null }, index) => names[index]?.intent === intent);
    if (isSame && (key ?? undefined) === givenKey) return { kind: 'earlier', op: id } as const;
  }
  return undefined;
}

/** 1. The caller's own key: the run that was begun with it. Throws `usage` where that was another change. */
async function usedKey(tx: Reading, { account, givenKey, digest, bulk }: Claimed) {
  if (givenKey === undefined) return undefined;
  if (bulk) {
    const begun = await begunAs(tx, account, givenKey);
    return begun === undefined ? undefined : ({ kind: 'earlier', op: begun } as const);
  }
  const [row] = await tx.all(sql`select * from op where account = ${account} and given_key = ${givenKey}`);
  if (row === undefined) return undefined;
  const op = opOf(row);
  if (op.digest !== digest) throw keyTaken(givenKey, op.id);
  const [change] = (await tx.all(sql`select * from change where op = ${op.id}`)).map(changeOf);
  // What was refused or never sent has left nothing under the key.
  if (change?.state === 'refused' || change?.state === 'not_sent') return undefined;
  return { kind: 'earlier', op: op.id } as const;
}

/** The run of many that was begun under a name; throws where it has ended. */
export async function begunAs(tx: Reading, account: string, name: string): Promise<string | undefined> {
  const [row] = await tx.all<{ id: string; finished: number | null }>(
    sql`select id, finished from op where account = ${account} and given_key = ${name}`,
  );
  if (row === undefined || row.finished === null) return row?.id;
  const message = `this plan was carried out before, at ${new Date(row.finished).toISOString()}: ${row.id}. Nothing was sent`;
  throw opError('guarded', row.id, message, {
    reason: 'plan_used',
    notes: ['What is still to be done is in a new plan.'],
  });
}

/** Takes the key away from an op that came to nothing; true where the service keeps its refusal under the key (A-97). */
async function freeGivenKey(tx: Transaction, { account, givenKey, id }: Claimed): Promise<boolean> {
  if (givenKey === undefined) return false;
  const [row] = await tx.all<{ id: string; state: string }>(
    sql`select o.id, c.state from op o join change c on c.op = o.id where o.account = ${account}
      and o.given_key = ${givenKey} and o.id <> ${id}`,
  );
  if (row === undefined) return false;
  await tx.run(sql`update op set given_key = null where id = ${row.id}`);
  return row.state === 'refused';
}

/** Names or digests of one statement. */
const MANY = 400;

/** What is asked for by names or digests, so many at once. */
async function askInParts<Row>(all: Iterable<string>, ask: (some: readonly string[]) => Promise<readonly Row[]>) {
  const wanted = [...new Set(all)];
  const found: Row[] = [];
  for (let from = 0; from < wanted.length; from += MANY) found.push(...(await ask(wanted.slice(from, from + MANY))));
  return found;
}

/**
 * The changes of an account that have these intents, one for each name. A change that was refused or never sent has let its name go
 * once the end of its op has found nothing of it.
 */
export async function changesNamed(
  tx: Reading,
  account: string,
  names: Iterable<string>,
): Promise<ReadonlyMap<string, Change>> {
  const found = await askInParts(names, some =>
    tx.all(
      sql`select c.* from change c join op o on o.id = c.op where c.intent in (${some}) and o.account = ${account}
        and not (c.state in ('refused', 'not_sent') and o.finished is not null)`,
    ),
  );
  return new Map(found.map(changeOf).map(change => [change.intent ?? '', change]));
}

type Named = Pick<Claimed, 'account' | 'rows' | 'bulk' | 'givenKey' | 'keyPrint'>;

/**
 * The rows whose intents were used before, each with the change that has it. Throws `usage` where one stands for another change,
 * `guarded` where it was used with another API key.
 */
async function usedBefore(tx: Reading, { account, rows, bulk, givenKey, keyPrint }: Named) {
  const named = rows.filter(({ intent }) => intent !== undefined);
  const names = named.map(({ intent = '' }) => intent);
  const used = await changesNamed(tx, account, names);
  const ops = new Map<string, Op>();
  const found: { readonly row: PlannedRow; readonly op: Op; readonly change: Change }[] = [];
  for (const row of named) {
    const earlier = used.get(row.intent ?? '');
    if (earlier === undefined) continue;
    const op = ops.get(earlier.op) ?? ((await readOp(tx, earlier.op)) as Op);
    ops.set(op.id, op);
    const where = `${bulk ? `row ${row.row}: ` : ''}the intent ${JSON.stringify(row.intent)} was used`;
    // A key of the caller's belongs to its one change.
    const isSameKey = (bulk ? undefined : givenKey) === (op.bulk ? undefined : op.givenKey);
    if (earlier.digest !== rowDigest(row) || !isSameKey) {
      throw opError('usage', earlier.op, `${where} for another change: ${earlier.op}. Nothing was sent`, {
        notes: ['The same intent means the same change. Another change needs another intent.'],
      });
    }
    if (op.keyPrint !== keyPrint) {
      throw opError('guarded', earlier.op, `${where} with another API key: ${earlier.op}`, {
        notes: [
          'Whether it is the same account cannot be told, so nothing was sent. Another change needs another intent.',
        ],
      });
    }
    found.push({ row, op, change: earlier });
  }
  return found;
}

/** 1. Intents: the earlier result. */
async function usedIntents(tx: Reading, self: Self, claimed: Claimed) {
  for (const { row, op } of await usedBefore(tx, claimed)) {
    if (claimed.bulk || op.bulk) throw begunMeanwhile(row, op.id);
    if (op.finished === undefined && whoWorks(op, self, claimed.now) !== 'nobody') throw workedOn(op, claimed.now);
    return { kind: 'earlier', op: op.id } as const;
  }
  return undefined;
}

/** What the intents of rows were used for before, by the numbers of the rows. Throws `guarded` for one of a run of many that is not finished. */
export async function earlierUses(tx: Reading, named: Named): Promise<ReadonlyMap<number, EarlierUse>> {
  const uses = new Map<number, EarlierUse>();
  for (const { row, op, change } of await usedBefore(tx, named)) {
    // The claim says whether it is the same request.
    if (op.state === 'pending') continue;
    const isMany = named.bulk || op.bulk;
    if (isMany && change.state !== 'done') throw begunMeanwhile(row, op.id);
    const isSettled = change.state === 'done' && (isMany || op.finished !== undefined);
    const settled = isSettled ? recordedOutcome(change, op) : undefined;
    uses.set(row.row, { intent: row.intent ?? '', op: op.id, row: change.n, bulk: op.bulk, settled });
  }
  return uses;
}

/** A change with a name of its own is another purchase, and a state may be brought about twice without harm. */
function isMeantOnce({ intent, operation }: Change): boolean {
  return intent === undefined && CALLS[operation].repeat !== 'freely';
}

/** 2. The same change in an op that is not settled, and that no living process of this machine works on or that was taken up again. */
async function unsettledSame(tx: Reading, self: Self, claimed: Claimed) {
  const { account, now } = claimed;
  const begun = now - claimed.age();
  const open = await tx.all(
    sql`select * from op where account = ${account} and (acknowledged is null or state <> 'finished'
      or (epoch > 1 and acknowledged > ${begun})) order by created`,
  );
  // One that was taken up again is no purchase of its own: whoever repeats its command before it is acknowledged means that one.
  const others = open.map(opOf).filter(op => op.epoch > 1 || whoWorks(op, self, now) !== 'here');
  if (others.length === 0) return undefined;
  const wanted = new Set(claimed.changes.filter(isMeantOnce).map(({ digest }) => digest));
  if (wanted.size === 0) return undefined;
  for (const other of others) {
    const rows = await tx.all<SameRow>(
      sql`select n, digest, state from change where op = ${other.id} and intent is null
        and state in ('planned', 'sent', 'unknown', 'done', ${other.finished === undefined ? 'refused' : 'unknown'})
        order by n`,
    );
    const same = rows.filter(({ digest }) => wanted.has(digest));
    // A done and acknowledged row refuses nothing: it is only mentioned beside one that does.
    const isAcknowledged = other.acknowledged !== undefined && (other.epoch === 1 || other.acknowledged <= begun);
    if (!same.some(({ state }) => state !== 'done' || !isAcknowledged)) continue;
    if (whoWorks(other, self, now) !== 'nobody') throw workedOn(other, now);
    throw unsettled(other, same, claimed.bulk);
  }
  return undefined;
}

/**
 * 3. The same rows within a day, where they move money: a file that is run again, whole or edited, also beside its first run. Rows
 * with an intent of their own are other purchases.
 */
async function sameRows(tx: Reading, { account, bulk, movesMoney, again, plan, now, changes }: Claimed) {
  if (!bulk || !movesMoney || again || plan.phased === true) return undefined;
  const meant = changes.filter(isMeantOnce);
  const digests = meant.map(({ digest }) => digest);
  const earlier = await askInParts(digests, some =>
    tx.all<{ readonly id: string; readonly finished: number | null; readonly digest: string }>(
      sql`select o.id, o.finished, c.digest from change c join op o on o.id = c.op
        where c.digest in (${some}) and c.intent is null and o.account = ${account} and o.bulk = 1
          and o.moves_money = 1 and o.touched > ${now - DAY}
          and (c.state = 'done' or (o.finished is null and c.state in ('planned', 'sent', 'unknown')))
        order by o.created desc`,
    ),
  );
  const [newest] = earlier;
  if (newest === undefined) return undefined;
  // Each row of an earlier file stands for one of this one.
  const there = new Map<string, typeof earlier>();
  for (const each of earlier) addTo(there, each.digest, each);
  const others: number[] = [];
  const named = new Map<string, number[]>();
  for (const { digest, n } of meant) {
    const same = there.get(digest)?.pop();
    const how = same?.finished == null ? 'under way' : `done already, at ${new Date(same.finished).toISOString()}`;
    if (same === undefined) others.push(n);
    else addTo(named, `${how}, by ${same.id}`, n);
  }
  const each = [...named].map(([by, rows]) => `${by}: ${rowsNamed(rows)}`).join('; ');
  throw opError('guarded', newest.id, `${each}. Nothing was sent`, {
    reason: 'finished_before',
    notes: [
      others.length === 0
        ? 'Leave these rows out, or name each purchase in a column called intent.'
        : `Not among them: ${rowsNamed(others)}. A file of these rows alone is executed.`,
      `If the same changes are meant once more: ${sameCommandWith('--again')}`,
    ],
  });
}

/**
 * How often applies of a fleet were begun or taken up. One is made at a time: throws `guarded` while somebody works on one, and
 * where it was `planned` beside another number, for what was done since is not in the plan.
 */
export async function appliesOf(
  tx: Reading,
  self: Self,
  { account, prefix, planned }: { readonly account: string; readonly prefix: string; readonly planned?: number },
): Promise<number> {
  const now = await tx.now();
  // These ops have a name, so that they are kept for good.
  const named = await tx.all(
    sql`select * from op where account = ${account} and bulk = 1 and given_key is not null order by touched`,
  );
  const applies = named.map(opOf).filter(({ plan }) => plan.markerPrefix === prefix);
  const begun = applies.reduce((sum, { epoch }) => sum + epoch, 0);
  const working = applies.find(op => op.state !== 'finished' && whoWorks(op, self, now) !== 'nobody');
  const other = working ?? (planned === undefined || planned === begun ? undefined : applies.at(-1));
  if (other === undefined) return begun;
  const message = `another apply of ${prefix} is under way, or was begun since this plan was made: ${other.id}. Nothing was sent`;
  throw opError('guarded', other.id, message, {
    reason: 'other_apply',
    notes: ['When it has ended, make the plan anew.'],
  });
}

/** Holds what an op may take from the wallet, for the account and for its profile; -1 lets it go. */
export async function reserve(
  tx: Transaction,
  { account, profile, day, total }: Pick<Op, 'account' | 'profile' | 'day' | 'total'>,
  sign: 1 | -1,
  spent = 0,
): Promise<void> {
  if (total === 0 && spent === 0) return;
  for (const scope of ['account', `profile:${profile}`]) {
    await tx.run(
      sql`insert into spent (account, scope, day, held, spent)
        values (${account}, ${scope}, ${day}, ${sign * total}, ${spent})
        on conflict (account, scope, day) do update set held = spent.held + excluded.held, spent = spent.spent + excluded.spent`,
    );
  }
}

/** Finished ops of long ago are removed with their changes; names stay, so that a purchase is made once. */
async function pruneFinished(tx: Transaction, account: string, now: number): Promise<void> {
  await tx.run(
    sql`delete from op where account = ${account} and touched < ${now - KEPT_MS} and finished is not null
      and acknowledged is not null and given_key is null and not exists (
        select 1 from change c where c.op = op.id and c.intent is not null and c.state not in ('refused', 'not_sent'))`,
  );
}

function keyTaken(key: string, op: string): CliError {
  const message = `the idempotency key ${JSON.stringify(key)} was used before with other values; nothing was sent`;
  return opError('usage', op, message, {
    notes: ['The same key means the same request. Another request needs another key.'],
    idempotencyKey: key,
  });
}

export function begunMeanwhile({ row, intent }: PlannedRow, op: string): CliError {
  const message = `row ${row}: the intent ${JSON.stringify(intent)} is in ${op}, which was begun meanwhile or is not finished. Nothing was sent`;
  return opError('guarded', op, message, { hint: `cardwright ops resume ${op}` });
}

export function workedOn(op: Op, now: number): CliError {
  const seconds = Math.max(1, Math.ceil((op.lease - now) / 1000));
  const message = `${op.holder} works on ${op.id} (${op.command}) now; its lease runs for ${seconds} s. Nothing was sent`;
  return opError('guarded', op.id, message, { reason: 'worked_on' });
}

type SameRow = Pick<Change, 'n' | 'digest' | 'state'>;

const UNANSWERED = 'was sent without a trustworthy answer';
/** How a change stands, by its state. */
const HOW: Readonly<Record<string, string>> = {
  done: 'is done, and its command ended before it said so',
  planned: 'is still to be sent',
  refused: 'was begun and refused, and not verified',
};

/** The first that is not done says how it stands; of a file that is half done which rows are. */
function unsettled(op: Op, same: readonly SameRow[], bulk: boolean): CliError {
  const done = same.filter(({ state }) => state === 'done');
  const left = same.filter(({ state }) => state !== 'done');
  const { n, state } = (left[0] ?? done[0]) as SameRow;
  const named = (rows: readonly SameRow[]) => rowsNamed(rows.map(row => row.n));
  const isHalf = bulk && done.length > 0 && left.length > 0;
  const which = op.bulk || bulk ? `row ${n} of ${op.id}` : op.id;
  const how = op.state === 'pending' ? 'is held for approval' : (HOW[state] ?? UNANSWERED);
  return opError('guarded', op.id, `the same change ${how}: ${which}. Nothing was sent`, {
    reason: 'same_change',
    notes: [
      ...(state === 'planned' && op.bulk ? [`To give it up: ${resolveCommand(op.id, [n], 'not-done')}`] : []),
      ...(isHalf
        ? [`Of the rows of ${op.id}: done: ${named(done)}; not done, or not known to be: ${named(left)}.`]
        : []),
      bulk
        ? 'Rows that are meant a second time have names of their own, in a column called intent.'
        : 'A second one that is meant has an --intent of its own.',
      op.state === 'pending'
        ? 'This says what it waits for:'
        : 'This finds out what came of it, and finishes it where that is safe:',
    ],
    ...(op.state !== 'pending' && { hint: `cardwright ops resume ${op.id}` }),
  });
}
