/** What the functions of the schema do (docs/design/team.md, sections 2 and 3), each one commit or a refusal. */
import { leaseMsFor } from '../../../src/team/lease.ts';
import type { Rules } from './rules.ts';
import {
  type Bounds,
  type Copy,
  type Database,
  type Line,
  mayClash,
  type Op,
  ownerOfOp,
  TICK_MS,
  WRITE_TOTAL_MS,
} from './world.ts';

export const LEASE_TICKS = leaseMsFor({ writeTotalMs: WRITE_TOTAL_MS }) / TICK_MS;

/** Who calls, and when. */
export interface Call {
  readonly bounds: Bounds;
  readonly rules: Rules;
  readonly tick: number;
  readonly operator: number;
  readonly process: number;
  readonly known: { readonly seq: number; readonly server: number };
}

export type Verdict<T extends string> = { readonly verdict: T; readonly db: Database };

/** CW005 and CW006. */
export function isRefused(db: Database, call: Pick<Call, 'bounds' | 'rules' | 'known'>): boolean {
  return isMoved(db, call.bounds) || db.lost || isShort(db, call);
}

/** The database is not where the account knows it. */
export function isMoved({ server, accepted }: Database, { replaced }: Bounds): boolean {
  return replaced === 'by a standby' && server !== accepted;
}

/** It does not hold the line that the caller has seen. */
export function isShort(db: Database, { rules, known }: Pick<Call, 'rules' | 'known'>): boolean {
  if (known.seq === 0 || db.server === 0) return false;
  const line = known.seq > db.seq ? undefined : `{"hash":"${hashAt(db, known.seq)}"}`;
  const seen = { seq: known.seq, hash: `${known.server}.${known.seq}` };
  return rules.linesLost(seen, { line, head: { seq: db.seq, hash: hashAt(db, db.seq) } }) > 0;
}

/** Lines up to the fork are those of the first database. */
function hashAt({ server, fork }: Database, seq: number): string {
  return `${seq > fork ? server : 0}.${seq}`;
}

function committed(db: Database, { bounds, operator }: Call, change: Partial<Database>, writesLine = true): Database {
  if (bounds.replaced === undefined) return { ...db, ...change };
  const line = writesLine ? { seq: db.seq + 1, wrote: union(db.wrote, operator) } : {};
  return { ...db, ...change, ...line };
}

export function claim(
  db: Database,
  call: Call,
  { op, want, lines }: Pick<Copy, 'op' | 'want' | 'lines'>,
): Verdict<'claimed' | 'no'> {
  const { bounds, tick, operator, process } = call;
  if (isRefused(db, call)) return { verdict: 'no', db };
  // The answer of the same call was lost.
  if (db.ops[op]?.writer === process) return { verdict: 'claimed', db };
  const isUsed = db.ops.some((other, at) => other?.want === want && isInTheWay(other, at, call));
  if (isUsed || db.held + db.spent + 1 > bounds.cap) return { verdict: 'no', db };
  const made: Op = {
    want,
    named: true,
    holder: operator,
    writer: process,
    epoch: 1,
    leaseUntil: tick + LEASE_TICKS,
    leaseBefore: 0,
    state: 'running',
    reserved: 1,
    spent: 0,
    lines,
    notTold: false,
  };
  return { verdict: 'claimed', db: committed(db, call, { ops: withOp(db, op, made), held: db.held + 1 }) };
}

/** A name is used once; without one a change waits for the end of an equal one, and until that is shown to who began it. */
function isInTheWay(op: Op, at: number, { bounds, rules, tick, operator }: Call): boolean {
  const { named, state, leaseUntil, notTold } = op;
  if (bounds.nameless === undefined) return named;
  if (notTold && ownerOfOp(at) === operator) return true;
  return state !== 'finished' && (rules.refusesUnderLease || leaseUntil <= tick);
}

export interface Holding {
  readonly op: number;
  readonly epoch: number;
}

function isFenced(op: Op | null | undefined, { operator }: Call, { epoch }: Holding): boolean {
  return op === null || op === undefined || op.state === 'finished' || op.epoch !== epoch || op.holder !== operator;
}

/** SENT of a row, and the lease anew. */
export function appendSent(db: Database, call: Call, holding: Holding, line: Line): Verdict<'appended' | 'fenced'> {
  const op = db.ops[holding.op];
  if (isRefused(db, call) || op === null || op === undefined) return { verdict: 'fenced', db };
  const isThere = op.lines.some(each => each.t === 'SENT' && each.by === line.by && each.at === line.at);
  if (isThere && op.epoch === holding.epoch) return { verdict: 'appended', db };
  if (isFenced(op, call, holding) && call.rules.isSentFenced) return { verdict: 'fenced', db };
  const after = { ...op, lines: [...op.lines, line], leaseUntil: call.tick + LEASE_TICKS };
  return { verdict: 'appended', db: committed(db, call, { ops: withOp(db, holding.op, after) }, false) };
}

/** DONE with END: what was reserved is spent. FAILED with END: it is free, and so is the name. */
export function appendEnd(db: Database, call: Call, holding: Holding, line: Line): Verdict<'ended' | 'fenced'> {
  const op = db.ops[holding.op];
  if (isRefused(db, call) || op === null || op === undefined) return { verdict: 'fenced', db };
  if (op.state === 'finished' && op.writer === call.process && op.epoch === holding.epoch && call.rules.endsOnce)
    return { verdict: 'ended', db };
  const isOver = op.state === 'finished' && !call.rules.endsOnce;
  if (isFenced(isOver ? { ...op, state: 'running' } : op, call, holding)) return { verdict: 'fenced', db };
  const spent = line.t === 'DONE' ? op.reserved : 0;
  const notTold = call.bounds.nameless === true && call.rules.keepsNotTold && ownerOfOp(holding.op) !== call.operator;
  const after = finished({ ...op, lines: [...op.lines, line], spent: op.spent + spent, notTold }, call);
  const sums = { held: db.held - op.reserved, spent: db.spent + spent };
  const ended = committed(db, call, { ops: withOp(db, holding.op, after), ...sums });
  return { verdict: 'ended', db: line.t === 'DONE' ? ended : withoutName(ended, call, holding.op) };
}

/** `told`: whether who began it has seen that it has ended. */
export function told(db: Database, op: number, isTold: boolean): Database {
  return { ...db, ops: withOp(db, op, { ...(db.ops[op] as Op), notTold: !isTold }) };
}

/** The process of this copy has ended its op, and was killed before it told that. */
export function isLeft(db: Database, { op, finished, lines }: Copy): boolean {
  const row = db.ops[op];
  return !finished && row?.state === 'finished' && row.writer === lines.at(-1)?.by && ownerOfOp(op) === row.holder;
}

/** The name of an op that came to nothing is free, or passes to another op that has it too. */
function withoutName(db: Database, { rules }: Pick<Call, 'rules'>, at: number): Database {
  const op = db.ops[at] as Op;
  const heir = rules.passesNames
    ? db.ops.findIndex(each => each?.want === op.want && !each.named && !isVain(each))
    : -1;
  const freed = withOp(db, at, { ...op, named: false });
  if (!op.named || heir < 0) return { ...db, ops: freed };
  return { ...db, ops: freed.with(heir, { ...(db.ops[heir] as Op), named: true }) };
}

/** It came to nothing for certain. */
export function isVain({ lines }: Pick<Op, 'lines'>): boolean {
  return lines.some(({ t }) => t === 'FAILED');
}

/** Nobody asks for what of it is left out, and histories that differ in it alone are one. */
function finished(op: Op, { bounds, rules }: Call): Op {
  const over = { ...op, state: 'finished', leaseUntil: 0, leaseBefore: 0 } as const;
  return mayClash(bounds) || bounds.refusals !== undefined || !rules.endsOnce ? over : { ...over, lines: [] };
}

export function renew(db: Database, call: Call, holding: Holding): Verdict<'renewed' | 'fenced'> {
  const op = db.ops[holding.op];
  if (isRefused(db, call) || op === null || op === undefined || isFenced(op, call, holding))
    return { verdict: 'fenced', db };
  const after = { ...op, leaseUntil: call.tick + LEASE_TICKS };
  return { verdict: 'renewed', db: { ...db, ops: withOp(db, holding.op, after) } };
}

/** The lease ends; what is unknown stays held. */
export function letGo(db: Database, call: Call, holding: Holding): Database {
  const op = db.ops[holding.op];
  if (isRefused(db, call) || op === null || op === undefined || isFenced(op, call, holding)) return db;
  const free = call.rules.holdsUnknown ? 0 : op.reserved;
  const after = { ...op, leaseUntil: call.tick, reserved: op.reserved - free };
  return committed(db, call, { ops: withOp(db, holding.op, after), held: db.held - free }, false);
}

export function take(db: Database, call: Call, wanted: number, clock: number): Verdict<'taken' | 'no'> {
  const { rules, tick, operator, process } = call;
  const op = db.ops[wanted];
  if (isRefused(db, call) || op === null || op === undefined) return { verdict: 'no', db };
  // The answer of the same call was lost.
  if (op.writer === process && op.leaseUntil > tick) return { verdict: 'taken', db };
  const now = rules.leaseClock === 'server' ? tick : tick + clock;
  if (op.leaseUntil > now || (op.state === 'finished' && rules.endsOnce)) return { verdict: 'no', db };
  const after: Op = {
    ...op,
    holder: operator,
    writer: process,
    epoch: op.epoch + 1,
    leaseUntil: tick + LEASE_TICKS,
    leaseBefore: Math.min(op.leaseUntil, tick),
    lines: [...op.lines, { t: 'RUN', by: process, at: tick + clock }],
  };
  return { verdict: 'taken', db: committed(db, call, { ops: withOp(db, wanted, after) }) };
}

/** Outcomes of rows that this process has sent, whoever has the op now. */
export function witness(db: Database, copy: Copy): Database {
  const op = db.ops[copy.op];
  if (op === null || op === undefined || op.state === 'finished') return db;
  const beyond = copy.lines.filter(
    ({ t, by }) =>
      (t === 'DONE' || t === 'FAILED') &&
      op.lines.some(each => each.t === 'SENT' && each.by === by) &&
      !op.lines.some(each => each.t === t && each.by === by),
  );
  if (beyond.length === 0) return db;
  return { ...db, ops: withOp(db, copy.op, { ...op, lines: [...op.lines, ...beyond] }) };
}

/** `report_loss`: from then on everybody is refused, until an admin has accepted the database. */
export function reportLoss(db: Database): Database {
  return db.lost || db.accepted === 1 ? db : { ...db, lost: true, pushed: [], seq: db.seq + 1 };
}

/** `import_op` of what the database has lost, or of the files of a machine, with the whole amount held. */
export function importOp(db: Database, call: Call, copy: Copy): Database {
  const op = db.ops[copy.op];
  if (op === undefined) return db;
  const isDone = copy.lines.some(({ t }) => t === 'DONE');
  const spent = copy.finished && isDone ? 1 : 0;
  if (op === null) return imported(db, call, copy);
  const last = copy.lines.at(-1)?.by ?? op.writer;
  // A process that is not known here has taken it up, and the database has lost that.
  const wasTaken = op.writer !== last && !op.lines.some(({ by }) => by === last);
  const isFree = op.leaseUntil <= call.tick || op.writer === last || (wasTaken && isRefused(db, call));
  const isMine = (op.holder === call.operator || wasTaken) && isFree && op.state === 'running';
  const hasGoneOn = op.lines.some(({ by }) => !copy.lines.some(line => line.by === by));
  const lacking = copy.lines.filter(line => !op.lines.some(isSameAs(line)));
  if (!isMine || hasGoneOn || lacking.length === 0) return db;
  const hands = { holder: call.operator, writer: last, epoch: op.epoch + 1, leaseUntil: call.tick };
  const after: Op = {
    ...op,
    ...(wasTaken && { ...hands, leaseBefore: Math.min(op.leaseUntil, call.tick) }),
    lines: [...op.lines, ...lacking],
    spent,
    state: copy.finished ? 'finished' : 'running',
  };
  const held = copy.finished ? 1 : 0;
  return committed(db, call, { ops: withOp(db, copy.op, after), held: db.held - held, spent: db.spent + spent });
}

function imported(db: Database, call: Call, copy: Copy): Database {
  const other = db.ops.findIndex(each => each?.want === copy.want && each.named);
  const isNamed = !isVain(copy) && (other < 0 || !call.rules.leavesNames);
  const spent = copy.finished && !isVain(copy) ? 1 : 0;
  const made: Op = {
    want: copy.want,
    named: isNamed,
    holder: call.operator,
    writer: -1,
    epoch: 1,
    leaseUntil: call.tick,
    leaseBefore: call.tick,
    state: copy.finished ? 'finished' : 'running',
    reserved: 1,
    spent,
    lines: copy.lines,
    notTold: false,
  };
  const held = copy.finished ? 0 : 1;
  const sums = { held: db.held + held, spent: db.spent + spent };
  const ops = withOp(db, copy.op, made);
  const robbed = other >= 0 && isNamed ? ops.with(other, { ...(db.ops[other] as Op), named: false }) : ops;
  return committed(db, call, { ops: robbed, ...sums });
}

/** `accept_clash`: an admin has looked at two ops with one name. */
export function acceptClash(db: Database, { rules }: Pick<Call, 'rules'>, want: number): Database {
  const ops = rules.acceptsWithoutEffect
    ? db.ops
    : db.ops.map(op => (op?.want === want ? { ...op, named: false } : op));
  return { ...db, ops, clashes: union(db.clashes, want), seq: db.seq + 1 };
}

export function isSameAs({ t, by, at }: Line): (other: Line) => boolean {
  return other => other.t === t && other.by === by && other.at === at;
}

function withOp(db: Database, at: number, op: Op): readonly (Op | null)[] {
  return db.ops.with(at, op);
}

export function union(list: readonly number[], one: number): readonly number[] {
  return list.includes(one) ? list : [...list, one].sort();
}
