/**
 * Cards by the marker of their row. Rows that are looked for at the same time share one reading of the list: after a
 * crash there may be many of them, and an account may have thousands of cards.
 */

import type { Reader } from '../contract/service.ts';
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';

import { MARKER_KEY } from './names.ts';

type Values = Readonly<Record<string, unknown>>;

export interface CardsWithMarker {
  readonly cards: readonly Values[];
  /** Ids of cards of which no metadata is shown, and which are young enough to be any of the plan's. */
  readonly unreadable: readonly string[];
  /** Why the list may be incomplete: that a card is not in it shows nothing. */
  readonly incomplete?: string | undefined;
}

/** The cards of a BIN that carry a marker, from a reading of the list that began after this call. */
export type MarkerIndex = (marker: string, binId: string) => Promise<CardsWithMarker>;

interface Found {
  readonly byMarker: ReadonlyMap<string, readonly Values[]>;
  readonly unreadable: readonly string[];
  readonly incomplete: string | undefined;
}

const MOST_SINGLE_READS = 200;

interface MarkedPlan {
  /** What the markers begin with. */
  readonly prefix: string;
  /** No card of it is older, ms UTC. */
  readonly since: number;
}

export function createMarkerIndex(reader: Reader, plan: MarkedPlan): MarkerIndex {
  /** The latest reading of a BIN that has begun. */
  const latest = new Map<string, Promise<unknown>>();
  /** The reading of a BIN that has not begun yet. */
  const waiting = new Map<string, Promise<Found>>();

  /** A reading that begins after now: one that is under way may be past the page on which the card now stands. */
  function nextReading(binId: string): Promise<Found> {
    const shared = waiting.get(binId);
    if (shared !== undefined) return shared;
    const reading = (latest.get(binId) ?? Promise.resolve())
      // Whoever asked for the reading before this one is told how it failed.
      .catch(() => undefined)
      .then(() => {
        waiting.delete(binId);
        return readWhole(reader, plan, binId);
      });
    waiting.set(binId, reading);
    latest.set(binId, reading);
    return reading;
  }

  return async (marker, binId) => {
    const { byMarker, unreadable, incomplete } = await nextReading(binId);
    return { cards: byMarker.get(marker) ?? [], unreadable, incomplete };
  };
}

/** A list that others add to while its pages are read is read again, twice at most. */
async function readWhole(reader: Reader, plan: MarkedPlan, binId: string): Promise<Found> {
  const first = await readMarked(reader, plan, binId);
  if (first.incomplete === undefined) return first;
  const second = await readMarked(reader, plan, binId);
  return second.incomplete === undefined ? second : await readMarked(reader, plan, binId);
}

async function readMarked(reader: Reader, plan: MarkedPlan, binId: string): Promise<Found> {
  const byMarker = new Map<string, Values[]>();
  const unmarked: string[] = [];
  const keep = (card: Values & { readonly metadata?: Readonly<Record<string, string>> | null | undefined }) => {
    const marker = card.metadata?.[MARKER_KEY];
    if (marker?.startsWith(plan.prefix)) byMarker.set(marker, [...(byMarker.get(marker) ?? []), card]);
  };
  let incomplete: string | undefined;
  const onIncomplete = (why: string) => {
    incomplete = why;
  };
  for await (const { data } of reader.pages('cards.list', { bin_id: binId, per_page: 100 }, { onIncomplete })) {
    for (const card of data) {
      keep(card);
      // A card made a day before the plan cannot be ours, however far the clocks are apart.
      const old = Date.parse(card.created_at ?? '') < plan.since - DAY;
      if (card.metadata === undefined && !old) unmarked.push(card.id);
    }
  }
  // A list that carries no metadata: the cards that are young enough are read one by one.
  if (unmarked.length > MOST_SINGLE_READS) {
    throw new CliError('contract_mismatch', {
      message: `the list of cards carries no metadata, and ${unmarked.length} are too many to read one by one`,
    });
  }
  const unreadable: string[] = [];
  for (const id of unmarked) {
    const card = await reader.read('cards.get', { card_id: id });
    keep(card);
    if (card.metadata === undefined || card.metadata === null) unreadable.push(id);
  }
  return { byMarker, unreadable, incomplete };
}
