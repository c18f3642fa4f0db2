/** Two ops with one name: what is promised of them, and who could not know. */
import { isSameAs, isVain } from './database.ts';
import { historyFrom, intentOf } from './records.ts';
import type { Turn } from './turn.ts';
import { type Copy, mayClash, ownerOfOp, type World } from './world.ts';

/** The op that the name of this one belongs to, where it is another one. */
export function ownerInDatabase({ world, bounds }: Pick<Turn, 'world' | 'bounds'>, op: number): number | undefined {
  const row = world.db.ops[op];
  if (!mayClash(bounds) || row === null || row === undefined || row.named) return undefined;
  const owner = world.db.ops.findIndex(each => each?.want === row.want && each.named);
  return owner < 0 ? undefined : owner;
}

/** As a resume asks it before it sends. */
export function nameIsOthers(turn: Turn, op: number): boolean {
  const owner = ownerInDatabase(turn, op);
  const row = turn.world.db.ops[op];
  if (owner === undefined || row === null || row === undefined) return false;
  const names = new Map([[intentOf(row.want), String(owner)]]);
  return turn.rules.ownerOf(historyFrom(row.want, row.lines), { names })(1) !== undefined;
}

/** The database has answered for a name with this op: from then on with no other one, unless that came to nothing. */
export function answers({ answered, wrong }: World, want: number, op: number): Pick<World, 'answered' | 'wrong'> {
  const before = answered[want] ?? null;
  const isOther = before !== null && before !== op;
  const list = Array.from({ length: Math.max(answered.length, want + 1) }, (_, at) => answered[at] ?? null);
  return {
    answered: list.with(want, op),
    wrong: isOther ? `the name of purchase ${want} was answered with op ${before}, and now with op ${op}` : wrong,
  };
}

/** What is known when a name was claimed: it must be that of no op that may have been carried out. */
export function claimKnown(turn: Turn, want: number, op: number): Pick<World, 'excused' | 'wrong'> {
  const { world, bounds } = turn;
  const { excused } = world;
  if (!mayClash(bounds)) return { excused, wrong: world.wrong };
  const there = world.db.ops.findIndex((each, at) => each?.want === want && at !== op && !isVain(each));
  const wrong = there < 0 ? world.wrong : `op ${op} is begun under the name of op ${there}`;
  const isUnseen = unseen(turn, copy => copy.want === want && world.db.ops[copy.op] === null);
  return { excused: isUnseen ? { ...excused, wants: [...excused.wants, want].sort() } : excused, wrong };
}

/** SENT of an op is written once more, and only another machine knows that it was sent before. */
export function excusedSent(turn: Turn, op: number): World['excused'] {
  const { excused, db } = turn.world;
  const lines = db.ops[op]?.lines ?? [];
  const isLost = (copy: Copy) =>
    copy.op === op && copy.lines.some(line => line.t === 'SENT' && !lines.some(isSameAs(line)));
  return unseen(turn, isLost) ? { ...excused, ops: [...excused.ops, op].sort() } : excused;
}

/**
 * Another operator knows of such an op that may have left his machine, and could not say so yet: nobody has reported the loss, or
 * an admin has left him out.
 */
function unseen({ world, bounds, me }: Turn, isIt: (copy: Copy) => boolean): boolean {
  const { db, operators, leftOut } = world;
  if (db.server === 0 || bounds.strict) return false;
  const isUnnoticed = bounds.replaced === 'by a backup' && db.accepted === 0;
  return operators.some(
    ({ copies }, other) =>
      other !== me &&
      copies.some(copy => {
        const isSilent = isUnnoticed || leftOut.includes(other) || leftOut.includes(ownerOfOp(copy.op));
        return isSilent && copy.lines.some(({ t }) => t === 'SENT') && isIt(copy);
      }),
  );
}
