/** What is different for a row whose key and marker follow from its intention: other machines may do the very same. */
import { CliError } from '../../core/errors.ts';
import { centsOf } from '../../core/money.ts';
import type { RowOutcome } from '../row-outcome.ts';
import type { RowHistory } from '../wal/replay.ts';
import { MARKER_KEY } from './marker.ts';
import { checkAfter } from './refusal.ts';
import type { RunContext } from './run-context.ts';
import { reconcileOnce, type Step } from './step.ts';

type Values = Readonly<Record<string, unknown>>;

/** A stored refusal is replayed for as long as the key is known, so that a chain of keys is walked this far. */
const MOST_ATTEMPTS = 5;

/**
 * Whether a refused row goes on under the next key of its chain at once: its key was taken by another request, or the wallet
 * that was too low, now or when somebody else sent the key first, covers it by now.
 */
export async function mayTryNextKey(context: RunContext, number: number, outcome: RowOutcome): Promise<boolean> {
  const { item, failed } = context.row(number);
  if (item.chain === undefined || outcome.outcome !== 'refused' || item.attempt >= MOST_ATTEMPTS) return false;
  if (context.lookOnly || context.stop.aborted) return false;
  if (failed?.next === true) return true;
  if (failed?.kind !== 'insufficient_funds' || item.amount === undefined) return false;
  try {
    const wallet = centsOf((await context.reader.read('wallet.get', {})).balance);
    return wallet !== undefined && wallet >= item.amount;
  } catch (thrown) {
    if (thrown instanceof CliError && thrown.kind !== 'internal') return false;
    throw thrown;
  }
}

/**
 * What shows that the card of a row that was taken up again is there: another machine may have made it since its plan.
 * Undefined where nothing does, and for a run that has just begun: its plan is as old as its list of cards.
 */
export async function isMadeAlready(context: RunContext, { item }: RowHistory): Promise<string | undefined> {
  if (item.marker === undefined || !context.resumed) return undefined;
  const { found, text } = await checkAfter(context, item.row);
  return found === 'it' || found === 'several' ? text : undefined;
}

/** The marker settles it. */
export async function recordMadeAlready(context: RunContext, number: number, text: string): Promise<Step> {
  await context.write({ t: 'AMBIG', row: number, reason: `its card is there: ${text}`, at: context.clock.now() });
  return reconcileOnce();
}

/**
 * Whether the card of a create gives its marker back; undefined for a row without one of its own. An answer may repeat what was
 * asked, and a reading show nothing of it, or the other way round: the first card is read, and each whose answer shows none.
 */
export async function showsMarker(
  context: RunContext,
  { item }: RowHistory,
  { id, metadata }: Values,
): Promise<boolean | undefined> {
  if (item.marker === undefined || typeof id !== 'string') return undefined;
  const isAnswered = (metadata as Values | undefined)?.[MARKER_KEY] === item.marker;
  if (isAnswered && context.markerSeen()) return true;
  try {
    const card = await context.aside.reader.read('cards.get', { card_id: id });
    return card.metadata?.[MARKER_KEY] === item.marker;
  } catch (thrown) {
    // A card that cannot be read yet: its answer is all there is.
    if (thrown instanceof CliError && thrown.kind !== 'internal') return isAnswered;
    throw thrown;
  }
}

/** What is told of a card that was made and does not show its marker: the run ends with it. */
export function hiddenMarker(cardId: string | undefined): CliError {
  return new CliError('contract_mismatch', {
    message: `${cardId} was made and does not show its marker; no further card is made`,
    outcome: 'done',
  });
}

/** Why no further card may be made: those of this run do not give their marker back, and could not be told from others. */
export function unmarked(context: RunContext, { item }: RowHistory): CliError | undefined {
  if (item.marker === undefined || context.markerUsable()) return undefined;
  return new CliError('contract_mismatch', {
    message: 'a card of this run does not show its marker; no further card is made',
    outcome: 'not_sent',
  });
}
