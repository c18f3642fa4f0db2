/**
 * Which rows are alike: sent alike, or asked for alike where a value was chosen for the caller. The marker of the journal
 * is no part of a row's digest.
 */
import { CALLS } from '../../contract/raw.ts';
import { MARKER_KEY } from '../execution/marker.ts';
import type { PlannedRow } from '../types.ts';
import { rowDigest } from '../wal/op-id.ts';
import { givenDefaults, withoutDefaults } from '../wal/wanted-change.ts';

interface Digests {
  /** Whether there is any row that must not be done twice. */
  any(): boolean;
  /** How many of the rows are there too; of equal rows as many as both have. */
  sharedWith(digests: ReadonlyMap<string, number>): number;
}

type ComparedRow = Pick<PlannedRow, 'operation' | 'input' | 'asked' | 'marker'>;

/** The rows of a plan, to be compared with those of other operations. */
export interface RowLikeness {
  /** Whether there is any row that must not be done twice. */
  any(): boolean;
  /**
   * Those that are among the others too: sent alike, or asked for alike where a value was chosen for the caller, who may be
   * given another one the next time. Of equal rows as many as both have.
   */
  sharedWith(others: readonly ComparedRow[]): readonly PlannedRow[];
}

export function createLikeness(rows: Iterable<PlannedRow>): RowLikeness {
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
      const filled = sharedByDefault(rows, others);
      if (same + alike === 0) return filled;
      const shared = alike > same ? sharedRowsOf(rows, byAsked, rowBeforeChoice) : sharedRowsOf(rows, bySent);
      return filled.length === 0 ? shared : [...new Set([...shared, ...filled])];
    },
  };
}

/**
 * Rows that are alike when the service fills in for one what the other one gives: `spending_limit` is the BIN's where it is left
 * out, and nobody here knows that it is not the same number.
 */
function sharedByDefault(rows: Iterable<PlannedRow>, others: readonly ComparedRow[]): readonly PlannedRow[] {
  const gives = (row: ComparedRow) => givenDefaults(row.operation, row.input).length > 0;
  const byGiven = (row: ComparedRow) => rowBeforeChoice({ ...row, input: withoutDefaults(row.operation, row.input) });
  const [giving, leaving] = [others.filter(gives), others.filter(row => !gives(row))];
  const ours = [...rows];
  return [
    ...sharedRowsOf(
      ours.filter(row => !gives(row)),
      countedDigests(giving.map(byGiven)),
      byGiven,
    ),
    ...sharedRowsOf(ours.filter(gives), countedDigests(leaving.map(byGiven)), byGiven),
  ].filter(({ operation }) => CALLS[operation].repeat !== 'freely');
}

/** The rows of a plan whose digests are among those given; of equal rows as many as both have. */
export function sharedRowsOf(
  rows: Iterable<PlannedRow>,
  digests: ReadonlyMap<string, number>,
  digestOf: (row: ComparedRow) => string = rowWithoutMarker,
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
