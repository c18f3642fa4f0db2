/** A new op: checked against its twins, written down whole and durable before anything may be sent. */
import { CALLS } from '../../contract/raw.ts';
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { isLocked } from '../../files/lock.ts';
import { identify } from '../../files/process-identity.ts';
import { type ItemPlaces, placedRows } from '../execution/row-index.ts';
import type { Run, RunPlan } from '../types.ts';
import { encodeLines } from '../wal/codec.ts';
import { isOp } from '../wal/paths.ts';
import { readOrError, readPlan } from '../wal/read.ts';
import type { ItemRecord, JournalRecord, PlanRecord, RunRecord } from '../wal/records.ts';
import type { History, RowHistory } from '../wal/replay.ts';
import type { JournalFile } from '../wal/storage.ts';
import { openLog } from '../wal/writer.ts';
import type { JournalDependencies } from './dependencies.ts';
import { movedMeanwhile } from './moved-meanwhile.ts';
import { runContextFor } from './open.ts';
import { refuseOverlaps } from './overlap.ts';
import type { PlannedOp } from './planned.ts';
import { releasing } from './release.ts';
import { createRun } from './run.ts';
import { secondTime } from './second-time.ts';
import { damagedTwin, refuseSharedRows, standingOf } from './shared-rows.ts';

const AGAIN_MS = DAY;

/** Waiting for another process that writes the same plan down; a plan of 100,000 rows takes seconds. */
const CLAIM_PATIENCE_MS = 30_000;

/** Makes the plan durable and takes its lock. Throws `guarded` for twins and for a disk that does not take it. */
export async function beginOp(dependencies: JournalDependencies, planned: PlannedOp): Promise<Run> {
  const { disk, places } = dependencies;
  const { origin, digest } = planned.record;
  // Two commands that look for twins at the same time would each find none.
  const unclaim = await disk.hold(places.claim(origin, digest), CLAIM_PATIENCE_MS);
  try {
    await refuseTwins(dependencies, planned);
    return await beginClaimed(dependencies, planned);
  } finally {
    await unclaim();
  }
}

async function beginClaimed(dependencies: JournalDependencies, planned: PlannedOp): Promise<Run> {
  const { plan, record, items } = planned;
  const { disk, places, random, pid } = dependencies;
  const { op } = record;
  await disk.note(places.unfinishedMark(op), '');
  await disk.syncNames(places.unfinished);
  if (plan.key !== undefined) await noteGivenKey(dependencies, { origin: record.origin, key: plan.key, op });
  await disk.prepareFolder(places.folder(op));
  const unlock = await disk.hold(places.lock(op));
  const release = releasing(dependencies, op, unlock);
  let file: JournalFile | undefined;
  try {
    file = await disk.create(places.journal(op));
    const by = Buffer.from(random.bytes(4)).toString('hex');
    const { started, boot } = identify(pid);
    const run: RunRecord = { t: 'RUN', pid, start: started, boot, at: dependencies.clock.now() };
    const written = await appendPlan(file, { by, plan: record, items, run });
    await disk.syncNames(places.folder(op));
    await disk.syncNames(places.root);
    // Two runs with some rows in common hold two claims: of those, whoever looks later sees the plan of the other.
    if (plan.bulk) await refuseSharedRows(dependencies, planned, await unfinishedOps(dependencies));
    const log = openLog(file, { op, by, seq: written.places.size + PLAN_RECORDS, size: written.size });
    const { readAt } = file;
    const rowIndex = placedRows({ op, readAt }, written.places);
    const context = await runContextFor(dependencies, {
      plan: record,
      latest: run.at,
      rowIndex,
      log,
      resendAbsent: false,
    });
    const others = () => movedMeanwhile(dependencies, record);
    return createRun({ context, plan, log, release, notice: dependencies.notice, others, end: undefined });
  } catch (thrown) {
    await file?.close();
    // Nothing of it has left, and a disk that is full wants the space back.
    await forgetPlan(dependencies, op).catch(() => undefined);
    await release(false);
    throw thrown;
  }
}

/** The lock goes with the folder. */
async function forgetPlan({ disk, places }: JournalDependencies, op: string): Promise<void> {
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
async function noteGivenKey(
  { disk, places }: JournalDependencies,
  { origin, key, op }: Record<'origin' | 'key' | 'op', string>,
) {
  await disk.prepareFolder(places.givenKeys);
  const path = places.givenKey(origin, key);
  await disk.remove(path);
  // The key is claimed, so nobody else writes its name meanwhile.
  if (!(await disk.note(path, op))) throw new CliError('internal', { message: `the key of ${op} is not claimed` });
  await disk.syncNames(places.givenKeys);
}

/** What tells whether two plans are the same changes of the same account. */
interface Likeness {
  readonly plan: Pick<RunPlan, 'rows' | 'bulk' | 'again' | 'digestInOrder'>;
  readonly record: Pick<PlanRecord, 'origin' | 'digest'>;
}

/**
 * Throws `guarded` for a twin; see `Journal.begin`. An op is finished when its journal says END and its mark is gone:
 * without END its rows were compared with nothing, and with the mark its process ended before its answer was written.
 * What ended after this command began was not known to whoever said `again`.
 */
export async function refuseTwins(dependencies: JournalDependencies, like: Likeness): Promise<void> {
  const { disk, places } = dependencies;
  const unfinished = await unfinishedOps(dependencies);
  const found = new Set(unfinished);
  // A run of many rows is rare and dear: every journal is looked at, in case a mark was lost.
  if (like.plan.bulk) for (const op of await disk.names(places.root)) if (isOp(op)) found.add(op);
  for (const op of found) {
    if (await isAnother(dependencies, op, like)) continue;
    const history = await readOrError(disk, places, op);
    if (history instanceof CliError) {
      if (unfinished.has(op)) throw damagedTwin(places.folder(op), history);
    } else if (history?.planned === true) await refuseTwin(dependencies, like, { history, marked: unfinished.has(op) });
  }
  await refuseSharedRows(dependencies, like, found);
  await refuseOverlaps(dependencies, like);
}

async function unfinishedOps({ disk, places }: JournalDependencies): Promise<ReadonlySet<string>> {
  return new Set((await disk.names(places.unfinished)).filter(isOp));
}

interface Twin {
  readonly history: History;
  /** Whether its mark stands among the unfinished. */
  readonly marked: boolean;
}

async function refuseTwin(
  dependencies: JournalDependencies,
  { plan }: Likeness,
  { history, marked }: Twin,
): Promise<void> {
  const { places, pid, clock, begunAt } = dependencies;
  const { op, bulk } = history.plan;
  if (history.end !== undefined && !marked) {
    const isRecent = clock.now() - history.end.at < AGAIN_MS;
    const endedMeanwhile = history.end.at > begunAt && history.end.at <= clock.now();
    const isMeant = plan.again === true && !endedMeanwhile;
    if (plan.bulk && bulk && !isMeant && isRecent) throw bulkRepeated(op, plan.rows);
    return;
  }
  const held = await isLocked(places.lock(op), { pid });
  // Also with --again: it is for runs that are finished, and an unfinished one may be taken for such.
  if (plan.bulk && bulk) throw bulkUnfinished(history, held);
  const rows = [...history.rows.values()];
  // The same card made by two commands at once is meant; beside a resume of the first, the second one is not.
  if (held ? rows.some(movesBalance) || history.runs > 1 : rows.some(row => row.state === 'unknown'))
    throw twinUnknown(op, held);
  if (!held && rows.some(row => row.state === 'open')) throw twinOpen(op);
  if (!held && rows.some(isUntold)) throw twinUntold(op);
}

function movesBalance({ item }: RowHistory): boolean {
  return item.operation === 'cards.fund' || item.operation === 'cards.withdraw';
}

/** Done, and nobody was told: the same command would do it once more. */
function isUntold({ item, state, resolved }: RowHistory): boolean {
  return state === 'done' && resolved === undefined && CALLS[item.operation].repeat !== 'freely';
}

/** Told by its first line: the rest may be long, and may be damaged. False where that line cannot be read. */
async function isAnother(
  { disk, places }: JournalDependencies,
  op: string,
  { plan, record }: Likeness,
): Promise<boolean> {
  const written = await readPlan(disk, places, op);
  if (written === undefined) return false;
  const isSame = written.digest === record.digest || written.digest === plan.digestInOrder;
  return !isSame || written.origin !== record.origin;
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

function twinOpen(op: string): CliError {
  return new CliError('guarded', {
    message: `the same operation was begun before, and its command ended before anything was sent: ${op}`,
    notes: ['Begun a second time, both could be sent. Its resume sends it once.'],
    hint: `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function twinUntold(op: string): CliError {
  return new CliError('guarded', {
    message: `the same operation is done, and its command ended before it could say so: ${op}`,
    notes: ['Running it again would do it a second time. Let its result be shown; then the command may be run again.'],
    hint: `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function bulkUnfinished(history: History, held: boolean): CliError {
  const { op } = history.plan;
  return new CliError('guarded', {
    message: `a run with the same input ${held ? 'is under way in another process' : 'is not finished'}, ${standingOf(history)}: ${op}`,
    ...(!held && {
      notes: [`A resume sends the others alone, and finishes it; --again is for runs that are finished.`],
    }),
    hint: held ? `cardwright ops show ${op}` : `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

function bulkRepeated(op: string, rows: RunPlan['rows']): CliError {
  return new CliError('guarded', {
    message: `a run with the same input was finished less than 24 hours ago: ${op}`,
    notes: [secondTime([...rows], rows.length), `What it did: cardwright ops show ${op}`],
    hint: 'the same command with --again, when a second time is meant',
    outcome: 'not_sent',
    op,
  });
}
