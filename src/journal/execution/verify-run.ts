/**
 * The audit of a run: what the journal calls done is compared with what the service has
 * (docs/design/reliability.md, section 6).
 */
import { READ_LAG, READ_LAG_PAUSES } from '../../contract/spans.ts';
import { CliError } from '../../core/errors.ts';
import { cents, dollars } from '../../core/money.ts';
import type { Clock } from '../../platform/host.ts';
import type { RowHistory } from '../wal/replay.ts';
import { cardAge, oldestFirst } from './card-age.ts';
import { MARKER_KEY, markerPrefixOf, rowMarker } from './marker.ts';
import type { MadeCard, RowIndex } from './row-index.ts';
import type { RunContext } from './run-context.ts';
import { duplicateNotes } from './unknown-error.ts';
import { resentOnCheck } from './verify-wallet.ts';

export interface Audit {
  /** What is wrong, a sentence each. */
  readonly objections: readonly string[];
  /** Cards that were answered, and that no reading shows: whether they exist is not known. */
  readonly unread: readonly MadeCard[];
  /** Rows that were answered with another card, and the one card that carries their marker. */
  readonly misnamed: readonly Misnamed[];
}

/** A row that was answered with the card `named`, and the card that it has made. */
export interface Misnamed {
  readonly row: number;
  readonly named: string;
  readonly card: Values;
}

type Values = Readonly<Record<string, unknown>>;

/** Throws as reading does when the service cannot be asked. */
export async function auditRun(context: RunContext): Promise<Audit> {
  await untilSettled(context);
  const made = cardsOf(context.rowIndex);
  if (made.bins.size === 0) return NOTHING_WRONG;
  const { missing, unmarked, strays, ...listed } = await compared(context, made);
  const { misnamed, twice } = await straysOf(context, strays, made.duplicates);
  for (const { named } of misnamed) {
    unmarked.delete(named);
    missing.delete(named);
  }
  const others = await otherCards(context, { ...listed, unmarked });
  const gone = await notThere(context, missing);
  const unread = [...gone, ...made.again.filter(({ id }) => gone.some(card => card.id === id))];
  const objections = [...misnamed.map(misnamedText), ...others, ...twice, ...made.objections];
  return { objections, unread, misnamed };
}

const NOTHING_WRONG: Audit = { objections: [], unread: [], misnamed: [] };

function misnamedText({ row, named, card }: Misnamed): string {
  return `row ${row}: the answer named the card ${named}, which is another one; the card of row ${row} is ${String(card['id'])}, which carries its marker`;
}

/** What a row that was sent again on nothing but a look has done twice may show a moment later. */
async function untilSettled({ plan, rowIndex, clock, stop }: RunContext): Promise<void> {
  const latest = Math.max(
    ...resentOnCheck(rowIndex).map(({ done, doubt, lastSent }) => done?.at ?? doubt?.at ?? lastSent?.at ?? 0),
  );
  const left = latest + READ_LAG - clock.now();
  // The list of the built-in sandbox shows everything at once.
  if (plan.mode === 'sandbox' || !(left > 0)) return;
  await pause(Math.min(left, READ_LAG), clock, stop);
}

async function pause(ms: number, clock: Clock, stop: AbortSignal): Promise<void> {
  await clock.sleep(ms, stop).catch((reason: unknown) => {
    if (!stop.aborted) throw reason;
  });
}

/** What the rows say, gone through once: there may be a hundred thousand of them. */
interface Made {
  readonly bins: ReadonlySet<string>;
  /** Rows by their cards, the first of each. */
  readonly rows: ReadonlyMap<string, number>;
  /** Further rows of these cards. */
  readonly again: readonly MadeCard[];
  readonly duplicates: Map<number, RowHistory>;
  readonly objections: readonly string[];
}

function cardsOf(rowIndex: RowIndex): Made {
  const rows = new Map<string, number>();
  const duplicates = new Map<number, RowHistory>();
  const objections: string[] = [];
  const again: MadeCard[] = [];
  const add = ({ row, id }: MadeCard) => {
    const first = rows.get(id);
    if (first === undefined) {
      rows.set(id, row);
      return;
    }
    again.push({ row, id });
    // Answers went astray, and no marker in them told so.
    objections.push(`rows ${first} and ${row}: both were answered with card ${id}, so one of them has another card`);
  };
  for (const card of rowIndex.restingCards()) add(card);
  const bins = new Set(rows.size > 0 ? rowIndex.restingBins : []);
  for (const row of rowIndex.held()) {
    const { item, state, done, duplicate } = row;
    if (item.operation !== 'cards.create' || state !== 'done') continue;
    bins.add(String(item.input['bin_id']));
    if (duplicate !== undefined) duplicates.set(item.row, row);
    if (done?.id !== undefined) add({ row: item.row, id: done.id });
    objections.push(...otherAmount(row));
  }
  return { bins, rows, again, duplicates, objections };
}

/**
 * The lists of their BINs: cards that are not in them, by row, those that do not show the marker of their row there, and
 * cards with the marker of a row that was answered with none of them.
 */
async function compared(context: RunContext, { bins, rows }: Made) {
  const { reader, plan } = context;
  const missing = new Map(rows);
  const unmarked = new Map<string, number>();
  let isDenied = false;
  const strays = new Map<number, Values[]>();
  const prefix = markerPrefixOf(plan);
  const rowOf = rowsByMarker(context);
  const expected = (row: number) => expectedMarker(context, row);
  for (const binId of bins) {
    for await (const { data } of reader.pages('cards.list', { bin_id: binId, per_page: 100 })) {
      for (const card of data) {
        const { id, metadata } = card;
        missing.delete(id);
        const marker = metadata?.[MARKER_KEY];
        const own = rows.get(id);
        if (own !== undefined && marker !== expected(own)) unmarked.set(id, own);
        if (unmarked.has(id) && metadata !== undefined && metadata !== null) isDenied = true;
        if (!context.markerUsable() || typeof marker !== 'string' || !marker.startsWith(prefix)) continue;
        const row = rowOf(marker);
        if (row === undefined || own === row) continue;
        strays.set(row, [...(strays.get(row) ?? []), card]);
      }
    }
  }
  return { missing, unmarked, isDenied, strays };
}

/**
 * What a card tells that carries the marker of a row and is not the one in its answer: a second card where the answered one
 * carries the marker too, or cannot be read for it; else the card that the row has made.
 */
async function straysOf(
  context: RunContext,
  strays: ReadonlyMap<number, readonly Values[]>,
  duplicates: ReadonlyMap<number, RowHistory>,
) {
  const misnamed: Misnamed[] = [];
  const found: RowHistory[] = [];
  for (const [row, cards] of strays) {
    const history = context.rowIndex.row(row);
    if (history?.state !== 'done') continue;
    const named = history.done?.id;
    const isOne = named !== undefined && (await carriesMarker(context, named, row));
    const [card] = cards;
    if (named !== undefined && !isOne && card !== undefined && cards.length === 1) misnamed.push({ row, named, card });
    const answered = isOne ? [{ id: named, madeAt: history.done?.made_at }] : [];
    const all = [...answered, ...cards.map(cardAge)];
    // The marker of a fleet may be that of an older card which another apply has made.
    const ids = history.item.marker === undefined ? all.map(({ id }) => id) : oldestFirst(all);
    if (ids.length > 1) found.push({ ...history, duplicate: { t: 'DUPLICATE', row, ids, at: 0 } });
  }
  const seen = new Set(found.map(({ item }) => item.row));
  const others = [...duplicates.values()].filter(({ item }) => !seen.has(item.row));
  return { misnamed, twice: [...found, ...others].flatMap(duplicateNotes) };
}

/** Whether a card carries the marker of a row; also where it shows no metadata. No for a card that is not there. */
async function carriesMarker(context: RunContext, id: string, row: number): Promise<boolean> {
  try {
    const { metadata } = await context.reader.read('cards.get', { card_id: id });
    return metadata === undefined || metadata === null || metadata[MARKER_KEY] === expectedMarker(context, row);
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind !== 'not_found') throw thrown;
    return false;
  }
}

/** The marker of a row. Where it is the op's own, the row need not be read for it. */
function expectedMarker({ plan, rowIndex }: RunContext, row: number): string {
  const item = plan.marker_prefix === undefined ? { row } : (rowIndex.row(row)?.item ?? { row });
  return rowMarker(plan.op, item);
}

/** The row that a marker is of; undefined for a marker of none. */
function rowsByMarker({ plan, rowIndex }: RunContext): (marker: string) => number | undefined {
  if (plan.marker_prefix === undefined) {
    const prefix = markerPrefixOf(plan);
    return marker => {
      const row = Number(marker.slice(prefix.length));
      return marker === rowMarker(plan.op, { row }) ? row : undefined;
    };
  }
  const rows = new Map<string, number>();
  for (const each of rowIndex.all()) {
    const { row, marker } = each.history().item;
    if (marker !== undefined) rows.set(marker, row);
  }
  return marker => rows.get(marker);
}

/** Of a service whose lists hold no metadata every card looks unmarked: so many are read to tell. */
const MOST_READ = 20;

/**
 * An answer may hold our marker beside the id of a card that was there before: the card itself does not carry it. Where one
 * is found among the first, or the list shows metadata without the marker, none is believed before it was read.
 */
async function otherCards(
  context: RunContext,
  { unmarked, isDenied }: { readonly unmarked: ReadonlyMap<string, number>; readonly isDenied: boolean },
) {
  const { reader } = context;
  if (!context.markerUsable()) return [];
  const others: string[] = [];
  let read = 0;
  for (const [id, row] of unmarked) {
    if (read === MOST_READ && !isDenied && others.length === 0) break;
    const { metadata } = await reader.read('cards.get', { card_id: id });
    read += 1;
    if (metadata === undefined || metadata === null || metadata[MARKER_KEY] === expectedMarker(context, row)) continue;
    others.push(
      `row ${row}: card ${id} does not carry the marker of this run, so it is not the card that was asked for`,
    );
  }
  return others;
}

/** A list may be stale or leave states out; a card that is not in it is asked for by name, and again a little later. */
async function notThere(
  { reader, clock, stop }: RunContext,
  missing: ReadonlyMap<string, number>,
): Promise<readonly MadeCard[]> {
  const read = async (cards: readonly MadeCard[]) => {
    const gone: MadeCard[] = [];
    for (const card of cards) if (!(await isThere(reader, card.id))) gone.push(card);
    return gone;
  };
  let left = await read([...missing].map(([id, row]) => ({ row, id })));
  for (const ms of READ_LAG_PAUSES) {
    const [first] = left;
    if (first === undefined) return [];
    await pause(ms, clock, stop);
    // What is behind shows all of them about the same time: one tells when it is worth to ask for the others.
    if (await isThere(reader, first.id)) left = await read(left);
  }
  return left.length > 1 ? read(left) : left;
}

async function isThere(reader: RunContext['reader'], id: string): Promise<boolean> {
  try {
    await reader.read('cards.get', { card_id: id });
    return true;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind !== 'not_found') throw thrown;
    return false;
  }
}

function otherAmount({ item, done }: RowHistory): string[] {
  if (done?.balance === undefined || done.via !== 'answer' || done.balance === item.amount) return [];
  const [issued, planned] = [dollars(cents(done.balance)), dollars(cents(item.amount ?? 0))];
  return [`row ${item.row}: card ${done.id} was issued with ${issued}, planned were ${planned}`];
}
