/** A new op: checked against its twins, written down whole and durable before anything may be sent. */
import type { PlannedRequest } from '../contract/service.ts';
import { CliError } from '../errors.ts';
import { isHeld } from '../files/lock.ts';
import { identify } from '../files/process-identity.ts';
import { cents, sumCents } from '../money.ts';
import { Secret } from '../secret.ts';
import { type Capability, sandboxCapability } from './capability.ts';
import type { JournalFile } from './disk.ts';
import { historyOf, mayBePerformed } from './history.ts';
import { encodeLines } from './lines.ts';
import { openLog } from './log.ts';
import { MARKER_KEY, markerOf } from './marker.ts';
import { keyOf, newOp } from './op-id.ts';
import { deskFor } from './open.ts';
import { readOrError, readPlan } from './reading.ts';
import { type ItemRecord, JOURNAL_VERSION, type JournalRecord, type PlanRecord } from './record.ts';
import type { Room } from './room.ts';
import { createRun } from './run.ts';
import type { PlannedRow, Run, RunPlan } from './types.ts';

/** A plan with its op and the exact requests. */
export interface PlannedOp {
  readonly plan: RunPlan;
  readonly record: PlanRecord;
  readonly items: readonly ItemRecord[];
}

const MOST_KEYS = 20;
const AGAIN_MS = 24 * 3_600_000;

/** The requests of a plan as they would be sent, under the op they would have. Nothing is written. */
export async function requestsOf(room: Room, plan: RunPlan): Promise<readonly PlannedRequest[]> {
  const op = newOp(room.random);
  const items = await itemsOf(room, plan, op);
  return items.map(({ operation, method, path, body, key }) => ({
    operation,
    method,
    path,
    body,
    idempotencyKey: key,
  }));
}

/** Throws `usage` for rows that cannot be sent as they are. */
export async function planOp(room: Room, plan: RunPlan): Promise<PlannedOp> {
  if (plan.rows.length === 0) throw new CliError('internal', { message: 'a run without rows' });
  const op = newOp(room.random);
  const items = await itemsOf(room, plan, op);
  const { profile, mode, origin } = await room.acting();
  const operations = [...new Set(plan.rows.map(({ operation }) => operation))];
  const capability: Record<string, Capability> = {};
  for (const operation of operations) {
    capability[operation] =
      mode === 'sandbox'
        ? await sandboxCapability(room.sandboxHonoursKeys)
        : await room.capabilities.of(origin, operation);
  }
  await prepareFolders(room);
  const record: PlanRecord = {
    t: 'PLAN',
    version: JOURNAL_VERSION,
    op,
    command: plan.command,
    origin,
    profile,
    mode,
    key_print: mode === 'sandbox' ? 'sandbox' : await room.keyPrint(await salt(room)),
    digest: plan.digest,
    rows: plan.rows.length,
    total_cents: sumCents(plan.rows.map(({ amount }) => amount ?? cents(0))),
    ...(plan.maxTotal !== undefined && { max_total: plan.maxTotal }),
    ...(plan.wallet !== undefined && { wallet: plan.wallet }),
    bulk: plan.bulk,
    marker: plan.marker,
    capability,
    ...(plan.key !== undefined && { given_key: plan.key }),
    at: room.clock.now(),
  };
  return { plan, record, items };
}

async function prepareFolders({ disk, places }: Room): Promise<void> {
  await disk.prepareFolder(places.root);
  await disk.prepareFolder(places.unfinished);
}

/** A random value of this machine: the print of a key says nothing to anybody else. */
async function salt({ disk, places, random }: Room): Promise<string> {
  await disk.note(places.saltFile, Buffer.from(random.bytes(16)).toString('hex'));
  return (await disk.read(places.saltFile)) ?? '';
}

async function itemsOf(room: Room, plan: RunPlan, op: string): Promise<ItemRecord[]> {
  const service = await room.service();
  return plan.rows.map(row => {
    const input = row.operation === 'cards.create' && plan.marker ? withMarker(row, op) : row.input;
    if (Object.values(input).some(value => value instanceof Secret)) {
      throw new CliError('internal', { message: `${row.operation} carries a secret and must not be journaled` });
    }
    const key = plan.key ?? keyOf(op, row.row, 1);
    const planned = service.plan(row.operation, input as never, { key });
    return {
      t: 'ITEM',
      row: row.row,
      attempt: 1,
      operation: row.operation,
      key: planned.idempotencyKey,
      method: planned.method,
      path: planned.path,
      body: planned.body,
      input,
      ...(row.amount !== undefined && { amount: row.amount }),
      ...(row.cardId !== undefined && { card: row.cardId }),
      ...(row.label !== undefined && { label: row.label }),
    };
  });
}

function withMarker({ row, input }: PlannedRow, op: string): Readonly<Record<string, unknown>> {
  const metadata = (input['metadata'] ?? {}) as Readonly<Record<string, unknown>>;
  const refuse = (why: string) =>
    new CliError('usage', { message: why, hint: 'the same command with --no-marker', outcome: 'not_sent' });
  if (Object.hasOwn(metadata, MARKER_KEY)) {
    throw refuse(`the metadata key ${MARKER_KEY} is taken: it marks which operation made a card`);
  }
  if (Object.keys(metadata).length >= MOST_KEYS) {
    throw refuse(
      `${MOST_KEYS} metadata keys are the limit (§4.1), and one is needed to find the card again if its answer is lost`,
    );
  }
  return { ...input, metadata: { ...metadata, [MARKER_KEY]: markerOf(op, row) } };
}

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
    const { started, boot } = await identify(pid);
    const run: JournalRecord = { t: 'RUN', pid, start: started, boot, at: room.clock.now() };
    const records: readonly JournalRecord[] = [record, ...items, { t: 'PLANNED' }, run];
    const size = await appendPlan(file, by, records);
    await disk.syncNames(places.folder(op));
    await disk.syncNames(places.root);
    const log = openLog(file, { op, by, seq: records.length, size });
    const history = historyOf(records.map(each => ({ by, record: each })));
    if (history === undefined) throw new CliError('internal', { message: 'a plan without a PLAN' });
    const desk = await deskFor(room, { history, log, resendAbsent: false });
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

/** Whole and durable before anything is sent; returns its bytes. */
async function appendPlan(file: JournalFile, by: string, records: readonly JournalRecord[]): Promise<number> {
  let size = 0;
  for (let at = 0; at < records.length; at += RECORDS_A_WRITE) {
    const bytes = encodeLines(by, at, records.slice(at, at + RECORDS_A_WRITE));
    await file.append(bytes);
    size += bytes.length;
  }
  await file.sync();
  return size;
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
    const history = await readOrError(disk, places, op);
    if (history instanceof CliError) {
      await refuseDamagedTwin(room, { op, record, damage: history });
      continue;
    }
    if (history === undefined || history.end !== undefined || !history.planned) continue;
    const twin = history.plan.origin === record.origin && history.plan.digest === record.digest;
    if (!twin) continue;
    const held = await isHeld(places.lock(op), { pid: room.pid });
    const rows = [...history.rows.values()];
    const unknown = rows.some(({ state }) => state === 'unknown');
    const movesBalance = plan.rows.some(
      ({ operation }) => operation === 'cards.fund' || operation === 'cards.withdraw',
    );
    if (!plan.bulk && (held ? movesBalance : unknown)) throw twinUnknown(op, held);
    if (plan.bulk && (held || unknown || rows.some(row => mayBePerformed(row, true)))) throw bulkUnfinished(op, held);
  }
  if (!plan.bulk || plan.again === true) return;
  for (const op of (await disk.names(places.root)).filter(name => name.startsWith('op_'))) {
    const history = await readOrError(disk, places, op);
    if (history === undefined || history instanceof CliError || !history.plan.bulk) continue;
    const same = history.plan.origin === record.origin && history.plan.digest === record.digest;
    if (same && history.end !== undefined && clock.now() - history.end.at < AGAIN_MS) throw bulkRepeated(op);
  }
}

/** What a damaged journal has sent is not known; unless its plan can be read and is another, it may be a twin. */
async function refuseDamagedTwin(
  { disk, places }: Room,
  { op, record, damage }: { op: string; record: Likeness['record']; damage: CliError },
): Promise<void> {
  const plan = await readPlan(disk, places, op);
  if (plan !== undefined && (plan.digest !== record.digest || plan.origin !== record.origin)) return;
  const notes = [
    'It may be the same operation, and what it has sent is not known. Look at the service itself first.',
    `When you know, move its folder away: ${places.folder(op)}`,
  ];
  throw damage.with({ notes });
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
