/** One operator whose command takes its next step, and the world after it. */
import type * as database from './database.ts';
import type { Rules } from './rules.ts';
import {
  type Bounds,
  type Copy,
  type Database,
  type Hand,
  OPS_EACH,
  type Operator,
  TICK_MS,
  type World,
} from './world.ts';

/** One thing that can happen, and the world after it. */
export interface Move {
  readonly what: string;
  readonly world: World;
}

export interface Turn {
  readonly world: World;
  readonly bounds: Bounds;
  readonly rules: Rules;
  readonly me: number;
  readonly operator: Operator;
}

export function grown({ operator }: Turn, hand: Hand, finished = false): readonly Copy[] {
  return operator.copies.map(copy => (copy.op === hand.op ? { ...copy, finished, lines: hand.lines } : copy));
}

export function withCopy(copies: readonly Copy[], one: Copy): readonly Copy[] {
  return [...copies.filter(({ op }) => op !== one.op), one];
}

export function call(turn: Turn): database.Call {
  const { bounds, rules, world, me, operator } = turn;
  return { bounds, rules, tick: world.tick, operator: me, process: processOf(turn), known: operator.known };
}

/** Number of the process that carries out the command of now; its op has the same. */
export function processOf({ me, operator }: Turn): number {
  return me * OPS_EACH + Math.max(0, operator.begun - 1);
}

export function clockOf({ bounds, me }: Turn): number {
  return bounds.clocks[me] ?? 0;
}

export function name(me: number): string {
  return ['ana', 'ben', 'cem'][me] ?? String(me);
}

export function say({ me, world }: Turn, what: string): string {
  return `${timeOf(world)} ${name(me)} ${what}`;
}

/** Minutes and seconds since the beginning. */
export function timeOf({ tick }: Pick<World, 'tick'>): string {
  const seconds = (tick * TICK_MS) / 1000;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

export function idle(turn: Turn, db: Database): World {
  return after(turn, { doing: { at: 'idle' } }, { db });
}

/** The answer of a commit tells how far the chain is. */
export function accepted(turn: Turn, db: Database, operator: Partial<Operator>): World {
  const known = turn.bounds.replaced !== undefined ? { seq: db.seq, server: db.server } : turn.operator.known;
  return after(turn, { ...operator, known }, { db });
}

export function after(turn: Turn, operator: Partial<Operator>, world: Partial<World> = {}): World {
  const { me, world: before } = turn;
  const changed: Operator = { ...turn.operator, ...operator };
  const copies =
    turn.bounds.replaced !== undefined ? changed.copies : changed.copies.filter(copy => mayBeNeeded(copy, changed));
  const operators = before.operators.with(me, { ...changed, copies });
  const isWritten = world.db !== undefined && world.db !== before.db && before.standby !== null;
  return { ...before, ...world, operators, ...(isWritten && { standby: before.db }) };
}

/** Without a failover a copy is of use while its op is worked on, or where it tells an outcome. */
function mayBeNeeded({ finished, lines }: Copy, { doing }: Operator): boolean {
  if (doing.at === 'idle') return !finished && lines.some(({ t }) => t === 'DONE');
  return true;
}
