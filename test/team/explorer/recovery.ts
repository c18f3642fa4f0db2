/** What machines do with what they alone know: after the database was replaced, and with the ops of their own files. */
import { quietPeriodMs } from '../../../src/journal/execution/policy.ts';
import * as database from './database.ts';
import { historyFrom, intentOf, recordsOf } from './records.ts';
import { after, call, type Move, say, type Turn } from './turn.ts';
import { type Copy, type Database, type Line, opOfFiles, TICK_MS, WRITE_TOTAL_MS } from './world.ts';

/** A command of an operator who is refused: it reports what the database lacks; `journal push` brings what this machine has. */
export function recover(turn: Turn): readonly Move[] {
  const { world, bounds, rules, me, operator } = turn;
  const { db } = world;
  const isShort = database.isShort(db, { rules, known: operator.known });
  const isReported = database.isMoved(db, bounds) || !isShort;
  const reported = isReported ? db : database.reportLoss(db);
  const moves: Move[] = [];
  if (reported !== db)
    moves.push({ what: say(turn, 'is refused, and reports the loss'), world: after(turn, {}, { db: reported }) });
  if (db.server === 0 || (reported.pushed.includes(me) && !isShort)) return moves;
  let pushed: Database = { ...reported, pushed: database.union(reported.pushed, me) };
  for (const copy of operator.copies) pushed = database.witness(database.importOp(pushed, call(turn), copy), copy);
  const known = { seq: pushed.seq, server: 1 };
  return [...moves, { what: say(turn, 'pushes'), world: after(turn, { known }, { db: pushed }) }];
}

/**
 * Before an op is taken up, what the copy of this machine shows to be lost of it is brought. Undefined where somebody has gone on with
 * it since: then it is not taken up.
 */
export function withLost(turn: Turn, db: Database, op: number): Database | undefined {
  const { bounds, operator } = turn;
  const copy = operator.copies.find(each => each.op === op);
  if (bounds.replaced === undefined || copy === undefined) return db;
  const lines = linesLost(turn, db, copy);
  if (lines === undefined) return db;
  const brought = database.importOp(db, call(turn), { ...copy, finished: false, lines });
  return linesLost(turn, brought, copy) === undefined ? brought : undefined;
}

/** Those that the database has had, where a SENT among them is there no more. */
function linesLost({ rules }: Turn, db: Database, copy: Copy): readonly Line[] | undefined {
  const row = db.ops[copy.op];
  if (row === null || row === undefined) return undefined;
  const kept = recordsOf(copy.lines);
  const own = kept.at(-1)?.by;
  // An outcome alone may be in a copy that the database has never had.
  const confirmed = kept.filter(({ by, record }) => by === own && (record.t === 'RUN' || record.t === 'SENT')).length;
  const lost = rules.recordsLost({ kept, there: recordsOf(row.lines), confirmed });
  return lost && copy.lines.slice(0, lost.lines);
}

const QUIET_TICKS = Math.ceil(quietPeriodMs('live', WRITE_TOTAL_MS) / TICK_MS);

/** A machine that has an op in its files claims nothing before that is moved. */
export function movesOfFiles(turn: Turn): readonly Move[] {
  const { world, operator } = turn;
  const lines = operator.files ?? [];
  if (database.isRefused(world.db, call(turn))) return [];
  const isOver = lines.some(({ t }) => t === 'DONE' || t === 'FAILED');
  return [...(isOver ? [] : settledByHand(turn, lines)), ...moved(turn, lines, isOver)];
}

/** `ops resolve`: a person has looked at the service, when nothing can be on its way any more. */
function settledByHand(turn: Turn, lines: readonly Line[]): readonly Move[] {
  const { world, me } = turn;
  const op = opOfFiles(me);
  if (world.tick < QUIET_TICKS || world.wire.some(each => each.op === op)) return [];
  const isDone = world.effects[op] !== 0;
  const said: Line = { t: isDone ? 'DONE' : 'FAILED', by: op, at: world.tick };
  const what = `looks, and says that op ${op} of its files ${isDone ? 'is done' : 'was not done'}`;
  return [{ what: say(turn, what), world: after(turn, { files: [...lines, said] }) }];
}

/** `journal move`, with `--keep-both` where another op has the name. */
function moved(turn: Turn, lines: readonly Line[], finished: boolean): readonly Move[] {
  const { world, bounds, rules, me, operator } = turn;
  const want = bounds.wants[me] as number;
  const op = opOfFiles(me);
  const other = world.db.ops.findIndex(each => each?.want === want && each.named);
  const names = new Map(other < 0 ? [] : [[intentOf(want), String(other)]]);
  if (rules.rowsNotSettled(historyFrom(want, lines), { names }).length > 0) return [];
  const copy = { op, want, finished, lines };
  const db = database.importOp(world.db, call(turn), copy);
  const copies = finished ? operator.copies : [...operator.copies, copy];
  const what = other < 0 ? `moves op ${op}` : `moves op ${op} with --keep-both`;
  return [{ what: say(turn, what), world: after(turn, { files: null, copies }, { db }) }];
}
