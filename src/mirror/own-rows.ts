/**
 * Copies the rows of the journal that moved money of this account, so that nothing is lost when it is pruned. The journal
 * is of a machine and the copy of an account: several profiles may speak to one account, each with a key of its own, and
 * a profile may have spoken to another. A row is of the account that its card is of.
 */
import type { MoveRow } from '../books/rows.ts';
import { HOUR, MINUTE, SECOND } from '../core/durations.ts';
import type { MirrorDatabase } from './file.ts';
import type { SyncRun } from './windows.ts';

/** One operation of the journal of this machine. */
export interface OwnOperation {
  readonly op: string;
  readonly last_at: string;
  /** Reads its rows. */
  rows(): Promise<OwnRows>;
}

export interface OwnRows {
  /** Begun by this profile at this address: a row without a card is of this account, too. */
  readonly isMine: boolean;
  /** Begun at this address by whatever profile. */
  readonly isHere: boolean;
  readonly rows: readonly MoveRow[];
}

/** An operation tells its times in whole seconds: one that wrote just now may write again in the same second. */
const SETTLED_AFTER_MS = 2 * SECOND;
/** A card that was made a moment ago may not be in the copy yet: rows of unknown cards are looked at for so long. */
const FOREIGN_AFTER_MS = HOUR;

/** Of each row is kept by which sync it was first known, and by which to be done: what a checkpoint counted. */
export async function copyOwnRows(run: SyncRun, operations: readonly OwnOperation[]): Promise<void> {
  const { db, sync, clock } = run;
  for (const operation of operations) {
    const copied = db.get<{ last_at: string }>('select last_at from copied_op where op = ?', operation.op);
    if (copied?.last_at === operation.last_at) continue;
    const read = await operation.rows();
    const ours = read.rows.filter(row => isOfCopy(db, row, read));
    const age = clock.now() - Date.parse(operation.last_at);
    const isSettled = age >= (ours.length < read.rows.length ? FOREIGN_AFTER_MS : SETTLED_AFTER_MS);
    db.commit(() => {
      for (const row of ours) copyRow(db, row, sync);
      if (!isSettled) return;
      const { op, last_at } = operation;
      db.insert('copied_op', { op, last_at }, 'on conflict (op) do update set last_at = excluded.last_at');
    });
  }
}

/** Whether an operation of this account wrote since, ms by the clock of this machine. */
export async function hasMovedSince(
  db: MirrorDatabase,
  operations: readonly OwnOperation[],
  since: number,
): Promise<boolean> {
  for (const { last_at, rows } of operations) {
    if (Date.parse(last_at) + SECOND <= since) continue;
    const read = await rows();
    if (read.isMine || read.rows.some(row => isOfCopy(db, row, read))) return true;
  }
  return false;
}

/** Sandboxes of one seed give the same ids: elsewhere a row that is older than the card is of another one. */
const OLDER_BY_MS = 5 * MINUTE;
/** A service tells the time of a card, and the journal that of a row, in whole seconds. */
const ROUNDED_MS = 2 * SECOND;

function isOfCopy(db: MirrorDatabase, move: MoveRow, { isMine, isHere }: OwnRows): boolean {
  const { card_id, at_ms } = move;
  if (isMine && (card_id === null || db.fact('origin') !== EMBEDDED)) return true;
  if (card_id === null) return isMarkedBy(db, move);
  const card = db.get<{ created_ms: number; isOfAnOp: number }>(
    `select coalesce(created_ms, 0) as created_ms, metadata like '%"cardwright":"op\\_%' escape '\\' as isOfAnOp
      from card where card_id = ?`,
    card_id,
  );
  if (card === undefined) return false;
  const isYoung = at_ms >= card.created_ms - OLDER_BY_MS;
  // The clock of a sandbox can be moved: of an answer that was lost the journal has no time of the service.
  if (!isMine) return isHere || isYoung || isMarkedBy(db, move);
  // The sandbox of this user starts over with a reset, and gives the same ids again: a row of before it is of no card here.
  if (at_ms >= card.created_ms - ROUNDED_MS) return true;
  // A slow answer: the card is younger than the sending of its own row.
  return move.operation === 'cards.create' && (card.isOfAnOp === 1 ? isMarkedBy(db, move) : isYoung);
}

const EMBEDDED = 'embedded';

/** Whether a card carries the marker of the row. */
function isMarkedBy(db: MirrorDatabase, { op, row }: MoveRow): boolean {
  const marker = `%"cardwright":${JSON.stringify(`${op}.${row}`).replace(/[%_\\]/g, '\\$&')}%`;
  return db.get(`select 1 from card where metadata like ? escape '\\'`, marker) !== undefined;
}

function copyRow(db: MirrorDatabase, move: MoveRow, sync: number): void {
  const { at_ms, purpose = null } = move;
  const done_sync = move.outcome === 'done' ? sync : null;
  db.insert(
    'move',
    { ...move, purpose, first_ms: at_ms, first_sync: sync, done_sync },
    `on conflict (op, row) do update set card_id = excluded.card_id, outcome = excluded.outcome,
      at_ms = excluded.at_ms, done_sync = coalesce(done_sync, excluded.done_sync)`,
  );
}
