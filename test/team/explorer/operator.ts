/** What one operator does next: a command of his, step by step, each with everything that may become of it. */
import { clockIsSane, quietPeriodMs } from '../../../src/journal/execution/policy.ts';
import { leaseLeft, leaseMsFor } from '../../../src/team/lease.ts';
import { answers, claimKnown, excusedSent, nameIsOthers, ownerInDatabase } from './clashes.ts';
import * as database from './database.ts';
import { recordsOf } from './records.ts';
import { movesOfFiles, recover, withLost } from './recovery.ts';
import type { Rules } from './rules.ts';
import {
  accepted,
  after,
  call,
  clockOf,
  grown,
  idle,
  type Move,
  name,
  processOf,
  say,
  type Turn,
  withCopy,
} from './turn.ts';
import {
  type Bounds,
  type Database,
  type Doing,
  type Hand,
  type Line,
  mayClash,
  type Operator,
  ownerOfOp,
  TICK_MS,
  type World,
  WRITE_TOTAL_MS,
} from './world.ts';

type At<Name extends Doing['at']> = Extract<Doing, { readonly at: Name }>;

const WRITE_TOTAL = { writeTotalMs: WRITE_TOTAL_MS };
const QUIET_MS = quietPeriodMs('live', WRITE_TOTAL_MS);

export function movesOf(world: World, bounds: Bounds, rules: Rules, me: number): readonly Move[] {
  const operator = world.operators[me] as Operator;
  const turn: Turn = { world, bounds, rules, me, operator };
  const moves = stepsOf(turn, operator.doing);
  if (operator.doing.at === 'idle' || world.crashes === bounds.crashes) return moves;
  const crashed = after(turn, { doing: { at: 'idle' } }, { crashes: world.crashes + 1 });
  return [...moves, { what: say(turn, 'is killed'), world: crashed }];
}

function stepsOf(turn: Turn, doing: Doing): readonly Move[] {
  switch (doing.at) {
    case 'idle':
      return begin(turn);
    case 'claim':
      return claim(turn, doing);
    case 'take':
      return take(turn, doing);
    case 'send':
      return send(turn, doing);
    case 'check':
      return check(turn, doing);
    case 'leave':
      return leave(turn, doing);
    case 'wait':
      return [{ what: say(turn, 'waits no longer'), world: after(turn, { doing: settling(doing.hand, false) }) }];
    case 'settle':
      return settle(turn, doing);
    case 'record':
      return record(turn, doing);
    case 'let go':
      return [{ what: say(turn, 'lets go'), world: idle(turn, database.letGo(turn.world.db, call(turn), doing.hand)) }];
  }
}

function settling(hand: Hand, patient: boolean): At<'settle'> {
  return { at: 'settle', hand, found: null, patient };
}

/** A command begins; before anything else it brings what this machine knows and the database does not. */
function begin(turn: Turn): readonly Move[] {
  const { world, bounds, rules, me, operator } = turn;
  const { db } = world;
  if (operator.files !== null) return movesOfFiles(turn);
  if (database.isRefused(db, call(turn))) return bounds.replaced === undefined ? [] : recover(turn);
  const moves: Move[] = shown(turn);
  if (operator.begun === bounds.commands[me]) return moves;
  const left = bounds.nameless ? operator.copies.filter(copy => database.isLeft(db, copy)) : [];
  const noted = rules.notesLeft ? left.reduce((one, { op }) => database.told(one, op, false), db) : db;
  const brought = operator.copies.reduce(database.witness, noted);
  const copies = operator.copies.map(copy => (left.includes(copy) ? { ...copy, finished: true } : copy));
  /** The first call of a command is made at once: what comes before it is as if it had not begun. */
  const started = (what: string, doing: At<'claim'> | At<'take'>, first = brought): void => {
    const world1 = after(turn, { doing, begun: operator.begun + 1, copies }, { db: first });
    const ready: Turn = { ...turn, world: world1, operator: world1.operators[me] as Operator };
    const ends = doing.at === 'claim' ? claim(ready, doing) : take(ready, doing);
    moves.push(...ends.map(each => ({ ...each, what: `${say(turn, what)}; ${each.what}` })));
  };
  const want = bounds.wants[me] as number;
  const isTold = operator.told.some(op => db.ops[op]?.want === want);
  if (!isTold) {
    started(`begins purchase ${want}`, { at: 'claim', want, began: world.tick });
  }
  for (const [op, row] of db.ops.entries()) {
    // One that is certainly refused needs no try.
    if (row === null || (row.state === 'finished' && rules.endsOnce)) continue;
    if (rules.leaseClock === 'server' && row.leaseUntil > world.tick) continue;
    const first = withLost(turn, brought, op);
    if (first !== undefined) started(`takes op ${op} up`, { at: 'take', op, began: world.tick }, first);
  }
  return moves;
}

/** A resume of what has ended shows it. */
function shown(turn: Turn): Move[] {
  const { world, me, operator } = turn;
  return world.db.ops.flatMap((row, op) => {
    if (row?.notTold !== true || ownerOfOp(op) !== me) return [];
    const told = database.union(operator.told, op);
    const db = database.told(world.db, op, true);
    return [{ what: say(turn, `is shown that op ${op} is done`), world: after(turn, { told }, { db }) }];
  });
}

function claim(turn: Turn, { want, began }: At<'claim'>): readonly Move[] {
  const { world, bounds, me, operator } = turn;
  const op = processOf(turn);
  const mine = (t: Line['t']): Line => ({ t, by: op, at: began + clockOf(turn) });
  const lines = bounds.sentWithClaim ? [mine('RUN'), mine('SENT')] : [mine('RUN')];
  const { verdict, db } = database.claim(world.db, call(turn), { op, want, lines });
  if (verdict === 'no') return [answeredBefore(turn, want) ?? { what: say(turn, 'is refused'), world: idle(turn, db) }];
  const hand: Hand = { op, epoch: 1, since: began, formerLeaseEnd: null, lines };
  const doing: Doing = bounds.sentWithClaim ? { at: 'check', hand } : { at: 'send', hand, began: null };
  const copies = [...operator.copies, { op, want, finished: false, lines }];
  const known = claimKnown(turn, want, op);
  const done = { ...accepted(turn, db, { doing, copies }), ...known };
  return [
    { what: say(turn, `has claimed op ${op}`), world: done },
    ...lost(turn, db, `the claim of op ${op} by ${name(me)}`).map(each => ({
      ...each,
      world: { ...each.world, ...known },
    })),
  ];
}

/** The name was used by an op that is done: the command tells that. */
function answeredBefore(turn: Turn, want: number): Move | undefined {
  const { world, bounds, operator } = turn;
  if (!mayClash(bounds) || database.isRefused(world.db, call(turn))) return undefined;
  const op = world.db.ops.findIndex(each => each?.want === want && each.named);
  const row = world.db.ops[op];
  if (row?.state !== 'finished' || !row.lines.some(({ t }) => t === 'DONE')) return undefined;
  const told = after(turn, { doing: { at: 'idle' }, told: database.union(operator.told, op) });
  return { what: say(turn, `is told that op ${op} is done`), world: { ...told, ...answers(told, want, op) } };
}

function take(turn: Turn, { op, began }: At<'take'>): readonly Move[] {
  const { world, operator } = turn;
  const { verdict, db } = database.take(world.db, call(turn), op, clockOf(turn));
  const row = db.ops[op];
  if (verdict === 'no' || row === null || row === undefined)
    return [{ what: say(turn, 'is refused'), world: idle(turn, db) }];
  const formerLeaseEnd = world.tick + clockOf(turn) - (world.tick - row.leaseBefore);
  const hand: Hand = { op, epoch: row.epoch, since: began, formerLeaseEnd, lines: row.lines };
  const copies = withCopy(operator.copies, { op, want: row.want, finished: false, lines: row.lines });
  const done = accepted(turn, db, { doing: afterTake(turn, hand), copies });
  return [{ what: say(turn, `has op ${op}`), world: done }, ...lost(turn, db, `the take of op ${op}`)];
}

function afterTake(turn: Turn, hand: Hand): Doing {
  const said = (...what: readonly Line['t'][]) => hand.lines.some(({ t }) => what.includes(t));
  if (said('DONE')) return { at: 'record', hand, outcome: 'DONE' };
  if (said('FAILED')) return { at: 'record', hand, outcome: 'FAILED' };
  if (said('SENT')) return settling(hand, true);
  return nameIsOthers(turn, hand.op) ? { at: 'let go', hand } : { at: 'send', hand, began: null };
}

/** SENT is made durable. */
function send(turn: Turn, { hand, began: before }: At<'send'>): readonly Move[] {
  const { world } = turn;
  const began = before ?? world.tick;
  const line: Line = { t: 'SENT', by: processOf(turn), at: began + clockOf(turn) };
  const { verdict, db } = database.appendSent(world.db, call(turn), hand, line);
  if (verdict === 'fenced') return [{ what: say(turn, 'is fenced and sends nothing'), world: idle(turn, db) }];
  const lines = [...hand.lines, line];
  const held: Hand = { ...hand, since: began, lines };
  const sent = accepted(turn, db, { doing: { at: 'check', hand: held }, copies: grown(turn, held) });
  const known = { excused: excusedSent(turn, hand.op) };
  return [
    { what: say(turn, `has written SENT of op ${hand.op}`), world: { ...sent, ...known } },
    ...lost(turn, db, 'SENT', { at: 'send', hand, began }).map(each => ({
      ...each,
      world: { ...each.world, ...known },
    })),
  ];
}

/** The last look before the request. */
function check(turn: Turn, { hand }: At<'check'>): readonly Move[] {
  const { world } = turn;
  const at = (tick: number) => ({ monotonic: tick * TICK_MS, wall: tick * TICK_MS });
  const leaseMs = leaseMsFor(WRITE_TOTAL);
  const left = leaseLeft({ leaseMs, ...WRITE_TOTAL, since: at(hand.since) }, at(world.tick));
  if (left > 0) {
    const doing: Doing = { at: 'leave', hand, checked: world.tick };
    return [{ what: say(turn, 'may send'), world: after(turn, { doing }) }];
  }
  const { verdict, db } = database.renew(world.db, call(turn), hand);
  if (verdict === 'fenced') return [{ what: say(turn, 'has lost the lease and sends nothing'), world: idle(turn, db) }];
  const doing: Doing = { at: 'check', hand: { ...hand, since: world.tick } };
  return [{ what: say(turn, 'renews its lease'), world: after(turn, { doing }, { db }) }];
}

function leave(turn: Turn, { hand }: At<'leave'>): readonly Move[] {
  const { world, me } = turn;
  const wire = [...world.wire, { op: hand.op, from: me, left: world.tick }];
  const doing: Doing = { at: 'wait', hand };
  const owner = ownerInDatabase(turn, hand.op);
  const wrong = owner === undefined ? world.wrong : `op ${hand.op} is sent, and its name belongs to op ${owner}`;
  return [{ what: say(turn, `sends op ${hand.op}`), world: after(turn, { doing }, { wire, wrong }) }];
}

/** An outcome that nobody knows: the steps of the program's own policy, until one writes or waits. */
function settle(turn: Turn, doing: At<'settle'>): readonly Move[] {
  const { world, bounds, rules } = turn;
  const { hand, found, patient } = doing;
  const mayResend = patient && !nameIsOthers(turn, hand.op);
  const step = rules.nextStep({
    trace: 'marker',
    keyHonoured: mayResend && bounds.keys === 'honoured',
    lifeKnown: true,
    isDenied: found === 'nothing',
    freely: false,
    quiet: isQuiet(turn, hand),
    found: found ?? undefined,
    resendAbsent: mayResend && bounds.resendAbsent,
    mayWait: patient,
  });
  const next = (what: string, to: Doing): readonly Move[] => [
    { what: say(turn, what), world: after(turn, { doing: to }) },
  ];
  switch (step) {
    case 'look': {
      const effects = world.effects[hand.op] ?? 0;
      const seen = effects === 0 ? 'nothing' : effects === 1 ? 'it' : 'several';
      const looked = settle(turn, { ...doing, found: seen });
      return looked.map(each => ({ ...each, what: `${say(turn, `looks and finds ${seen}`)}; ${each.what}` }));
    }
    case 'wait':
      return [];
    case 'resend':
      return next(`will send op ${hand.op} again`, { at: 'send', hand, began: null });
    case 'done':
    case 'duplicate':
      return next(`has found op ${hand.op}`, { at: 'record', hand, outcome: 'DONE' });
    case 'leave':
      return [
        ...next(`leaves op ${hand.op} unknown`, { at: 'let go', hand }),
        ...(bounds.byHand && patient && found === 'nothing' && isQuiet(turn, hand)
          ? next(`says that op ${hand.op} was not done`, { at: 'record', hand, outcome: 'FAILED' })
          : []),
      ];
  }
}

function isQuiet(turn: Turn, { lines, formerLeaseEnd }: Hand): boolean {
  const { world, rules } = turn;
  const ms = (tick: number) => tick * TICK_MS;
  const sentUntil = rules.sentUntilBy(recordsOf(lines), formerLeaseEnd === null ? undefined : ms(formerLeaseEnd));
  const sentAt = lines.findLast(({ t }) => t === 'SENT')?.at ?? 0;
  const since = Math.max(ms(sentAt), sentUntil(1));
  const now = ms(world.tick + clockOf(turn));
  const latest = Math.max(since, ...lines.map(({ at }) => ms(at)));
  return clockIsSane({ now, drift: 0 }, latest) && now - since >= QUIET_MS;
}

/** The outcome and END. Behind a fence the outcome stays on this machine. */
function record(turn: Turn, { hand, outcome }: At<'record'>): readonly Move[] {
  const { world, bounds, operator } = turn;
  const line: Line = { t: outcome, by: processOf(turn), at: world.tick + clockOf(turn) };
  const { verdict, db } = database.appendEnd(world.db, call(turn), hand, line);
  const copies = grown(turn, { ...hand, lines: [...hand.lines, line] }, verdict === 'ended');
  if (verdict === 'fenced')
    return [
      {
        what: say(turn, 'keeps the outcome, for the op is in other hands'),
        world: after(turn, { doing: { at: 'idle' }, copies }),
      },
    ];
  const isDone = outcome === 'DONE';
  const told = isDone ? database.union(operator.told, hand.op) : operator.told;
  const over = accepted(turn, db, { doing: { at: 'idle' }, copies, told });
  const row = db.ops[hand.op];
  const answer = isDone && row?.named && mayClash(bounds) ? answers(over, row.want, hand.op) : {};
  const forgotten = after(turn, { copies: grown(turn, { ...hand, lines: [...hand.lines, line] }) });
  return [
    {
      what: say(turn, `tells that op ${hand.op} ${isDone ? 'is done' : 'was refused'}`),
      world: { ...over, ...answer },
    },
    ...lost({ ...turn, world: forgotten, operator: forgotten.operators[turn.me] as Operator }, db, 'the end'),
  ];
}

/** The commit stands, and its answer does not arrive: the same call comes again. */
function lost(turn: Turn, db: Database, what: string, doing: Doing = turn.operator.doing): readonly Move[] {
  const { world, bounds } = turn;
  if (world.lostAnswers === bounds.lostAnswers || db === world.db) return [];
  const next = after(turn, { doing }, { db, lostAnswers: world.lostAnswers + 1 });
  return [{ what: `the answer is lost: ${what}`, world: next }];
}
