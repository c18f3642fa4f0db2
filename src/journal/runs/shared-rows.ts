/**
 * Rows that a run which is not finished has too. After a kill a file is often edited before it is run again: as a whole
 * it is another input then, and some of its rows are done already.
 */
import { CALLS } from '../../contract/raw.ts';
import { DAY } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { capital, resolveCommand, rowsNamed } from '../../core/row-words.ts';
import { MARKER_KEY } from '../execution/marker.ts';
import type { HeadFilter } from '../store/op-store.ts';
import { readItems, readOrError } from '../store/read-ops.ts';
import type { PlannedRow, RunPlan } from '../types.ts';
import { rowDigest } from '../wal/op-id.ts';
import type { PlanRecord } from '../wal/records.ts';
import { type History, mayBePerformed, type RowHistory } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { isNamed } from './named-rows.ts';
import { secondTime } from './second-time.ts';

/** A plan, or what is known of it before it has an op. */
export interface Sharing {
  readonly plan: Pick<RunPlan, 'rows' | 'bulk' | 'again' | 'digestInOrder' | 'markerPrefix'>;
  readonly record: Pick<PlanRecord, 'origin' | 'digest'>;
}

/** What a damaged journal has sent is not known, and it may be a twin. */
export function damagedTwin(setAside: string, damage: CliError): CliError {
  const notes = [
    'It may be the same operation, and what it has sent is not known. Look at the service itself first.',
    `When you know, ${setAside}`,
  ];
  return damage.with({ notes });
}

/**
 * Throws `guarded` when rows of the plan are rows of another operation of the same account that is not finished, also
 * with `again`: what is done there would be done twice, and so would what its resume still does. Operations that may be
 * repeated freely are not held up. Those of `among` are looked at; twins of the whole plan are told apart before.
 */
export async function refuseSharedRows(
  dependencies: JournalDependencies,
  sharing: Sharing,
  among: HeadFilter,
): Promise<void> {
  const { plan, record } = sharing;
  // Rows of a fleet are known by their markers and keys, whichever run has them.
  if (plan.markerPrefix !== undefined) return;
  const wanted = createLikeness(plan.rows);
  if (!wanted.any()) return;
  for await (const head of dependencies.store.heads(among)) {
    const other = await head.plan();
    if (other === undefined || other.origin !== record.origin) continue;
    if (other.digest === record.digest || other.digest === plan.digestInOrder) continue;
    if (!head.unfinished && (!other.bulk || (await head.end()) !== undefined)) continue;
    await refuseSharedWith(dependencies, sharing, { op: head.op, planned: other.rows, wanted });
  }
}

interface Looked {
  readonly op: string;
  /** Rows of its plan. */
  readonly planned: number;
  readonly wanted: RowLikeness;
}

async function refuseSharedWith(
  { store }: JournalDependencies,
  { plan }: Sharing,
  { op, planned, wanted }: Looked,
): Promise<void> {
  const history = await readOrError(store, op);
  if (history instanceof CliError) {
    const items = await readItems(store, op);
    // A row that cannot be read may be one of these.
    const isWhole = new Set(items.map(({ row }) => row)).size === planned;
    if (!isWhole || wanted.sharedWith(items).length > 0) throw damagedTwin(store.setAside(op), history);
    return;
  }
  if (history?.planned !== true) return;
  const held = await store.isHeld(op);
  const both = plan.bulk && history.plan.bulk;
  // Somebody who says that a row is not done has taken it out of the run.
  const inTheWay = (row: RowHistory) => (both ? row.resolved?.as !== 'not-done' : isInTheWay(row, history, held));
  const rows = [...history.rows.values()].filter(inTheWay);
  const shared = wanted.sharedWith(rows.map(({ item }) => item)).length;
  if (shared === 0) return;
  throw sharedRows(history, { shared, of: plan.rows.length, held });
}

/**
 * Where one of the two is a single command. The same card made by two commands at once is meant; after a kill, what was
 * done was perhaps told to nobody, and what was not is done by the resume.
 */
function isInTheWay(row: RowHistory, { plan }: History, held: boolean): boolean {
  const { item, state, resolved } = row;
  if (resolved !== undefined) return false;
  if (!held) return state === 'unknown' || state === 'done' || mayBePerformed(row, plan.bulk);
  const moves = item.operation === 'cards.fund' || item.operation === 'cards.withdraw';
  return moves && (state === 'unknown' || state === 'open');
}

interface Digests {
  /** Whether there is any row that must not be done twice. */
  any(): boolean;
  /** How many of the rows are there too; of equal rows as many as both have. */
  sharedWith(digests: ReadonlyMap<string, number>): number;
}

type ComparedRow = Pick<PlannedRow, 'operation' | 'input' | 'asked' | 'marker'>;

/** The rows of a plan, to be compared with those of other operations. */
interface RowLikeness {
  /** Whether there is any row that must not be done twice. */
  any(): boolean;
  /**
   * Those that are among the others too: sent alike, or asked for alike where a value was chosen for the caller, who may be
   * given another one the next time. Of equal rows as many as both have.
   */
  sharedWith(others: readonly ComparedRow[]): readonly PlannedRow[];
}

function createLikeness(rows: Iterable<PlannedRow>): RowLikeness {
  const sent = createDigests(rows);
  const asked = createDigests(rows, rowBeforeChoice);
  let isChosen: boolean | undefined;
  return {
    any: () => sent.any(),
    sharedWith(others) {
      isChosen ??= [...rows].some(row => row.asked !== undefined);
      const bySent = countedDigests(others.map(rowWithoutMarker));
      const byAsked = isChosen ? countedDigests(others.map(rowBeforeChoice)) : new Map<string, number>();
      const [same, alike] = [sent.sharedWith(bySent), asked.sharedWith(byAsked)];
      if (same + alike === 0) return [];
      return alike > same ? sharedRowsOf(rows, byAsked, rowBeforeChoice) : sharedRowsOf(rows, bySent);
    },
  };
}

/** The rows of a plan whose digests are among those given; of equal rows as many as both have. */
export function sharedRowsOf(
  rows: Iterable<PlannedRow>,
  digests: ReadonlyMap<string, number>,
  digestOf = rowWithoutMarker,
): PlannedRow[] {
  const left = new Map(digests);
  return [...rows].filter(row => {
    const digest = digestOf(row);
    const count = left.get(digest) ?? 0;
    if (count > 0) left.set(digest, count - 1);
    return count > 0;
  });
}

/** How often each stands there. */
export function countedDigests(digests: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const digest of digests) counts.set(digest, (counts.get(digest) ?? 0) + 1);
  return counts;
}

/** How far a run is: the one count that every refusal for its sake tells. */
export function standingOf({ rows }: History): string {
  let [done, unknown] = [0, 0];
  for (const { state } of rows.values()) {
    if (state === 'done') done += 1;
    else if (state === 'unknown') unknown += 1;
  }
  return `${done} of its ${rows.size} rows done${unknown === 0 ? '' : `, ${unknown} unknown`}`;
}

/** Digest of a row: the same for a row of a plan and for the item its journal keeps: the marker is no part of what was asked for. */
export function rowWithoutMarker({
  operation,
  input,
  marker,
}: Pick<PlannedRow, 'operation' | 'input' | 'marker'>): string {
  // The marker of a fleet is what was asked for: which of its cards it is.
  return rowDigest({ operation, input: marker === undefined ? withoutMarker(input) : input });
}

/** The same of what was asked for, where the input holds what was chosen for the caller. */
export function rowBeforeChoice({ input, asked, ...row }: ComparedRow): string {
  return rowWithoutMarker({ ...row, input: { ...input, ...asked } });
}

/** What was asked for. */
export function withoutMarker(input: PlannedRow['input']): PlannedRow['input'] {
  const { metadata, ...rest } = input;
  if (typeof metadata !== 'object' || metadata === null) return input;
  const { [MARKER_KEY]: _, ...own } = metadata as Readonly<Record<string, unknown>>;
  return Object.keys(own).length === 0 ? rest : { ...rest, metadata: own };
}

/** Made once, when they are first asked for: most often no other operation is there to be compared with. */
export function createDigests(rows: Iterable<PlannedRow>, digestOf = rowWithoutMarker): Digests {
  const counted = () => {
    const digests: string[] = [];
    for (const row of rows) if (CALLS[row.operation].repeat !== 'freely') digests.push(digestOf(row));
    return countedDigests(digests);
  };
  let kept: ReadonlyMap<string, number> | undefined;
  return {
    any() {
      for (const { operation } of rows) if (CALLS[operation].repeat !== 'freely') return true;
      return false;
    },
    sharedWith(digests) {
      kept ??= counted();
      let shared = 0;
      for (const [digest, count] of kept) shared += Math.min(count, digests.get(digest) ?? 0);
      return shared;
    },
  };
}

interface Shares {
  readonly shared: number;
  /** Rows of the plan. */
  readonly of: number;
  readonly held: boolean;
}

function sharedRows(history: History, { shared, of, held }: Shares): CliError {
  const { op } = history.plan;
  const unknown = [...history.rows.values()].filter(({ state }) => state === 'unknown').map(({ item }) => item.row);
  const which = of === 1 ? 'the same change is' : `${shared} of these ${of} rows ${shared === 1 ? 'is' : 'are'}`;
  const where = held ? 'in a run that is under way in another process' : 'in a run that is not finished';
  return new CliError('guarded', {
    message: `${which} ${where}, ${standingOf(history)}: ${op}`,
    ...(!held && {
      notes: [
        `What is done there would be done a second time. A resume does the rest of ${op} and finishes it; then run what is left.`,
        ...(unknown.length > 0
          ? [
              `${capital(rowsNamed(unknown))} may have happened. Look at the service, then say so. It happened: ${resolveCommand(op, unknown, 'done')}`,
              `It did not: ${resolveCommand(op, unknown, 'not-done')}`,
            ]
          : [`When it is over and is not to be resumed: cardwright ops resolve ${op} --as not-done --note "why"`]),
      ],
    }),
    hint: held ? `cardwright ops show ${op}` : `cardwright ops resume ${op}`,
    outcome: 'not_sent',
    op,
  });
}

/** Within this time after its end a run of many rows is told of. */
const TOLD_MS = DAY;

/**
 * Rows of a run of many that are the same as in one that was finished less than 24 hours ago. The input as a whole is
 * another one, most often a file that was corrected: its done rows would be done twice. Throws `guarded`; with `again` it
 * is said.
 */
export async function refuseFinishedRows(dependencies: JournalDependencies, { plan, record }: Sharing): Promise<void> {
  const { store, clock, notice } = dependencies;
  // What a card is brought to is moved at most once, whatever was moved before.
  if (!plan.bulk || [...firstOf(plan.rows)].some(({ aim }) => aim !== undefined)) return;
  const wanted = createLikeness(plan.rows);
  if (!wanted.any()) return;
  const named = isNamed(plan.rows);
  for await (const head of store.heads()) {
    const { op } = head;
    const other = await head.plan();
    if (other === undefined || other.origin !== record.origin || !other.bulk) continue;
    // Whoever runs the whole of it again has said so.
    if (other.digest === record.digest || other.digest === plan.digestInOrder) continue;
    const end = await head.end();
    if (end === undefined || clock.now() - end.at >= TOLD_MS) continue;
    const history = await readOrError(store, op);
    if (history === undefined || history instanceof CliError) continue;
    // Rows that are named otherwise than ours are other purchases; one without a name may be the same.
    const mayBeOurs = ({ item }: RowHistory) => !named || item.intent === undefined;
    const rows = [...history.rows.values()].filter(row => row.state === 'done' && mayBeOurs(row));
    const sharing = wanted.sharedWith(rows.map(({ item }) => item));
    const shared = sharing.length;
    if (shared === 0) continue;
    const of = plan.rows.length;
    const some =
      shared === of ? `all of these ${of} rows are` : `${shared} of these ${of} rows ${shared === 1 ? 'is' : 'are'}`;
    const these = of === 1 ? 'this row is' : some;
    const message = `${these} done in ${op}, finished ${new Date(end.at).toISOString()}`;
    if (plan.again !== true) {
      const again = secondTime(sharing, of);
      throw finishedRows(op, { message, again, left: of - shared });
    }
    notice(`warning: ${message}`);
  }
}

function* firstOf<T>(rows: Iterable<T>): Iterable<T> {
  for (const row of rows) {
    yield row;
    return;
  }
}

interface FinishedRows {
  readonly message: string;
  /** What `--again` does. */
  readonly again: string;
  /** Rows of the plan that are not done there. */
  readonly left: number;
}

function finishedRows(op: string, { message, again, left }: FinishedRows): CliError {
  const rest =
    left === 0
      ? [`Nothing is left to run. ${again}`]
      : [
          `Run the other ${left === 1 ? 'row in a file of its own' : `${left} rows in a file of their own`}. ${again}`,
          `The rows that are done, in the order of their file: cardwright ops show ${op} -o csv`,
        ];
  return new CliError('guarded', {
    message,
    notes: rest,
    hint: `cardwright ops show ${op}`,
    outcome: 'not_sent',
    op,
  });
}
