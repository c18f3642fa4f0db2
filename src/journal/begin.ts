/** A new op: checked against its twins, written down whole and durable before anything may be sent. */
import { DAY } from '../durations.ts';
import { CliError } from '../errors.ts';
import { isHeld } from '../files/lock.ts';
import { identify } from '../files/process-identity.ts';
import { type ItemPlaces, placedBook } from './book.ts';
import type { JournalFile } from './disk.ts';
import { mayBePerformed } from './history.ts';
import { encodeLines } from './lines.ts';
import { openLog } from './log.ts';
import { deskFor } from './open.ts';
import { refuseOverlaps } from './overlap.ts';
import type { PlannedOp } from './planned.ts';
import { readOrError, readPlan } from './reading.ts';
import type { ItemRecord, JournalRecord, PlanRecord, RunRecord } from './record.ts';
import type { Room } from './room.ts';
import { createRun } from './run.ts';
import type { Run, RunPlan } from './types.ts';

const AGAIN_MS = DAY;

/** Makes the plan durable and takes its lock. Throws `guarded` for twins and for a disk that does not take it. */
export async function beginOp(room: Room, planned: PlannedOp): Promise<Run> {
  const { plan, record, items } = planned;
  const { disk, places, random, pid } = room;
  const { op } = record;
  await refuseTwins(room, planned);
  await disk.note(places.unfinishedMark(op), '');
  await disk.syncNames(places.unfinished);
  if (plan.key !== undefined) await noteGivenKey(room, { origin: record.origin, key: plan.key, op });
  await disk.prepareFolder(places.folder(op));
  const unlock = await disk.hold(places.lock(op));
  const letGo = room.hold();
  const release = async () => {
    letGo();
    await unlock();
  };
  let file: JournalFile | undefined;
  try {
    file = await disk.create(places.journal(op));
    const by = Buffer.from(random.bytes(4)).toString('hex');
    const { started, boot } = identify(pid);
    const run: RunRecord = { t: 'RUN', pid, start: started, boot, at: room.clock.now() };
    const written = await appendPlan(file, { by, plan: record, items, run });
    await disk.syncNames(places.folder(op));
    await disk.syncNames(places.root);
    const log = openLog(file, { op, by, seq: written.places.size + PLAN_RECORDS, size: written.size });
    const { readAt } = file;
    const book = placedBook({ op, readAt }, written.places);
    const desk = await deskFor(room, { plan: record, latest: run.at, book, log, resendAbsent: false });
    const onEnd = () => disk.remove(places.unfinishedMark(op));
    return createRun({ desk, plan, log, onEnd, release, notice: room.notice, ended: false });
  } catch (thrown) {
    await file?.close();
    // Nothing of it has left, and a disk that is full wants the space back.
    await forgetPlan(room, op).catch(() => undefined);
    await release();
    throw thrown;
  }
}

/** The lock goes with the folder. */
async function forgetPlan({ disk, places }: Room, op: string): Promise<void> {
  await disk.remove(places.folder(op));
  await disk.remove(places.unfinishedMark(op));
}

const RECORDS_A_WRITE = 1_000;
/** PLAN, PLANNED and RUN, around the items. */
const PLAN_RECORDS = 3;

interface Planning {
  readonly by: string;
  readonly plan: PlanRecord;
  readonly items: Iterable<ItemRecord>;
  readonly run: RunRecord;
}

function* recordsOf({ plan, items, run }: Planning): Iterable<JournalRecord> {
  yield plan;
  yield* items;
  yield { t: 'PLANNED' };
  yield run;
}

/** Whole and durable before anything is sent; returns its bytes, and where each item stands. */
async function appendPlan(file: JournalFile, planning: Planning): Promise<{ size: number; places: ItemPlaces }> {
  const { by, plan } = planning;
  const [numbers, ends] = [new Uint32Array(plan.rows), new Float64Array(plan.rows)];
  const bins = new Set<string>();
  let [size, seq, items, begin] = [0, 0, 0, 0];
  let batch: JournalRecord[] = [];
  const flush = async () => {
    const lines: number[] = [];
    const bytes = encodeLines(by, seq, batch, lines);
    await file.append(bytes);
    for (const [index, end] of lines.entries()) {
      const record = batch[index];
      if (record?.t === 'PLAN') begin = end;
      if (record?.t !== 'ITEM') continue;
      if (record.operation === 'cards.create') bins.add(String(record.input['bin_id']));
      numbers[items] = record.row;
      ends[items] = size + end;
      items += 1;
    }
    size += bytes.length;
    seq += batch.length;
    batch = [];
  };
  for (const record of recordsOf(planning)) {
    batch.push(record);
    if (batch.length === RECORDS_A_WRITE) await flush();
  }
  if (batch.length > 0) await flush();
  await file.sync();
  return { size, places: { size: items, numbers, ends, begin, bins } };
}

/** An earlier op of this key came to nothing, so the new one takes its place. */
async function noteGivenKey({ disk, places }: Room, { origin, key, op }: Record<'origin' | 'key' | 'op', string>) {
  await disk.prepareFolder(places.givenKeys);
  const path = places.givenKey(origin, key);
  if (await disk.note(path, op)) return disk.syncNames(places.givenKeys);
  await disk.remove(path);
  if (await disk.note(path, op)) return disk.syncNames(places.givenKeys);
  throw new CliError('guarded', {
    message: `the idempotency key ${JSON.stringify(key)} is being used by another command right now`,
    outcome: 'not_sent',
  });
}

/** What tells whether two plans are the same changes of the same account. */
interface Likeness {
  readonly plan: Pick<RunPlan, 'rows' | 'bulk' | 'again'>;
  readonly record: Pick<PlanRecord, 'origin' | 'digest'>;
}

/** Throws `guarded` for a twin; see `Journal.begin`. */
export async function refuseTwins(room: Room, { plan, record }: Likeness): Promise<void> {
  const { disk, places, clock } = room;
  for (const op of await disk.names(places.unfinished)) {
    if (await isAnother(room, op, record)) continue;
    const history = await readOrError(disk, places, op);
    if (history instanceof CliError) throw damagedTwin(places.folder(op), history);
    if (history === undefined || history.end !== undefined || !history.planned) continue;
    const held = await isHeld(places.lock(op), { pid: room.pid });
    const rows = [...history.rows.values()];
    const unknown = rows.some(({ state }) => state === 'unknown');
    const [first] = plan.rows;
    const movesBalance = first?.operation === 'cards.fund' || first?.operation === 'cards.withdraw';
    if (!plan.bulk && (held ? movesBalance : unknown)) throw twinUnknown(op, held);
    if (plan.bulk && (held || unknown || rows.some(row => mayBePerformed(row, true)))) throw bulkUnfinished(op, held);
  }
  await refuseOverlaps(room, { plan, record });
  if (!plan.bulk || plan.again === true) return;
  for (const op of (await disk.names(places.root)).filter(name => name.startsWith('op_'))) {
    if (await isAnother(room, op, record)) continue;
    const history = await readOrError(disk, places, op);
    if (history === undefined || history instanceof CliError || !history.plan.bulk) continue;
    if (history.end !== undefined && clock.now() - history.end.at < AGAIN_MS) throw bulkRepeated(op);
  }
}

/** Told by its first line: the rest may be long, and may be damaged. False where that line cannot be read. */
async function isAnother({ disk, places }: Room, op: string, record: Likeness['record']): Promise<boolean> {
  const plan = await readPlan(disk, places, op);
  return plan !== undefined && (plan.digest !== record.digest || plan.origin !== record.origin);
}

/** What a damaged journal has sent is not known, and it may be a twin. */
function damagedTwin(folder: string, damage: CliError): CliError {
  const notes = [
    'It may be the same operation, and what it has sent is not known. Look at the service itself first.',
    `When you know, move its folder away: ${folder}`,
  ];
  return damage.with({ notes });
}

function twinUnknown(op: string, held: boolean): CliError {
  const why = held ? 'is under way in another process' : 'has an unknown outcome';
  return new CliError('guarded', {
    message: `the same operation ${why}: ${op}`,
    notes: ['Running it again would be a new key and could move the money twice.'],
    hint: held ? `cardwright ops show ${op}` : `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function bulkUnfinished(op: string, held: boolean): CliError {
  return new CliError('guarded', {
    message: `a run with the same input ${held ? 'is under way in another process' : 'is not finished'}: ${op}`,
    hint: held ? `cardwright ops show ${op}` : `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function bulkRepeated(op: string): CliError {
  return new CliError('guarded', {
    message: `a run with the same input was finished less than 24 hours ago: ${op}`,
    hint: 'the same command with --again, when a second time is meant',
    outcome: 'not_sent',
    op,
  });
}
