/**
 * The ops of one service from the files of a machine into a shared journal, and back. What lies on this machine stays there;
 * a note says first that it counts no more (docs/design/team.md, section 6). Killed at any point it is run again.
 */
import { CliError } from '../core/errors.ts';
import type { MovedJournal } from '../journal/shared-ops.ts';
import { type LocalOp, opsOfService, refuseWorking, saveOp } from '../journal/store/local-export.ts';
import { addIntents, intentsByOp, intentsOfService } from '../journal/store/local-intents.ts';
import { bytesOf, type LocalOps, localHeads } from '../journal/store/local-ops.ts';
import {
  forgetMoved,
  isInAccount,
  isOf,
  type MovedTo,
  movedFrom,
  notedElsewhere,
  noteMoved,
} from '../journal/store/moved.ts';
import { forgetMovedBack, noteMovedBack } from '../journal/store/moved-back.ts';
import type { MovedIn } from '../journal/store/moved-in.ts';
import type { NotedIntent } from '../journal/store/op-store.ts';
import { type JournalHere, otherJournal } from '../journal/store/other-journal.ts';
import { readHistory } from '../journal/store/read-ops.ts';
import { decodeWhole } from '../journal/wal/codec.ts';
import { isOp } from '../journal/wal/op-id.ts';
import type { PlanRecord } from '../journal/wal/records.ts';
import { isPending } from '../journal/wal/replay.ts';
import type { ClaimedIntent, JournalStatus, LeaveResult, OpHead, UsedIntent } from './calls.ts';
import { refusalOf } from './claims.ts';
import { refuseDamaged } from './damaged-records.ts';
import { importOp } from './import-op.ts';
import { type ClashingOp, clashing, reasonToKeep } from './kept-both.ts';
import { accountLeft } from './left-account.ts';
import { bringLeft, type LeavingParts, leftNote } from './left-journal.ts';
import { refuseBehind } from './loss.ts';
import { pushedBy } from './open-shared.ts';
import type { SharedOps } from './shared-ops.ts';
import { notesInWay, refuseUnfinished } from './unfinished.ts';

export interface MoveParts extends LeavingParts {
  readonly local: LocalOps;
  readonly pid: number;
  /** Where the shared journal is reached, without a password. */
  readonly address: string;
  /** Whether a plan of this machine was made with that key. */
  readonly isOwnPlan: (plan: PlanRecord) => Promise<boolean>;
  /** Print of that key on this machine. */
  readonly localPrint: () => Promise<string>;
  /** Where the audit log of this machine stands: its last line, for the chain of the account. */
  readonly localHead: () => Promise<{ readonly seq: number; readonly hash: string } | undefined>;
}

const PAGE = 1000;
/** In one line of the audit log. */
const MOST_NAMED = 20;

interface WhatElse {
  /** Ops that are moved without names of others. */
  readonly keepBoth?: readonly string[] | undefined;
  /** Another shared journal that this machine leaves for this one, by `nameOfJournal`. */
  readonly leave?: string | undefined;
}

/**
 * Throws `guarded` while a command of this machine is at work, and where it has used another shared journal that is not left
 * by this; `check_failed` for ops whose names belong to others there.
 */
export async function moveToShared(parts: MoveParts, { keepBoth = [], leave }: WhatElse = {}): Promise<MovedJournal> {
  const { local, shared, service, pid } = parts;
  refuseBehind(shared);
  // What is refused here must not have changed anything.
  await refuseClosed(shared);
  await refuseKeyOfOthers(parts);
  await refuseWorking(local, pid);
  const left = await leftNote(await othersOf(parts), { here: hereOf(parts), leave });
  await refuseAbsent(parts, keepBoth);
  await local.disk.prepareFolder(local.places.root);
  await noteMoving(parts);
  const brought = left === undefined ? undefined : await bringLeft(parts, left);
  const names = await intentsByOp(local, service);
  const clashes: ClashingOp[] = [];
  let [moved, rows, there] = [0, 0, 0];
  for await (const op of opsOfService(local, service)) {
    const done = await importLocal(parts, op, { noted: names.get(op.plan.op) ?? [], keepBoth });
    names.delete(op.plan.op);
    if (done === 'there') there += 1;
    else if (done !== 'nothing' && done.clashes.length > 0) clashes.push({ op: op.plan.op, clashes: done.clashes });
    else if (done !== 'nothing') {
      moved += 1;
      rows += done.rows;
    }
  }
  const kept = await importNames(parts, names, { clashes, keepBoth });
  if (clashes.length > 0) throw clashing(clashes);
  await noteMoved(local, { ...(await noteOf(parts)), complete: true });
  await noteInChain(parts, `${movedWords(moved, keepBoth)}${brought?.words ?? ''}`);
  await endLeft(shared);
  await shared.head.keep();
  await forgetMovedBack(local, service);
  // From here on nothing speaks of the other journal any more.
  if (left !== undefined) await forgetMoved(local, each => isInAccount(each, left));
  return { to: 'shared', moved: moved + (brought?.ops ?? 0), rows: rows + (brought?.rows ?? 0), there, names: kept };
}

/** Rejects while the account takes nothing from this machine: a call that changes nothing is refused as all others are. */
async function refuseClosed(shared: SharedOps): Promise<void> {
  await shared.statements().forgetNames({ ...(await callOf(shared)), before_ms: 0 });
}

/** Operations of another account would be none that anybody of this one can settle. */
async function refuseKeyOfOthers({ shared, keyPrint }: MoveParts): Promise<void> {
  const { account, role, statements } = shared;
  if (await statements().hasKey(account, keyPrint)) return;
  throw refusalOf({ verdict: 'key' }, { account, key_print: keyPrint, role });
}

/** From here on the files of this machine take nothing. Throws `guarded` while one of its commands is at work, or an op waits for approval. */
async function noteMoving(parts: MoveParts): Promise<void> {
  const { local, service, pid } = parts;
  const here = hereOf(parts);
  const before = (await movedFrom(local)).filter(each => isOf(each, service) && isInAccount(each, here));
  const moved = before.filter(({ began, back }) => began !== true && back === undefined);
  if (moved.length > 0) {
    // Run once more: what a restored database lacks is not there until this ends, and may have to be settled here.
    if (moved.some(({ complete }) => complete === true)) await noteMoved(local, await noteOf(parts));
    return;
  }
  await refusePending(local, service);
  await noteMoved(local, await noteOf(parts));
  // Who began before the note was there holds a lock.
  await refuseWorking(local, pid);
  await refusePending(local, service).catch(async (thrown: unknown) => {
    await forgetMoved(local, each => isOf(each, service) && isInAccount(each, here));
    for (const each of before) await noteMoved(local, each);
    throw thrown;
  });
}

/** Notes of other shared journals in which this card account was used; ops of this service that were moved are in one alone. */
async function othersOf(parts: MoveParts): Promise<readonly MovedTo[]> {
  const here = hereOf(parts);
  const notes = await movedFrom(parts.local);
  const used = await notedElsewhere(notes, here, parts.accountPrint);
  const moved = notes.filter(each => isOf(each, here) && !isInAccount(each, here) && each.began !== true);
  return [...new Set([...used, ...moved])];
}

function hereOf({ service, shared }: MoveParts): JournalHere {
  return { ...service, journal: shared.journalId, account: shared.account };
}

/** Throws `usage` for ops that are not here, and of which no name is left either. */
async function refuseAbsent({ local, service }: MoveParts, keepBoth: readonly string[]): Promise<void> {
  if (keepBoth.length === 0) return;
  const named = new Set((await intentsOfService(local, service)).map(({ op }) => op));
  for (const op of keepBoth) {
    if (named.has(op) || (isOp(op) && (await bytesOf(local, op)) !== undefined)) continue;
    const message = `${op} is no operation of this machine; nothing was moved`;
    throw new CliError('usage', { message, hint: 'cardwright ops list --journal local', outcome: 'not_sent', op });
  }
}

/** What approvers sign names the journal that it is in: in another one their signatures are worth nothing. */
async function refusePending(local: LocalOps, service: MoveParts['service']): Promise<void> {
  for await (const { op, plan: planOf } of localHeads(local, { unfinished: true })) {
    const plan = await planOf();
    if (plan?.approval === undefined || !isOf(plan, service)) continue;
    const history = await readHistory({ read: other => bytesOf(local, other) }, op);
    if (history === undefined || !isPending(history)) continue;
    throw new CliError('guarded', {
      message: `${op} waits for approval in the journal of this machine, and its request is for no other journal`,
      notes: ['Have it approved and sent, or rejected; then the journal can be moved.'],
      hint: 'cardwright approvals list --journal local',
      outcome: 'not_sent',
      op,
    });
  }
}

async function noteOf(parts: MoveParts): Promise<MovedTo> {
  const { localPrint, keyPrint: account_print, address } = parts;
  return { ...hereOf(parts), address, key_print: await localPrint(), account_print };
}

function movedWords(moved: number, keepBoth: readonly string[]): string {
  const both = keepBoth.length === 0 ? '' : `, without the names of others: ${keepBoth.slice(0, MOST_NAMED).join(' ')}`;
  return `${moved === 1 ? '1 operation' : `${moved} operations`}${both}`;
}

/** From here on everybody may take up what this machine had taken along. */
async function endLeft(shared: SharedOps): Promise<void> {
  const { statements, head } = shared;
  head.learn((await statements().cameBack(await callOf(shared))).head);
}

async function callOf({ account, host, head, machine }: SharedOps) {
  return { account, known: head.known(), host, machine: await machine() };
}

/** The chain of this machine ends in that of the account. */
async function noteInChain({ shared, service, localHead }: MoveParts, what: string): Promise<void> {
  const { statements, random, head } = shared;
  const last = await localHead();
  const after = last === undefined ? 'without an audit log' : `after line ${last.seq} of its audit log, ${last.hash}`;
  const reason = `${what}, ${after}`;
  const nonce = Buffer.from(random.bytes(16)).toString('hex');
  const facts = { event: 'write', profile: '', ...service, operation: 'journal.move', reason };
  head.learn((await statements().note({ ...(await callOf(shared)), nonce }, facts)).head);
}

async function importLocal(
  { shared, keyPrint, isOwnPlan }: MoveParts,
  { plan, bytes, finished, ownsKey }: LocalOp,
  { noted, keepBoth }: { readonly noted: readonly NotedIntent[]; readonly keepBoth: readonly string[] },
) {
  const { op } = plan;
  const reason = keepBoth.includes(op)
    ? await reasonToKeep(shared, { plan, bytes, finished, ownsKey }, noted)
    : undefined;
  const intents = noted.map(({ name, digest, row }): ClaimedIntent => ({ name, digest, row }));
  const print = (await isOwnPlan(plan)) ? keyPrint : null;
  const written = { op, bytes, finished, keyPrint: print, recovered: false, keepBoth: reason, intents, ownsKey };
  const done = await importOp(shared, written);
  return typeof done === 'string' || reason === undefined ? done : { ...done, clashes: [] };
}

/** Names of rows that are done, whose ops were removed; those of `keepBoth` without what belongs to others. */
async function importNames(
  { shared }: MoveParts,
  names: ReadonlyMap<string, readonly NotedIntent[]>,
  { clashes, keepBoth }: { readonly clashes: ClashingOp[]; readonly keepBoth: readonly string[] },
): Promise<number> {
  const { statements, head } = shared;
  let kept = 0;
  for (const [op, noted] of names) {
    const done = noted.filter(each => each.done !== undefined) as readonly UsedIntent[];
    if (done.length === 0) continue;
    const call = { ...(await callOf(shared)), op, names: done };
    const answer = await statements().importNames({ ...call, ...(keepBoth.includes(op) && { keep_both: true }) });
    head.learn(answer.head);
    if (answer.verdict === 'clash') clashes.push({ op, clashes: answer.clashes ?? [] });
    else kept += done.length - (answer.clashes?.length ?? 0);
  }
  return kept;
}

/**
 * The other way, for a journal that nobody else uses any more. Throws `guarded` while an op is not finished or not told, and
 * unless an admin has frozen the account, so that nothing is begun there meanwhile. With `mine` its only operator freezes it,
 * and what is not finished or not told to him comes along: throws `guarded` where others may operate, and while an op is in
 * hand or waits for approval.
 */
export async function moveToLocal(parts: MoveParts, { mine = false } = {}): Promise<MovedJournal> {
  const { local, shared, service, pid } = parts;
  const { statements, account } = shared;
  const status = await statements().status(account);
  refuseBehind(shared);
  const [other] = await othersOf(parts);
  if (other !== undefined) throw otherJournal(other, hereOf(parts));
  // What a command of this machine has left unsaid decides what is in the way.
  const [unknown] = await pushedBy(shared);
  if (unknown !== undefined) throw notThere(unknown);
  await refuseDamaged(statements(), account);
  // Where a machine goes on alone already, it is this one, run again; or all is refused.
  if (!mine && status.left_to === null) await refuseInUse(shared, status);
  await leaveAccount(parts, { mine, status });
  // From here on the files of this machine take nothing either, until all of it is there.
  await local.disk.prepareFolder(local.places.root);
  await noteMoved(local, { ...(await noteOf(parts)), back: mine ? 'mine' : 'frozen' });
  await refuseWorking(local, pid);
  const names = await allNames(shared);
  let [moved, rows] = [0, 0];
  for (let skip = 0; ; skip += PAGE) {
    const page = await statements().heads(account, { skip, most: PAGE });
    for (const head of page) {
      rows += await saveLocal(parts, head);
      moved += 1;
    }
    if (page.length < PAGE) break;
  }
  await addIntents(local, { ...service, at: shared.clock.now() }, names);
  await noteMovedBack(local, hereOf(parts));
  await forgetMoved(local, each => isOf(each, service) && isInAccount(each, hereOf(parts)));
  return { to: 'local', moved, rows, there: 0, names: names.length };
}

async function refuseInUse(shared: SharedOps, { frozen }: JournalStatus): Promise<void> {
  await refuseUnfinished(shared, frozen !== null);
  if (frozen === null) throw notFrozen(shared.account);
}

interface HowLeft {
  readonly mine: boolean;
  readonly status: JournalStatus;
}

/** From here on the account takes nothing from anybody but this machine. Said again it changes nothing. */
async function leaveAccount({ shared, service }: MoveParts, { mine, status }: HowLeft): Promise<void> {
  const { statements, account, head } = shared;
  const reason = mine ? 'its only operator goes on with one machine' : 'to one machine';
  // Who has frozen the account is the last who said so.
  const operation = status.frozen === null ? 'journal.leave_account' : 'journal.move';
  const facts = { event: 'write', profile: '', ...service, operation, reason };
  const answer = await statements().leaveAccount({ ...(await callOf(shared)), mine }, facts);
  head.learn(answer.head);
  await head.keep();
  if (answer.verdict === 'left') return;
  if (answer.verdict === 'not_frozen') throw notFrozen(account);
  if (answer.verdict === 'moved') throw accountLeft({ account, to: answer.to, frozen: status.frozen !== null });
  const refusal = notLeft(answer, account);
  const notes = answer.verdict === 'others' ? [] : await notesInWay(shared, status.frozen !== null);
  throw notes.length === 0 ? refusal : refusal.with({ notes });
}

async function saveLocal(parts: MoveParts, head: OpHead): Promise<number> {
  const { local, shared } = parts;
  const { statements, account } = shared;
  const { op, state } = head;
  const bytes = Buffer.concat((await statements().readOp(account, op, 1)).map(segment => segment.bytes));
  const [plan] = decodeWhole(bytes);
  // They were readable a moment ago, and nobody has written since.
  if (plan?.t !== 'PLAN') throw new CliError('internal', { message: `${op} begins without its plan` });
  const { given_key: key } = plan;
  const ownsKey = key !== undefined && (await statements().givenKeyOf(account, key)) === op;
  // What its operator has not seen is not over for this machine either: the same command would do it once more.
  const isOver = state === 'finished' && !head.untold;
  const moved = isOver ? undefined : await movedIn(parts, head, plan);
  await saveOp(local, { plan, bytes, ownsKey, moved });
  return plan.rows;
}

async function movedIn(parts: MoveParts, head: OpHead, plan: PlanRecord): Promise<MovedIn> {
  const isOwn = await isOwnKey(parts, head.key_print ?? plan.key_print);
  return {
    at: parts.shared.clock.now(),
    ...(isOwn && { key_print: await parts.localPrint() }),
    ...(head.untold && { untold: true }),
  };
}

/** A key that was replaced is one of the account's as ours is. */
async function isOwnKey({ shared, keyPrint }: MoveParts, wanted: string): Promise<boolean> {
  if (wanted === keyPrint) return true;
  const { statements, account } = shared;
  const known = await Promise.all([wanted, keyPrint].map(each => statements().hasKey(account, each)));
  return known.every(Boolean);
}

async function allNames({ statements, account }: SharedOps): Promise<readonly NotedIntent[]> {
  const names: NotedIntent[] = [];
  for (let behind = ''; ; behind = names.at(-1)?.name ?? '') {
    const page = await statements().intentsPage(account, behind);
    names.push(...page.map(({ done, ...each }) => ({ ...each, ...(done && { done }) })));
    if (page.length < PAGE) return names;
  }
}

function notLeft(
  answer: Exclude<LeaveResult, { verdict: 'left' | 'not_frozen' | 'moved' }>,
  account: string,
): CliError {
  const refused = (message: string, hint: string, more: Partial<CliError['facts']> = {}) =>
    new CliError('guarded', { message, hint, outcome: 'not_sent', ...more });
  if (answer.verdict === 'others') {
    return refused(
      `--mine is for an account with one operator, and others may operate in ${account}: ${answer.roles}`,
      'cardwright journal status',
      {
        notes: [
          `An admin ends a membership in the database: select cardwright.add_member('${account}', 'role', '{}');`,
        ],
      },
    );
  }
  const { op, holder, host } = answer;
  if (answer.verdict === 'pending') {
    const message = `${op} waits for approval in the shared journal, and its request is for no other journal`;
    return refused(message, 'cardwright approvals list', { op });
  }
  const seconds = Math.ceil(answer.left_ms / 1000);
  const message = `${op} is in the hands of ${holder} on ${host}; without a sign of life it can be moved in ${seconds} s`;
  return refused(message, `cardwright ops show ${op}`, { op, retryAfterMs: answer.left_ms });
}

function notThere(op: string): CliError {
  return new CliError('check_failed', {
    message: `${op} was begun by this machine, and the shared journal does not know it; nothing was moved`,
    hint: 'cardwright journal push',
    outcome: 'not_sent',
    op,
  });
}

function notFrozen(account: string): CliError {
  return new CliError('guarded', {
    message: `other operators may still begin something in the account ${account}`,
    notes: [
      `An admin ends that in the database: select cardwright.freeze_account('${account}', 'moved to one machine');`,
    ],
    hint: 'cardwright journal status',
    outcome: 'not_sent',
  });
}
