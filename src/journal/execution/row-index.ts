/**
 * The rows of a run. Those that something happens to are held whole; the others, which may be a hundred thousand, as
 * places in the journal, where they stand anyway and are read back from when somebody asks.
 */

import { decodeStored, type LineOffset } from '../wal/codec.ts';
import type { ItemRecord, RowRecord } from '../wal/records.ts';
import { afterRecord, openRow, type RowHistory } from '../wal/replay.ts';

/** One row of many, without reading more of it than is asked for. */
export interface Standing {
  readonly row: number;
  readonly state: RowHistory['state'];
  readonly history: () => RowHistory;
}

/** A card that the journal says was made. */
export interface MadeCard {
  readonly row: number;
  readonly id: string;
}

export interface RowIndex {
  readonly size: number;
  /** Undefined when there is no such row. */
  row(row: number): RowHistory | undefined;
  /** What it is now; `done` is where the journal says so. */
  set(history: RowHistory, done?: LineOffset): void;
  /** Nothing happens to it any more, for now: it needs not be held. */
  rest(row: number): void;
  /** All of them in the order of the plan; `history` reads back what is not held. */
  all(): Iterable<Standing>;
  /** Those that are held. */
  held(): Iterable<RowHistory>;
  /** Cards of done creates that are not held. */
  restingCards(): Iterable<MadeCard>;
  /** BINs that cards are made of, of rows that are not held. */
  readonly restingBins: ReadonlySet<string>;
  /** Of those that are not held: how many nothing has happened to, and how many are done, with their cents. */
  resting(): { readonly open: number; readonly done: number; readonly cents: number };
}

/** Of a journal that was read whole. */
export function rowsInMemory(rows: ReadonlyMap<number, RowHistory>): RowIndex {
  const held = new Map(rows);
  return {
    size: held.size,
    row: row => held.get(row),
    set: history => void held.set(history.item.row, history),
    rest: () => undefined,
    *all() {
      for (const history of held.values()) yield standing(history);
    },
    held: () => held.values(),
    restingCards: () => [],
    restingBins: new Set(),
    resting: () => ({ open: 0, done: 0, cents: 0 }),
  };
}

function standing(history: RowHistory): Standing {
  return { row: history.item.row, state: history.state, history: () => history };
}

export interface Reading {
  readonly op: string;
  /** As of the file of the journal. */
  readonly readAt: (at: number, length: number) => Uint8Array;
}

/** Read at once, for rows follow each other. */
const BLOCK_BYTES = 1 << 16;
/** Part of it before what was asked for: outcomes stand in the order they came. */
const BEFORE = 4;

/** The bytes of a place, out of a block that was read before where it holds them. */
function createBlock(readAt: Reading['readAt']): Reading['readAt'] {
  let from = 0;
  let bytes: Uint8Array = new Uint8Array(0);
  return (at, length) => {
    if (at < from || at + length > from + bytes.length) {
      from = Math.max(0, at - BLOCK_BYTES / BEFORE);
      bytes = readAt(from, at - from + Math.max(length, BLOCK_BYTES));
    }
    return bytes.subarray(at - from, at - from + length);
  };
}

/** Of a plan that was just written: `places` are those of its items, which come in ascending order of their rows. */
export function placedRows({ op, readAt }: Reading, places: ItemPlaces): RowIndex {
  const { size, numbers, ends, begin, bins } = places;
  const held = new Map<number, RowHistory>();
  const doneAt = new Float64Array(size).fill(-1);
  const doneLength = new Uint32Array(size);
  const cards: (string | undefined)[] = [];
  const counted = { open: size, done: 0, cents: 0 };
  const items = createBlock(readAt);
  const outcomes = createBlock(readAt);

  function indexOf(row: number): number {
    // Rows that were left out of an input leave gaps.
    let [low, high] = [0, Math.min(size, row) - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((numbers[middle] ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    return numbers[low] === row ? low : -1;
  }

  function readBack(index: number): RowHistory {
    const at = index === 0 ? begin : (ends[index - 1] ?? 0);
    const open = openRow(decodeStored(items(at, (ends[index] ?? 0) - at), op) as ItemRecord);
    const done = doneAt[index] ?? -1;
    if (done < 0) return open;
    return afterRecord(open, decodeStored(outcomes(done, doneLength[index] ?? 0), op) as RowRecord);
  }

  const isResting = (index: number) => !held.has(numbers[index] ?? 0);

  return {
    size,
    row(row) {
      const known = held.get(row);
      if (known !== undefined) return known;
      const index = indexOf(row);
      if (index < 0) return undefined;
      const back = readBack(index);
      // Somebody is about to work on it.
      if (back.state === 'open') {
        counted.open -= 1;
        held.set(row, back);
      }
      return back;
    },
    set(history, done) {
      const { row } = history.item;
      const index = indexOf(row);
      if (isResting(index) && (doneAt[index] ?? -1) < 0) counted.open -= 1;
      else if (isResting(index)) {
        counted.done -= 1;
        counted.cents -= history.item.amount ?? 0;
      }
      if (done !== undefined) {
        doneAt[index] = done.at;
        doneLength[index] = done.length;
      }
      held.set(row, history);
    },
    rest(row) {
      const known = held.get(row);
      if (known === undefined || !isPlain(known)) return;
      const index = indexOf(row);
      if (known.state === 'done') {
        if ((doneAt[index] ?? -1) < 0) return;
        counted.done += 1;
        counted.cents += known.item.amount ?? 0;
        cards[index] = known.item.operation === 'cards.create' ? known.done?.id : undefined;
      } else counted.open += 1;
      held.delete(row);
    },
    *all() {
      for (const [index, row] of numbers.entries()) {
        const known = held.get(row);
        if (known !== undefined) yield standing(known);
        else yield { row, state: (doneAt[index] ?? -1) < 0 ? 'open' : 'done', history: () => readBack(index) };
      }
    },
    held: () => held.values(),
    *restingCards() {
      for (const [index, id] of cards.entries()) {
        if (id !== undefined && isResting(index)) yield { row: numbers[index] ?? 0, id };
      }
    },
    restingBins: bins,
    resting: () => counted,
  };
}

/** Whether its item, and its DONE where it has one, are all there is to say. */
function isPlain({ item, state, done, looks, doubt, failed, duplicate, resolved, firstSent, notSent }: RowHistory) {
  if (state !== 'open' && state !== 'done') return false;
  if (item.attempt !== 1 || looks.length > 0) return false;
  if (doubt ?? failed ?? duplicate ?? resolved ?? notSent ?? done?.resent_on_check) return false;
  if (state === 'open') return firstSent === undefined;
  // Another amount than was planned is a matter of the audit, which looks at what is held.
  return done !== undefined && isShown(done.via) && (done.balance === undefined || done.balance === item.amount);
}

/** By the answer or by the resource itself, and not only by what was looked for later. */
export function isShown(via: string): boolean {
  return via === 'answer' || via === 'reread' || via === 'state';
}

/** Where the items of a plan stand in its journal, as they are written one after the other. */
export interface ItemPlaces {
  readonly size: number;
  readonly numbers: Uint32Array;
  /** End of each; the next one begins there. */
  readonly ends: Float64Array;
  /** Of the first one. */
  readonly begin: number;
  /** BINs of creates. */
  readonly bins: ReadonlySet<string>;
}
