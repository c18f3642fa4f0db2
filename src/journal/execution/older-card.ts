/**
 * A create that is answered with the card of an earlier operation: by a cache, or by a service that tells duplicates by what
 * is in them (docs/design/reliability.md, section 6, "Cards of other operations").
 */
import { CLOCK_MARGIN_MS } from '../../contract/evidence.ts';
import { SECOND } from '../../core/durations.ts';
import { CliError } from '../../core/errors.ts';
import { textOf, timeOf } from './done-record.ts';
import { MARKER_KEY, rowMarker } from './marker.ts';
import type { MadeBefore, RunContext } from './run-context.ts';

type Values = Readonly<Record<string, unknown>>;

interface CreateAnswered {
  readonly result: Values;
  /** As in `Delivery`. */
  readonly carriesMark: boolean | undefined;
}

/**
 * Why the card in the answer is not the one that this create has made; undefined where nothing says so. A card that shows
 * our marker is ours, and under the same key an earlier card is the right answer. A sandbox that was reset gives its ids
 * anew: what was made at another time is another card.
 */
export async function olderCard(
  context: RunContext,
  number: number,
  { result, carriesMark }: CreateAnswered,
): Promise<string | undefined> {
  const { plan } = context;
  const { item } = context.row(number);
  const id = textOf(result['id']);
  if (item.operation !== 'cards.create' || id === undefined || plan.mode === 'sandbox') return undefined;
  const marker = plan.marker ? rowMarker(plan.op, item) : undefined;
  if (carriesMark ?? isMarked(result, marker)) return undefined;
  const rows = await context.madeBefore(id);
  if (rows.length === 0 || rows.some(({ key }) => key !== undefined && key === item.key)) return undefined;
  const card = await readCard(context, id);
  if (card !== undefined && isMarked(card, marker)) return undefined;
  const madeAt = timeOf(card?.['created_at']);
  const same = rows.find(before => !isOther(before, madeAt));
  return same && `the answer names the card ${id}, which row ${same.row} of ${same.op} has made: it is no new one`;
}

/** Why the card in the answer is not the one of this row: another row of the run was answered with it; undefined where none was. */
export function cardOfOtherRow(context: RunContext, number: number, { id }: Values): string | undefined {
  const { plan } = context;
  if (!plan.bulk || typeof id !== 'string' || context.row(number).item.operation !== 'cards.create') return undefined;
  const first = context.answeredBefore(id, number);
  return first === undefined ? undefined : `the answer names the card ${id}, which row ${first} was answered with`;
}

function isMarked({ metadata }: Values, marker: string | undefined): boolean {
  return marker !== undefined && (metadata as Values | undefined)?.[MARKER_KEY] === marker;
}

function isOther({ madeAt, doneAt }: MadeBefore, seenAt: number | undefined): boolean {
  if (seenAt === undefined) return false;
  return madeAt === undefined ? seenAt > doneAt + CLOCK_MARGIN_MS : !isOneTime(seenAt, madeAt);
}

/** A time may be told with and without the fraction of its second. */
export function isOneTime(one: number, other: number): boolean {
  if (one % SECOND !== 0 && other % SECOND !== 0) return one === other;
  return Math.floor(one / SECOND) === Math.floor(other / SECOND);
}

/** Undefined where it cannot be read: then nothing says that it is another one. */
async function readCard({ aside }: RunContext, id: string): Promise<Values | undefined> {
  try {
    return await aside.reader.read('cards.get', { card_id: id });
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return undefined;
  }
}
