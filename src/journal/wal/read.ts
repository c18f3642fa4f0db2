/** Journals as they lie on the disk, read without changing anything. */
import { CliError } from '../../core/errors.ts';
import { decodeLines, decodeWhole } from './codec.ts';
import { isOp, type Places } from './paths.ts';
import type { EndRecord, ItemRecord, PlanRecord } from './records.ts';
import { type History, historyOf } from './replay.ts';
import type { JournalDisk } from './storage.ts';

/** The history of an op; undefined when there is none or its process died before the plan was written. */
export async function readHistory(disk: JournalDisk, places: Places, op: string): Promise<History | undefined> {
  const file = await disk.open(places.journal(op));
  if (file === undefined) return undefined;
  try {
    return historyOf(decodeLines(await file.readAll(), op).written);
  } finally {
    await file.close();
  }
}

/** As `readHistory`; a damaged journal comes back as the error it is. */
export async function readOrError(
  disk: JournalDisk,
  places: Places,
  op: string,
): Promise<History | CliError | undefined> {
  try {
    return await readHistory(disk, places, op);
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind === 'check_failed') return thrown;
    throw thrown;
  }
}

/** Of the first line: it holds names, an address and a few numbers. */
const MOST_PLAN_BYTES = 1 << 16;

/** The plan alone, when its line is whole, whatever became of the rest. */
export async function readPlan(disk: JournalDisk, places: Places, op: string): Promise<PlanRecord | undefined> {
  const file = await disk.open(places.journal(op));
  if (file === undefined) return undefined;
  try {
    const bytes = file.readAt(0, MOST_PLAN_BYTES);
    const { written } = decodeLines(bytes.subarray(0, bytes.indexOf(0x0a) + 1), op);
    const [first] = written;
    return first?.record.t === 'PLAN' ? first.record : undefined;
  } catch (thrown) {
    // The plan itself is damaged: then there is none that could be told apart.
    if (thrown instanceof CliError && thrown.kind === 'check_failed') return undefined;
    throw thrown;
  } finally {
    await file.close();
  }
}

/** Of the last lines: END, and RUN of whoever looked at the op after it. */
const MOST_END_BYTES = 1 << 14;

/** END, when it stands among the last lines; read without the rest, which may be long. */
export async function readEnd(disk: JournalDisk, places: Places, op: string): Promise<EndRecord | undefined> {
  const file = await disk.open(places.journal(op));
  if (file === undefined) return undefined;
  try {
    const size = await file.size();
    const from = Math.max(0, size - MOST_END_BYTES);
    const records = decodeWhole(file.readAt(from, size - from));
    return records.findLast(record => record.t === 'END');
  } finally {
    await file.close();
  }
}

/** Every item of a damaged journal that can still be read. */
export async function readItems(disk: JournalDisk, places: Places, op: string): Promise<readonly ItemRecord[]> {
  const file = await disk.open(places.journal(op));
  if (file === undefined) return [];
  try {
    return decodeWhole(await file.readAll()).filter(record => record.t === 'ITEM');
  } finally {
    await file.close();
  }
}

/** Throws `usage` for a name that is no op, or one that is not here. */
export async function historyNamed(disk: JournalDisk, places: Places, op: string): Promise<History> {
  const history = isOp(op) ? await readHistory(disk, places, op) : undefined;
  if (history !== undefined) return history;
  throw new CliError('usage', {
    message: `there is no operation ${JSON.stringify(op)} on this machine`,
    hint: 'cardwright ops list',
    outcome: 'not_sent',
  });
}
