/**
 * Records of an op that the database has had and does not have any more: a backup was restored that was made in the middle of
 * the op. The chain cannot tell, for it has no line of them; a copy on this machine can, and a row that was sent must never
 * look like one that was not (docs/design/team.md, section 5).
 */
import { CliError } from '../core/errors.ts';
import { capital, resolveCommand, rowsNamed } from '../core/row-words.ts';
import { shellWord } from '../core/shell-quote.ts';
import { MARKER_KEY } from '../journal/execution/marker.ts';
import { isLeft } from '../journal/runs/names-of-others.ts';
import type { ItemRecord, StoredRecord } from '../journal/wal/records.ts';
import { historyOf } from '../journal/wal/replay.ts';
import type { OpHead } from './calls.ts';
import { importOp } from './import-op.ts';
import { type SharedOps, segmentRefused } from './shared-ops.ts';

export interface ComparedCopy {
  /** Lines of the copy. */
  readonly kept: readonly StoredRecord[];
  /** Those of the database. */
  readonly there: readonly StoredRecord[];
  /** How many lines of its process the database is known to have had. */
  readonly confirmed: number;
}

export interface LostRecords {
  /** The database has had so many lines of the copy, from the first one on. */
  readonly lines: number;
  /** Rows whose SENT is not there any more. */
  readonly rows: number;
}

/**
 * Undefined where the database holds every SENT that it has had. A line was there when that was confirmed, when more came of its
 * row behind it, and when another process has written it, for then it was read there.
 */
export function recordsLost({ kept, there, confirmed }: ComparedCopy): LostRecords | undefined {
  const own = kept.at(-1)?.by;
  const known = new Set(there.flatMap(sentName));
  const rows = new Set<number>();
  /** Rows of which something stands behind the line that is looked at. */
  const goneOn = new Set<number>();
  let [lines, ownLeft] = [0, kept.filter(({ by }) => by === own).length];
  for (const [at, line] of [...kept.entries()].toReversed()) {
    const { by, record } = line;
    const row = 'row' in record ? record.row : 0;
    if (by === own) ownLeft -= 1;
    const isSent = record.t === 'SENT';
    if (by !== own || ownLeft < confirmed || (isSent && goneOn.has(row))) {
      lines = Math.max(lines, at + 1);
      if (isSent && !sentName(line).some(name => known.has(name))) rows.add(row);
    }
    if (by === own) goneOn.add(row);
  }
  return rows.size === 0 ? undefined : { lines, rows: rows.size };
}

function sentName({ by, record }: StoredRecord): readonly string[] {
  return record.t === 'SENT' ? [`${by} ${record.row} ${record.attempt} ${record.at}`] : [];
}

/** Brings them back; where the op is in other hands nothing is changed. */
export async function bringLost(
  shared: SharedOps,
  { op, bytes, lines }: { readonly op: string; readonly bytes: Uint8Array; readonly lines: number },
): Promise<void> {
  try {
    const part = firstLines(bytes, lines);
    await importOp(shared, { op, bytes: part, finished: false, keyPrint: null, recovered: true });
  } catch (thrown) {
    if (!segmentRefused(thrown)) throw thrown;
  }
}

function firstLines(bytes: Uint8Array, lines: number): Uint8Array {
  let end = 0;
  for (let line = 0; line < lines; line += 1) end = bytes.indexOf(0x0a, end) + 1;
  return bytes.subarray(0, end);
}

/** For people: where one op has lost records, others may have. */
export function restoredWarning(op: string, rows: number): string {
  const sent = rows === 1 ? '1 row' : `${rows} rows`;
  return `warning: the shared journal had lost that ${sent} of ${op} were sent, and it was brought back: a backup was restored, and other machines may know more. Next, on each of them: cardwright journal push`;
}

/** For whoever takes it up: nobody may send a row that may have been sent. */
export function lostElsewhere(
  { op, holder, host }: Pick<OpHead, 'op' | 'holder' | 'host'>,
  { kept, there }: Pick<ComparedCopy, 'kept' | 'there'>,
): CliError {
  return new CliError('check_failed', {
    message: `the shared journal has lost that rows of ${op} were sent, which this machine has seen, and ${holder} on ${host} has gone on with it; nothing was sent`,
    notes: [
      'A row may have been sent by both: look at the cards of the service.',
      ...leftNotes({ op, holder }, { kept, there }),
    ],
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}

/** Which rows are left there, how they are looked for, and what their holder says of those that this machine has sent. */
function leftNotes(
  { op, holder }: Pick<OpHead, 'op' | 'holder'>,
  { kept, there }: Pick<ComparedCopy, 'kept' | 'there'>,
): readonly string[] {
  const history = historyOf(there);
  if (history === undefined) return [];
  const left = [...history.rows.values()].filter(isLeft(history.plan.bulk)).map(({ item }) => item);
  if (left.length === 0) return ['No row of it is left there.'];
  const sentHere = new Set(kept.flatMap(({ record }) => (record.t === 'SENT' ? record.row : [])));
  const [ours, others] = [left.filter(({ row }) => sentHere.has(row)), left.filter(({ row }) => !sentHere.has(row))];
  const rows = ours.map(({ row }) => row);
  const never = others.map(({ row }) => row);
  return [
    ...left.slice(0, 1).flatMap(item => lookFor(op, item)),
    ...(rows.length === 0
      ? []
      : [
          `${capital(rowsNamed(rows))} ${rows.length === 1 ? 'was' : 'were'} sent by this machine. ${holder} says what came of ${rows.length === 1 ? 'it' : 'them'}, before a resume sends more. It happened: ${resolveCommand(op, rows, 'done')}`,
          `It did not: ${resolveCommand(op, rows, 'not-done')}`,
        ]),
    ...(never.length === 0
      ? []
      : [
          `${capital(rowsNamed(never))} ${never.length === 1 ? 'was' : 'were'} not sent by this machine: a resume of ${holder} goes on with ${never.length === 1 ? 'it' : 'them'}.`,
        ]),
  ];
}

function lookFor(op: string, { operation }: Pick<ItemRecord, 'operation'>): readonly string[] {
  if (operation !== 'cards.create') return [];
  return [
    `Cards of its rows carry its mark: cardwright cards list --where ${shellWord(`metadata.${MARKER_KEY}~${op}.`)}`,
  ];
}
