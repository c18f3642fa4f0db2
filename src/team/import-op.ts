/** An op that was written elsewhere, brought into a shared journal: its bytes as they are, what is counted of it, its names. */
import { spendingOf } from '../core/spending.ts';
import { withoutMarker } from '../journal/runs/row-likeness.ts';
import { plannedOf } from '../journal/runs/run.ts';
import { decodeLines, numberedWriter } from '../journal/wal/codec.ts';
import { intentDigest } from '../journal/wal/op-id.ts';
import type { ItemRecord, PlanRecord, StoredRecord } from '../journal/wal/records.ts';
import type { ClaimedIntent, Clash, ImportedOp } from './calls.ts';
import { factsOf, operationFacts } from './claims.ts';
import { leaseMsFor } from './lease.ts';
import type { SharedOps } from './shared-ops.ts';
import { endingOf } from './shared-tape.ts';
import { createStanding, type Standing } from './standing.ts';
import { endUntold } from './untold.ts';

export interface OpBytes {
  readonly op: string;
  readonly bytes: Uint8Array;
  /** It says END, and that was told. */
  readonly finished: boolean;
  /** See `ImportedOp`. */
  readonly keyPrint: string | null;
  readonly recovered: boolean;
  /** Whether this machine has begun it; by the processes that have written it when left out. */
  readonly own?: boolean | undefined;
  /** See `ImportedOp`; why, for the audit log. */
  readonly keepBoth?: string | undefined;
  /** Names of its rows with what they stand for; made from the rows when left out. Those of rows that came to nothing are free. */
  readonly intents?: readonly ClaimedIntent[] | undefined;
  /** Whether its key of the caller's is still its own. */
  readonly ownsKey?: boolean | undefined;
}

/** `nothing` where its plan was never whole or is held, so that nothing was sent; `there` where everything is there already. */
export type Imported = 'nothing' | 'there' | { readonly rows: number; readonly clashes: readonly Clash[] };

/** Longer ops go in parts: a call has 20 seconds. */
const PART_BYTES = 4 << 20;

/**
 * Brings what is not there. Throws `guarded` where the op is there with other bytes, or in other hands. `clashes` of what
 * is not recovered: nothing was brought.
 */
export async function importOp(shared: SharedOps, written: OpBytes): Promise<Imported> {
  const { op } = written;
  const { written: lines, whole } = decodeLines(written.bytes, op);
  const bytes = written.bytes.subarray(0, whole);
  const standing = createStanding();
  standing.read(bytes);
  const first = lines[0]?.record;
  if (first?.t !== 'PLAN' || !standing.planned()) return 'nothing';
  // What waits for approval has a request in one journal alone: it is asked for anew.
  if (first.approval !== undefined && !lines.some(({ record }) => record.t === 'APPROVED')) return 'nothing';
  const rest = await restOf(shared, written, bytes);
  if (rest === undefined) return 'there';
  const call = { ...callOf(shared, written, { plan: first, lines, standing }), machine: await shared.machine() };
  const facts = {
    ...factsOf(first, written.recovered ? 'recovered' : 'imported'),
    ...(written.keepBoth !== undefined && { reason: written.keepBoth }),
    // For whom the database takes the op to be of another.
    ...(rest.isOthers && { reason: reasonToTake(written) }),
  };
  for (let from = 0; from < rest.bytes.length; ) {
    const to = endOfPart(rest.bytes, from);
    const part = { ...call, from: rest.size + from, whole: to === rest.bytes.length };
    const answer = await shared.statements().importOp(part, rest.bytes.subarray(from, to), facts);
    shared.head.learn(answer.head);
    if (answer.verdict === 'clash') return { rows: 0, clashes: answer.clashes };
    if (part.whole) return { rows: first.rows, clashes: answer.clashes };
    from = to;
  }
  return 'there';
}

function reasonToTake({ recovered }: OpBytes): string {
  return recovered
    ? 'it was taken over, and the database had lost that'
    : 'it was settled on a machine that had taken it along';
}

/** What of it is not there, and how many bytes are; undefined where all is there, or somebody has gone on with it. */
async function restOf(shared: SharedOps, { op, recovered, finished }: OpBytes, bytes: Uint8Array) {
  const { statements, account, role } = shared;
  const [head] = await statements().heads(account, { op, pruned: true });
  if (head === undefined) return { size: 0, bytes, isOthers: false };
  if (head.pruned) return undefined;
  // A machine that has taken it along has written how it looked at it, and no more.
  if (!recovered && head.state === 'finished') {
    if (finished && head.untold) await endUntold(shared, op);
    return undefined;
  }
  const segments = await statements().readOp(account, op, 1);
  const rest = linesLacking({
    there: linesIn(segments.filter(({ n }) => n > 0).map(segment => segment.bytes)),
    late: linesIn(segments.filter(({ n }) => n < 0).map(segment => segment.bytes)),
    own: linesIn([bytes]),
  });
  if (rest === undefined || (rest.length === 0 && head.state !== 'pending')) return undefined;
  return { size: head.size, bytes: Buffer.from(rest.join(''), 'latin1'), isOthers: head.holder !== role };
}

/** Each with its end. Their bytes one by one, so that nothing of them is changed. */
function linesIn(parts: readonly Uint8Array[]): readonly string[] {
  return (
    Buffer.concat(parts)
      .toString('latin1')
      .match(/[^\n]*\n/g) ?? []
  );
}

interface JournalAndCopy {
  /** Lines of the database in their order. */
  readonly there: readonly string[];
  /** Those that came late, which stand behind all others. */
  readonly late: readonly string[];
  /** Those of the copy. */
  readonly own: readonly string[];
}

/**
 * Lines of the copy that can be written behind those of the database; undefined where another process has gone on with it there,
 * and knows more.
 */
export function linesLacking({ there, late, own }: JournalAndCopy): readonly string[] | undefined {
  const copied = new Map(own.map(line => [nameOf(line), line]));
  const writers = new Set(own.map(writerOf));
  // The copy may lack the last lines of a process that it has read; it has no others than that process has written.
  const isOurs = (line: string) => writers.has(writerOf(line)) && (copied.get(nameOf(line)) ?? line) === line;
  if (!there.every(isOurs)) return undefined;
  const known = new Set([...there, ...late].map(nameOf));
  // What came late is read behind all others, so no line that its writer wrote after it can be written before it.
  const lateWriters = new Set(late.map(writerOf));
  return own.filter(line => !known.has(nameOf(line)) && !lateWriters.has(writerOf(line)));
}

function writerOf(line: string): string {
  return numberedWriter(line)?.by ?? '';
}

/** Its writer with the number that the line has among those of this writer. */
function nameOf(line: string): string {
  return `${writerOf(line)} ${numberedWriter(line)?.seq}`;
}

function endOfPart(bytes: Uint8Array, from: number): number {
  if (bytes.length - from <= PART_BYTES) return bytes.length;
  return bytes.lastIndexOf(0x0a, from + PART_BYTES) + 1;
}

interface Known {
  readonly plan: PlanRecord;
  readonly lines: readonly StoredRecord[];
  readonly standing: Standing;
}

function callOf(shared: SharedOps, written: OpBytes, known: Known): Omit<ImportedOp, 'from' | 'whole'> {
  const { account, host, head } = shared;
  const { op, keyPrint, recovered, keepBoth, finished, ownsKey = true } = written;
  const { plan, lines, standing } = known;
  const { own = !recovered || isBegunHere(lines) } = written;
  const free = new Set(standing.unusedIntents());
  const items = [...lastItems(lines).values()];
  const reserved = spendingOf(items.map(plannedOf)).total;
  const end = finished ? standing.end() : undefined;
  const { given_key: key } = plan;
  return {
    account,
    known: head.known(),
    op,
    recovered,
    ...(keepBoth !== undefined && { keep_both: true }),
    by: standing.writer() ?? '',
    host,
    key_print: keyPrint,
    command: plan.command,
    digest: plan.digest,
    bulk: plan.bulk,
    ...operationFacts(plan),
    rows: plan.rows,
    cents: plan.total_cents,
    reserved,
    day: new Date(plan.at).toISOString().slice(0, 10),
    begun_ms: plan.at,
    ended_ms: end?.at ?? null,
    counts: standing.counts(),
    shown: standing.shown(),
    // A database from before it ended has its names as those of an operation that may still be carried out.
    ending: end === undefined ? { finished: false } : endingOf({ standing, reserved }),
    intents: (written.intents ?? intentsOf(items, plan)).filter(({ name }) => !free.has(name)),
    ...(key !== undefined && ownsKey && { key: { value: key, digest: plan.digest } }),
    own,
    ttl_ms: leaseMsFor(shared),
  };
}

/** Nobody has gone on with it: a copy with one process is of the machine that has begun it. */
export function isBegunHere(lines: readonly StoredRecord[]): boolean {
  return lines.filter(({ record }) => record.t === 'RUN').length === 1;
}

/** Of each row the attempt that counts. */
function lastItems(lines: readonly StoredRecord[]): ReadonlyMap<number, ItemRecord> {
  const items = new Map<number, ItemRecord>();
  for (const { record } of lines) if (record.t === 'ITEM') items.set(record.row, record);
  return items;
}

/** Names of rows, with what they stand for. */
export function intentsOf(items: readonly ItemRecord[], plan: PlanRecord): readonly ClaimedIntent[] {
  return items.flatMap(({ row, intent: name, operation, input, asked }) => {
    if (name === undefined) return [];
    const digest = intentDigest({ operation, input: withoutMarker(input), asked }, plan.given_key);
    return [{ row, name, digest }];
  });
}
