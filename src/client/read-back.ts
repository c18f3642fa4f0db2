/** Answers that do not show the effect: the resource or the balances are read (reading rule 7; ). */

import {
  type Balances,
  carriesMark,
  type Evidence,
  notMadeNow,
  otherThanAnswered,
  proofOf,
  transferAgrees,
  transferShown,
  unshown,
} from '../contract/evidence.ts';
import { MADE } from '../contract/operation.ts';
import { CliError } from '../core/errors.ts';
import type { Cents } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { shellWord } from '../core/shell-quote.ts';
import { stretched } from '../platform/jitter.ts';
import { type RequestFacts, withRequested } from './decode.ts';
import { errorOf } from './errors.ts';
import { paramsOf, type ReadBackParts, readBalances, readCard } from './readings.ts';
import { classifyUnusable, type Interpretation } from './request.ts';
import { rest } from './retry.ts';

type Values = Readonly<Record<string, unknown>>;
type Unverified = Extract<Interpretation, { class: 'unverified' }>;
type Shown = Extract<Interpretation, { class: 'done' }>;

/** How long a 202 is followed. */
const FOLLOW_MS = 75_000;
const POLL_MS = 1_000;
/** Pauses between readings that do not show yet what the answer showed: a replica may lag behind. */
const LAG_MS = [250, 500, 1_000];
/** How often a reading that was put off by a rate limit is tried once more, beyond the attempts of every reading. */
const THROTTLED_READS = 5;

/**
 * The resource after a write whose 2xx answer did not show it. Throws `outcome_unknown` when nothing confirms it,
 * `contract_mismatch` with outcome `done` when it certainly happened but is not what was asked for, or cannot be printed.
 */
export async function confirmWrite(asked: RequestFacts, verdict: Unverified, settling: ReadBackParts): Promise<Values> {
  const { row } = asked.target;
  if (row.readBack !== undefined) return confirmState(asked, verdict, settling);
  if (row.transfer !== undefined) return confirmTransfer(asked, verdict, settling);
  if (row.makes !== undefined) return confirmMade(asked, verdict, settling);
  throw verdict.error;
}

/** The resource when it shows the effect of a write that was refused, or whose answer was lost; undefined when it does not, or cannot be read. */
export async function findEffect(asked: RequestFacts, settling: ReadBackParts): Promise<Values | undefined> {
  const { readBack, removesFrom } = asked.target.row;
  try {
    if (removesFrom !== undefined) return (await isListed(asked, removesFrom, settling)) ? undefined : {};
    if (readBack === undefined) return undefined;
    const resource = await settling.read(readBack, paramsOf(asked));
    return unshown({ row: asked.target.row, input: asked.input }, resource, undefined) === undefined
      ? resource
      : undefined;
  } catch (failed) {
    // The write's own error is what the user must see, so any failure to look counts as nothing seen.
    if (failed instanceof CliError) return undefined;
    throw failed;
  }
}

/** Whether what is removed is still listed; also where the list is not whole. Throws as reading does. */
export async function isListed(
  { input }: RequestFacts,
  { list, id }: { readonly list: string; readonly id: string },
  { read }: ReadBackParts,
): Promise<boolean> {
  const { data, page } = await read(list, {});
  const total = isObject(page) ? page['total'] : undefined;
  if (!Array.isArray(data) || (typeof total === 'number' && total > data.length)) return true;
  return data.some(each => isObject(each) && each['id'] === input[id]);
}

/**
 * Whether an answer that shows the effect is not yet believed: what it says of money and states is read as well, and so is
 * a new card, but for those of a run, which are all compared with the list at its end.
 */
export function isReadAfter({ target, evidence }: RequestFacts): boolean {
  const { transfer, leadsTo, makes } = target.row;
  if (evidence === undefined) return false;
  if (makes === 'card') return evidence.alone;
  return leadsTo !== undefined || (transfer !== undefined && evidence.before !== undefined);
}

export interface Confirmed {
  readonly result: Values;
  /** Of a new card: whether a reading of it shows the mark of this write. */
  readonly carriesMark?: boolean;
}

/**
 * The result of a write whose answer shows its effect, once a reading shows it too; of a transfer with the balances that
 * were read. Throws `outcome_unknown` when the reading denies it or fails.
 */
export async function confirmAnswer(asked: RequestFacts, verdict: Shown, settling: ReadBackParts): Promise<Confirmed> {
  const result = verdict.decoded.result as Values;
  const { leadsTo, makes } = asked.target.row;
  const judgedBy = { ...asked, evidence: verdict.evidence ?? asked.evidence };
  const read = makes === 'card' ? cardAgrees : leadsTo === undefined ? balancesAgree : stateAgrees;
  const patient = { ...settling, read: patiently(settling) };
  for (const pause of [...LAG_MS, undefined]) {
    const seen = await read(judgedBy, result, patient).catch((failed: unknown) => {
      const why = failed instanceof Error ? failed.message : 'it failed';
      throw undenied(denied(asked, verdict, `reading it back: ${why}`), result);
    });
    if (typeof seen !== 'string') return seen;
    if (pause !== undefined && (await rest(pause, settling.clock, settling.signal))) continue;
    const error = denied(asked, verdict, seen);
    throw seen.startsWith(OTHER_CARD) ? error : undenied(error, result);
  }
  return { result };
}

/** The answer shows the effect in full, and no reading says that it is another card: whoever judges it later is told. */
function undenied(error: CliError, { id }: Values): CliError {
  return error.with({ evidence: { answer_shows_it: true, ...(typeof id === 'string' && { answered_card: id }) } });
}

const OTHER_CARD = 'a read of its id shows another card';

/** Waits for as long as the service asks it to: a rate limit must not make an effect unknown that an answer shows. */
function patiently({ read, clock, signal }: ReadBackParts): ReadBackParts['read'] {
  return async (operation, input) => {
    for (let left = THROTTLED_READS; ; left -= 1) {
      try {
        return await read(operation, input);
      } catch (failed) {
        if (!(failed instanceof CliError) || failed.kind !== 'rate_limited' || left === 0) throw failed;
        if (!(await rest(Math.max(POLL_MS, failed.facts.retryAfterMs ?? 0), clock, signal))) throw failed;
      }
    }
  };
}

function denied({ target, input }: RequestFacts, { status, requestId }: Shown, seen: string): CliError {
  const why = `the answer shows the effect, but ${seen}`;
  const service = requestId === undefined ? {} : { service: { request_id: requestId } };
  return errorOf(classifyUnusable(target.row, false), { target, input, status, why, ...service });
}

async function stateAgrees(asked: RequestFacts, result: Values, settling: ReadBackParts): Promise<Confirmed | string> {
  const resource = await settling.read(asked.target.row.readBack ?? '', paramsOf(asked));
  return unshown({ row: asked.target.row, input: asked.input }, resource, undefined) === undefined
    ? { result }
    : 'a read of the card does not';
}

/** The id may be that of a card that was there before, with everything else in the answer made up. */
async function cardAgrees(
  { evidence }: RequestFacts,
  result: Values,
  { read }: ReadBackParts,
): Promise<Confirmed | string> {
  const { id } = result;
  const card = await read(MADE.card.read, { [MADE.card.by]: id }).catch((failed: unknown) => {
    // A replica may not have it yet.
    if (failed instanceof CliError && failed.kind === 'not_found') return undefined;
    throw failed;
  });
  if (card === undefined) return `a read finds no card ${String(id)}`;
  const why = evidence && (notMadeNow(card, evidence) ?? otherThanAnswered(card, result));
  return why === undefined ? { result, carriesMark: carriesMark(card, evidence) } : `${OTHER_CARD}: ${why}`;
}

/** One reading of the card for a row of a run: the wallet is moved by the other rows, and is not shown. */
async function balancesAgree(
  asked: RequestFacts,
  result: Values,
  { read }: ReadBackParts,
): Promise<Confirmed | string> {
  const { target, input } = asked;
  const { card_id: cardId, amount } = input;
  const { before, alone, replay } = asked.evidence as Evidence & { readonly before: Balances };
  const after = alone ? await readBalances(read, cardId) : await readCard(read, cardId);
  const moved = { transfer: target.row.transfer ?? 'to-card', amount: amount as Cents };
  if (!transferAgrees(moved, { before, alone, replay }, after)) return 'a later read of the balance does not';
  const balances = {
    card_balance: after.card / 100,
    ...(after.wallet !== undefined && { wallet_balance: after.wallet / 100 }),
  };
  return { result: { ...result, ...balances } };
}

/** A refusal that may have followed the deed. */
export function doubtful({ facts }: CliError): CliError {
  return new CliError('outcome_unknown', { ...facts, message: `${facts.message}${DOUBT}`, outcome: 'unknown' });
}

/** Looks once, and where the service has not finished again and again until it shows or the time is over. */
async function follow(
  verdict: Unverified,
  settling: ReadBackParts,
  look: () => Promise<Values | string>,
): Promise<Values> {
  const { clock, random } = settling;
  const until = clock.monotonic() + (settling.timeoutMs ?? FOLLOW_MS);
  for (;;) {
    const seen = await readOr(verdict.error, look);
    if (typeof seen !== 'string') return seen;
    const wait = stretched(random, POLL_MS, 0.25);
    if (verdict.doubt !== 'pending' || clock.monotonic() + wait > until) throw because(verdict.error, seen);
    await clock.sleep(wait, settling.signal);
  }
}

function confirmState(asked: RequestFacts, verdict: Unverified, settling: ReadBackParts): Promise<Values> {
  const { readBack = '' } = asked.target.row;
  return follow(verdict, settling, async () => {
    const resource = await settling.read(readBack, paramsOf(asked));
    return unshown({ row: asked.target.row, input: asked.input }, resource, undefined) === undefined
      ? resource
      : 'a read does not show it';
  });
}

/** The service said yes; card and wallet tell whether the amount has moved. */
async function confirmTransfer(asked: RequestFacts, verdict: Unverified, settling: ReadBackParts): Promise<Values> {
  const { transfer } = asked.target.row;
  const { doubt, evidence, error, partial } = verdict;
  // What is not of this API, or speaks of another transfer, is no yes.
  if (doubt === 'worthless' || evidence?.before === undefined || transfer === undefined) throw error;
  const { amount, card_id: cardId } = asked.input;
  const moved = { transfer, amount: amount as Cents };
  return follow(verdict, settling, async () => {
    const after = await readBalances(settling.read, cardId);
    const shown = transferShown(moved, evidence, after);
    if (shown === 'unchanged') return 'the balance of the card has not changed';
    if (shown === 'unclear') return 'the balances have changed, but not by this amount';
    const balances = { card_balance: after.card / 100, wallet_balance: after.wallet / 100 };
    return { ...withRequested(asked, partial), card_id: cardId, amount: (amount as Cents) / 100, ...balances };
  });
}

/** What a create has made is read by the id it answered, and compared with what was asked for. */
async function confirmMade(asked: RequestFacts, verdict: Unverified, settling: ReadBackParts): Promise<Values> {
  const { makes } = asked.target.row;
  const { error, evidence, doubt, partial } = verdict;
  const { id } = partial;
  if (makes === undefined || evidence === undefined || doubt === 'worthless' || typeof id !== 'string') throw error;
  const { read, by } = MADE[makes];
  const resource = await readOr(error, () => settling.read(read, { [by]: id }));
  const { by: proof, differences } = proofOf({ row: asked.target.row, input: asked.input }, resource, evidence);
  const [difference] = differences;
  if (proof === 'nothing') throw because(error, difference);
  if (difference !== undefined) throw madeOtherwise(error, { id, difference });
  // A generated secret stands in the answer alone, and that is lost.
  if (makes === 'webhook') throw lost(error, `${id} exists, but its secret is lost`);
  return resource;
}

/** A read that fails says nothing about the write before it: the write's own error stands. */
async function readOr<T>(error: CliError, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (failed) {
    const why = failed instanceof Error ? `reading it back: ${failed.message}` : undefined;
    throw because(error, why).with({ cause: failed });
  }
}

const DOUBT = '. It may or may not have happened';

function because(error: CliError, why: string | undefined): CliError {
  const { message } = error;
  if (why === undefined || message.includes(why)) return error;
  const end = message.endsWith(DOUBT) ? DOUBT : '';
  return error.with({ message: `${message.slice(0, message.length - end.length)}; ${why}${end}` });
}

function madeOtherwise(error: CliError, { id, difference }: { id: string; difference: string }): CliError {
  const made = lost(error, `${id} was made by this operation (it carries our marker), but ${difference}`);
  return made.with({ hint: `cardwright cards get ${shellWord(id)}` });
}

function lost({ facts }: CliError, what: string): CliError {
  return new CliError('contract_mismatch', { ...facts, message: `${facts.operation}: ${what}`, outcome: 'done' });
}
