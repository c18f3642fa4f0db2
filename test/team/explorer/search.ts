/** Every history within bounds, the short ones first, and the first that breaks a promise. */
import { LEASE_TICKS } from './database.ts';
import { type Move, movesOf, timeOf } from './operator.ts';
import { OURS, type Rules } from './rules.ts';
import { type Bounds, type Database, firstWorld, type Line, OPS_EACH, type World } from './world.ts';

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
  readonly what: string;
  readonly from: Reached | undefined;
}

/** Throws where there are more states than `most`: a search that ends early has shown nothing. */
export function search(bounds: Bounds, rules: Rules = OURS, most = 4_000_000): Searched {
  const seen = new Set<string>();
  let open: Reached[] = [{ world: firstWorld(bounds), what: '', from: undefined }];
  let [steps, carriedOut, takenOver] = [0, 0, 0];
  const found = (broken: Searched['broken']): Searched => ({ states: seen.size, steps, carriedOut, takenOver, broken });
  seen.add(keyOf(open[0]?.world as World));
  while (open.length > 0) {
    const next: Reached[] = [];
    for (const from of open) {
      for (const { what, world } of allMoves(from.world, bounds, rules)) {
        steps += 1;
        const key = keyOf(world);
        if (seen.has(key)) continue;
        seen.add(key);
        if (seen.size > most) throw new Error(`more than ${most} states`);
        const reached = { world, what, from };
        const promise = brokenIn(world, bounds);
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

/** One text for each state. */
function keyOf({ tick, db, standby, operators, wire, effects, crashes, lostAnswers }: World): string {
  const parts = [
    tick,
    crashes,
    lostAnswers,
    effects.join(),
    wire
      .map(({ op, from, left }) => [op, from, left])
      .sort()
      .join(),
  ];
  parts.push(databaseKey(db), standby === null ? '' : databaseKey(standby));
  for (const { doing, begun, known, copies, told } of operators) {
    parts.push(doing.at, begun, known.seq, known.server, told.join());
    if ('want' in doing) parts.push(doing.want);
    if ('op' in doing) parts.push(doing.op);
    if ('began' in doing) parts.push(doing.began ?? '');
    if ('checked' in doing) parts.push(doing.checked);
    if ('found' in doing) parts.push(doing.found ?? '', doing.patient ? 1 : 0);
    if ('hand' in doing) {
      const { op, epoch, since, formerLeaseEnd, lines } = doing.hand;
      parts.push(op, epoch, since, formerLeaseEnd ?? '', linesKey(lines));
    }
    for (const { op, finished, lines } of copies) parts.push(op, finished ? 1 : 0, linesKey(lines));
  }
  return parts.join(' ');
}

function databaseKey({ ops, held, spent, seq, server, accepted, fork, wrote, pushed }: Database): string {
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
          op.reserved,
          op.spent,
          linesKey(op.lines),
        ].join(),
  );
  return [...rows, held, spent, seq, server, accepted, fork, wrote.join(), pushed.join()].join(';');
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
    ...failoverMoves(world, bounds),
    ...time(world, bounds),
  ];
}

/** A request arrives and is answered, arrives and its answer is lost, or never arrives. */
function wireMoves(world: World, { keys }: Bounds): readonly Move[] {
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
      const told = { ...sender, doing: { at: 'record', hand, began: world.tick } } as const;
      const answered = { ...arrived, operators: world.operators.with(from, told) };
      moves.push({ what: `${timeOf(world)} the service carries op ${op} out and answers`, world: answered });
    }
    return moves;
  });
}

/** A standby without the last commit takes the place of the server; later an admin accepts it. */
function failoverMoves(world: World, { failover, pushed: who, operators }: Bounds): readonly Move[] {
  const { db, standby } = world;
  if (!failover) return [];
  if (db.server === 0) {
    if (standby === null) return [];
    const promoted = { ...standby, server: 1, fork: standby.seq } as const;
    return [{ what: `${timeOf(world)} a standby takes over`, world: { ...world, db: promoted, standby: null } }];
  }
  if (db.accepted === 1) return [];
  const holders = db.ops.flatMap(op => (op?.state === 'running' ? op.holder : []));
  const waitedFor = who === 'everybody' ? Array.from({ length: operators }, (_, me) => me) : [...db.wrote, ...holders];
  if (waitedFor.some(me => !db.pushed.includes(me))) return [];
  const accepted = { ...db, accepted: 1, seq: db.seq + 1 } as const;
  return [{ what: `${timeOf(world)} an admin accepts the standby`, world: { ...world, db: accepted } }];
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
function brokenIn({ db, effects, operators, tick }: World, { cap, wants }: Bounds): string | undefined {
  const twice = effects.findIndex(times => times > 1);
  if (twice >= 0) return `op ${twice} was carried out ${effects[twice]} times`;
  const perWant = new Map<number, number>();
  for (const [op, times] of effects.entries()) {
    const want = wants[Math.floor(op / OPS_EACH)] as number;
    perWant.set(want, (perWant.get(want) ?? 0) + times);
  }
  for (const [want, times] of perWant) if (times > 1) return `purchase ${want} was carried out ${times} times`;
  const all = effects.reduce((sum, times) => sum + times, 0);
  if (all > cap) return `${all} purchases were carried out, and the cap allows ${cap}`;
  for (const { told } of operators) {
    const nothing = told.find(op => effects[op] === 0);
    if (nothing !== undefined) return `op ${nothing} is told to be done, and was not`;
  }
  const ops = db.ops.flatMap(op => op ?? []);
  const held = ops.reduce((sum, op) => sum + (op.state === 'running' ? op.reserved : 0), 0);
  const spent = ops.reduce((sum, op) => sum + op.spent, 0);
  if (ops.some(op => op.spent > op.reserved) || db.held !== held || db.spent !== spent) {
    return `the day holds ${db.held} and has spent ${db.spent}, its ops hold ${held} and have spent ${spent}`;
  }
  if (ops.some(op => op.state === 'running' && op.leaseUntil > tick + LEASE_TICKS)) return 'a lease is too long';
  return undefined;
}
