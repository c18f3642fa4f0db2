/** Every history within bounds, the short ones first, and the first that breaks a promise. */

import { adminMoves } from './admin.ts';
import { LEASE_TICKS } from './database.ts';
import { movesOf } from './operator.ts';
import { OURS, type Rules } from './rules.ts';
import { type Move, timeOf } from './turn.ts';
import { type Bounds, type Database, firstWorld, type Line, type Operator, ownerOfOp, type World } from './world.ts';

export interface Searched {
  /** Different states of the world. */
  readonly states: number;
  /** Steps between them. */
  readonly steps: number;
  /** States in which a purchase was carried out, and in which an op was settled by another process than the one that sent it. */
  readonly carriedOut: number;
  readonly takenOver: number;
  /** The promise that was broken first, with the shortest history that breaks it; undefined where none is. */
  readonly broken: { readonly promise: string; readonly history: readonly string[] } | undefined;
}

interface Reached {
  readonly world: World;
  /** See `partsOf`. */
  readonly parts: readonly number[];
  readonly what: string;
  readonly from: Reached | undefined;
}

/** Throws where there are more states than `most`: a search that ends early has shown nothing. */
export function search(bounds: Bounds, rules: Rules = OURS, most = 4_000_000): Searched {
  const seen = new Set<string>();
  const numberOf = numbering();
  const first = firstWorld(bounds);
  let open: Reached[] = [{ world: first, parts: partsOf(first, numberOf), what: '', from: undefined }];
  let [steps, carriedOut, takenOver] = [0, 0, 0];
  const found = (broken: Searched['broken']): Searched => ({ states: seen.size, steps, carriedOut, takenOver, broken });
  seen.add(keyOf(first, partsOf(first, numberOf)));
  while (open.length > 0) {
    const next: Reached[] = [];
    for (const from of open) {
      for (const { what, world } of allMoves(from.world, bounds, rules)) {
        steps += 1;
        const parts = partsOf(world, numberOf, from);
        const key = keyOf(world, parts);
        if (seen.has(key)) continue;
        seen.add(key);
        if (seen.size > most) throw new Error(`more than ${most} states`);
        const reached = { world, parts, what, from };
        const promise = brokenIn(from.world, world, bounds);
        if (promise !== undefined) return found({ promise, history: historyTo(reached) });
        if (world.effects.some(times => times > 0)) carriedOut += 1;
        if (world.db.ops.some(op => op?.state === 'finished' && op.epoch > 1)) takenOver += 1;
        next.push(reached);
      }
    }
    open = next;
  }
  return found(undefined);
}

/** One number for each text. */
type Numbering = (text: string) => number;

function numbering(): Numbering {
  const numbers = new Map<string, number>();
  return text => {
    const number = numbers.get(text) ?? numbers.size;
    if (number === numbers.size) numbers.set(text, number);
    return number;
  };
}

/** Numbers of database, standby and operators, which stand for their texts; most of them are those of the state before. */
function partsOf(world: World, numberOf: Numbering, before?: Pick<Reached, 'world' | 'parts'>): readonly number[] {
  const known = (part: object | null): number | undefined => {
    if (before === undefined) return undefined;
    const { db, standby, operators } = before.world;
    return before.parts[[db, standby, ...operators].indexOf(part as Database)];
  };
  const { db, standby, operators } = world;
  return [
    known(db) ?? numberOf(databaseKey(db)),
    standby === null ? -1 : (known(standby) ?? numberOf(databaseKey(standby))),
    ...operators.map(operator => known(operator) ?? numberOf(operatorKey(operator))),
  ];
}

/** One text for each state. */
function keyOf(world: World, parts: readonly number[]): string {
  const { tick, wire, effects, crashes, lostAnswers, refused, leftOut, excused, answered, wrong } = world;
  const lists = [effects, leftOut, excused.wants, excused.ops, answered].map(list => list.join()).join(' ');
  return `${tick} ${crashes} ${lostAnswers} ${refused} ${wireKey(wire)} ${lists} ${parts.join()} ${wrong ?? ''}`;
}

function wireKey(wire: World['wire']): string {
  if (wire.length === 0) return '';
  const texts = wire.map(({ op, from, left }) => `${op},${from},${left}`);
  return texts.sort().join(';');
}

function operatorKey({ doing, begun, known, copies, told, files }: Operator): string {
  const parts: (string | number)[] = [doing.at, begun, known.seq, known.server, told.join()];
  if ('want' in doing) parts.push(doing.want);
  if ('op' in doing) parts.push(doing.op);
  if ('began' in doing) parts.push(doing.began ?? '');
  if ('checked' in doing) parts.push(doing.checked);
  if ('outcome' in doing) parts.push(doing.outcome);
  if ('found' in doing) parts.push(doing.found ?? '', doing.patient ? 1 : 0);
  if ('hand' in doing) {
    const { op, epoch, since, formerLeaseEnd, lines } = doing.hand;
    parts.push(op, epoch, since, formerLeaseEnd ?? '', linesKey(lines));
  }
  for (const { op, finished, lines } of copies) parts.push(op, finished ? 1 : 0, linesKey(lines));
  if (files !== null) parts.push('files', linesKey(files));
  return parts.join(' ');
}

function databaseKey({
  ops,
  held,
  spent,
  seq,
  server,
  accepted,
  fork,
  lost,
  wrote,
  pushed,
  clashes,
}: Database): string {
  const rows = ops.map(op =>
    op === null
      ? ''
      : [
          op.holder,
          op.writer,
          op.epoch,
          op.leaseUntil,
          op.leaseBefore,
          op.state,
          op.named ? 1 : 0,
          op.reserved,
          op.spent,
          op.notTold ? 1 : 0,
          linesKey(op.lines),
        ].join(),
  );
  const sums = [held, spent, seq, server, accepted, fork, lost ? 1 : 0];
  return [...rows, ...sums, wrote.join(), pushed.join(), clashes.join()].join(';');
}

function linesKey(lines: readonly Line[]): string {
  return lines.map(({ t, by, at }) => `${t[0]}${by}.${at}`).join('');
}

function historyTo(reached: Reached): readonly string[] {
  const history: string[] = [];
  for (let at: Reached | undefined = reached; at?.from !== undefined; at = at.from) history.unshift(at.what);
  return history;
}

function allMoves(world: World, bounds: Bounds, rules: Rules): readonly Move[] {
  return [
    ...world.operators.flatMap((_, me) => movesOf(world, bounds, rules, me)),
    ...wireMoves(world, bounds),
    ...adminMoves(world, bounds, rules),
    ...time(world, bounds),
  ];
}

/** A request arrives and is answered, arrives and its answer is lost, or never arrives. */
function wireMoves(world: World, { keys, refusals = 0 }: Bounds): readonly Move[] {
  return world.wire.flatMap(({ op, from }, at) => {
    const wire = world.wire.filter((_, index) => index !== at);
    const before = world.effects[op] ?? 0;
    const times = keys === 'honoured' ? 1 : before + 1;
    const arrived: World = { ...world, wire, effects: world.effects.with(op, times) };
    const moves: Move[] = [
      { what: `${timeOf(world)} the service carries op ${op} out, and its answer is lost`, world: arrived },
      { what: `${timeOf(world)} a request of op ${op} is lost`, world: { ...world, wire } },
    ];
    const sender = world.operators[from];
    if (sender?.doing.at === 'wait' && sender.doing.hand.op === op) {
      const { hand } = sender.doing;
      const told = (outcome: 'DONE' | 'FAILED') =>
        world.operators.with(from, { ...sender, doing: { at: 'record', hand, outcome } });
      const answered = { ...arrived, operators: told('DONE') };
      moves.push({ what: `${timeOf(world)} the service carries op ${op} out and answers`, world: answered });
      // Of a row that was sent before a refusal says something where keys are honoured.
      const isFirst = hand.lines.filter(({ t }) => t === 'SENT').length === 1;
      if ((isFirst || (keys === 'honoured' && before === 0)) && world.refused < refusals) {
        const refused = { ...world, wire, operators: told('FAILED'), refused: world.refused + 1 };
        moves.push({ what: `${timeOf(world)} the service refuses op ${op}`, world: refused });
      }
    }
    return moves;
  });
}

/**
 * Nothing stays on its way for a quiet period (150 s), and without a process that stands still a request leaves within one
 * write of the last look at the lease.
 */
function time(world: World, bounds: Bounds): readonly Move[] {
  const { tick, wire, operators } = world;
  if (tick === bounds.ticks || wire.some(({ left }) => tick - left >= 1)) return [];
  const isLate = operators.some(({ doing }) => doing.at === 'leave');
  if (isLate && !bounds.standsStill) return [];
  const looking = operators.map(operator =>
    operator.doing.at === 'settle' ? { ...operator, doing: { ...operator.doing, found: null } } : operator,
  );
  return [{ what: `${timeOf(world)} time goes by`, world: { ...world, tick: tick + 1, operators: looking } }];
}

/** The promise that does not hold any more. */
function brokenIn(before: World, world: World, bounds: Bounds): string | undefined {
  if (world.wrong !== null) return world.wrong;
  // What has not changed was right before.
  const isSame = world.effects === before.effects && world.excused === before.excused;
  return (
    (isSame ? undefined : doneTooOften(world, bounds)) ??
    (world.operators === before.operators ? undefined : toldWrongly(world)) ??
    (world.db === before.db ? undefined : countedWrongly(world))
  );
}

function doneTooOften({ effects, excused }: World, { cap, wants }: Bounds): string | undefined {
  const times = (list: readonly number[], one: number) => list.filter(each => each === one).length;
  const twice = effects.findIndex((many, op) => many > 1 + times(excused.ops, op));
  if (twice >= 0) return `op ${twice} was carried out ${effects[twice]} times`;
  const perWant = new Map<number, number>();
  for (const [op, many] of effects.entries()) {
    const want = wants[ownerOfOp(op)] as number;
    perWant.set(want, (perWant.get(want) ?? 0) + Math.min(many, 1));
  }
  for (const [want, many] of perWant)
    if (many > 1 + times(excused.wants, want)) return `purchase ${want} was carried out ${many} times`;
  const all = effects.reduce((sum, many) => sum + many, 0);
  const most = cap + excused.wants.length + excused.ops.length;
  return all > most ? `${all} purchases were carried out, and the cap allows ${most}` : undefined;
}

function toldWrongly({ operators, effects }: World): string | undefined {
  for (const { told } of operators) {
    const nothing = told.find(op => effects[op] === 0);
    if (nothing !== undefined) return `op ${nothing} is told to be done, and was not`;
  }
  return undefined;
}

function countedWrongly({ db, tick }: World): string | undefined {
  const ops = db.ops.flatMap(op => op ?? []);
  const held = ops.reduce((sum, op) => sum + (op.state === 'running' ? op.reserved : 0), 0);
  const spent = ops.reduce((sum, op) => sum + op.spent, 0);
  if (ops.some(op => op.spent > op.reserved) || db.held !== held || db.spent !== spent) {
    return `the day holds ${db.held} and has spent ${db.spent}, its ops hold ${held} and have spent ${spent}`;
  }
  if (ops.some(op => op.state === 'running' && op.leaseUntil > tick + LEASE_TICKS)) return 'a lease is too long';
  return undefined;
}
