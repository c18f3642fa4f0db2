/** What an admin does, and what takes the place of the database. */
import { acceptClash, isVain, union } from './database.ts';
import type { Rules } from './rules.ts';
import { type Move, name, timeOf } from './turn.ts';
import type { Bounds, Database, World } from './world.ts';

export function adminMoves(world: World, bounds: Bounds, rules: Rules): readonly Move[] {
  return [...replaced(world, bounds), ...accepts(world, bounds), ...acceptsClashes(world, bounds, rules)];
}

/** Its state before the last commit takes the place of the database, once. */
function replaced(world: World, bounds: Bounds): readonly Move[] {
  const { db, standby } = world;
  if (bounds.replaced === undefined || db.server === 1 || standby === null) return [];
  const promoted = { ...standby, server: 1, fork: standby.seq } as const;
  const what = bounds.replaced === 'by a standby' ? 'a standby takes over' : 'a backup is restored';
  const after: World = { ...world, db: promoted, standby: null, answered: [] };
  return [{ what: `${timeOf(world)} ${what}`, world: after }];
}

/** `accept_failover`: everybody that it asks for has pushed, or is named. */
function accepts(world: World, { replaced, pushed: who, operators, leavesOut }: Bounds): readonly Move[] {
  const { db, leftOut } = world;
  const isWaiting = db.lost || (replaced === 'by a standby' && db.server === 1);
  if (!isWaiting || db.accepted === 1) return [];
  const what = replaced === 'by a standby' ? 'the standby' : 'the backup';
  const accepted: Database = { ...db, accepted: 1, lost: false, seq: db.seq + 1 };
  const holders = db.ops.flatMap(op => (op?.state === 'running' ? op.holder : []));
  const waitedFor = who === 'everybody' ? Array.from({ length: operators }, (_, me) => me) : [...db.wrote, ...holders];
  const [first, ...others] = [...new Set(waitedFor)].filter(me => !db.pushed.includes(me));
  if (first === undefined)
    return [{ what: `${timeOf(world)} an admin accepts ${what}`, world: { ...world, db: accepted } }];
  if (!leavesOut || others.length > 0) return [];
  const without = { ...world, db: accepted, leftOut: union(leftOut, first) };
  return [{ what: `${timeOf(world)} an admin accepts ${what} without ${name(first)}`, world: without }];
}

/** `accept_clash`, of two ops that stand there with one name. */
function acceptsClashes(world: World, { acceptsClashes: may, wants }: Bounds, rules: Rules): readonly Move[] {
  const { db } = world;
  if (!may) return [];
  return [...new Set(wants)].flatMap(want => {
    const both = db.ops.flatMap(op => (op?.want === want && !isVain(op) ? op : []));
    if (both.length < 2 || db.clashes.includes(want) || !both.some(({ named }) => named)) return [];
    const after = { ...world, db: acceptClash(db, { rules }, want) };
    return [{ what: `${timeOf(world)} an admin accepts both ops of purchase ${want}`, world: after }];
  });
}
