/** What the functions of the schema do (docs/design/team.md, sections 2 and 3), each one commit or a refusal. */
import { leaseMsFor } from '../../../src/team/lease.ts';
import type { Rules } from './rules.ts';
import { type Bounds, type Copy, type Database, type Line, type Op, TICK_MS, WRITE_TOTAL_MS } from './world.ts';

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
export function isRefused(db: Database, { known }: Pick<Call, 'known'>): boolean {
  return db.server !== db.accepted || isShort(db, known);
}

/** It does not hold the line that the caller has seen. */
export function isShort(db: Database, known: Call['known']): boolean {
  if (known.seq === 0 || db.server === 0) return false;
  return known.server === 0 ? known.seq > db.fork : known.seq > db.seq;
}

function committed(db: Database, { bounds, operator }: Call, change: Partial<Database>, writesLine = true): Database {
  if (!bounds.failover) return { ...db, ...change };
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
  const isUsed = db.ops.some(other => other?.want === want && isInTheWay(other, call));
  if (isUsed || db.held + db.spent + 1 > bounds.cap) return { verdict: 'no', db };
  const made: Op = {
    want,
    holder: operator,
    writer: process,
    epoch: 1,
    leaseUntil: tick + LEASE_TICKS,
    leaseBefore: 0,
    state: 'running',
    reserved: 1,
    spent: 0,
    lines,
  };
  return { verdict: 'claimed', db: committed(db, call, { ops: withOp(db, op, made), held: db.held + 1 }) };
}

/** A name is used once; without one a change waits for the end of an equal one. */
function isInTheWay({ state, leaseUntil }: Op, { bounds, rules, tick }: Call): boolean {
  if (bounds.nameless === undefined) return true;
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

/** DONE with END: what was reserved is spent. */
export function appendEnd(db: Database, call: Call, holding: Holding, line: Line): Verdict<'ended' | 'fenced'> {
  const op = db.ops[holding.op];
  if (isRefused(db, call) || op === null || op === undefined) return { verdict: 'fenced', db };
  if (op.state === 'finished' && op.writer === call.process && op.epoch === holding.epoch && call.rules.endsOnce)
    return { verdict: 'ended', db };
  const isOver = op.state === 'finished' && !call.rules.endsOnce;
  if (isFenced(isOver ? { ...op, state: 'running' } : op, call, holding)) return { verdict: 'fenced', db };
  const after = finished({ ...op, lines: [...op.lines, line], spent: op.spent + op.reserved }, call);
  const sums = { held: db.held - op.reserved, spent: db.spent + op.reserved };
  return { verdict: 'ended', db: committed(db, call, { ops: withOp(db, holding.op, after), ...sums }) };
}

/** Nobody asks for what of it is left out, and histories that differ in it alone are one. */
function finished(op: Op, { bounds, rules }: Call): Op {
  const over = { ...op, state: 'finished', leaseUntil: 0, leaseBefore: 0 } as const;
  return bounds.failover || !rules.endsOnce ? over : { ...over, lines: [] };
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
      t === 'DONE' &&
      op.lines.some(each => each.t === 'SENT' && each.by === by) &&
      !op.lines.some(each => each.t === 'DONE' && each.by === by),
  );
  if (beyond.length === 0) return db;
  return { ...db, ops: withOp(db, copy.op, { ...op, lines: [...op.lines, ...beyond] }) };
}

/** An op that the database has lost, with the whole amount held. */
export function importOp(db: Database, call: Call, copy: Copy): Database {
  const op = db.ops[copy.op];
  if (op === undefined || !copy.lines.some(({ t }) => t === 'SENT')) return db;
  const spent = copy.finished ? 1 : 0;
  if (op === null) {
    const made: Op = {
      want: copy.want,
      holder: call.operator,
      writer: -1,
      epoch: 1,
      leaseUntil: call.tick,
      leaseBefore: call.tick,
      state: copy.finished ? 'finished' : 'running',
      reserved: 1,
      spent,
      lines: copy.lines,
    };
    const sums = { held: db.held + 1 - spent, spent: db.spent + spent };
    return committed(db, call, { ops: withOp(db, copy.op, made), ...sums });
  }
  const isFree = op.leaseUntil <= call.tick || op.writer === copy.lines.at(-1)?.by;
  const isMine = op.holder === call.operator && isFree && op.state === 'running';
  if (!isMine || copy.lines.length <= op.lines.length) return db;
  const after: Op = { ...op, lines: copy.lines, spent, state: copy.finished ? 'finished' : 'running' };
  return committed(db, call, { ops: withOp(db, copy.op, after), held: db.held - spent, spent: db.spent + spent });
}

function withOp(db: Database, at: number, op: Op): readonly (Op | null)[] {
  return db.ops.with(at, op);
}

export function union(list: readonly number[], one: number): readonly number[] {
  return list.includes(one) ? list : [...list, one].sort();
}
