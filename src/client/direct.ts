/**
 * A write that no journal keeps: a state, a subscription, a request in the caller's own words, a program's call without a
 * journal. It ends in its result or in an error that says what is known. Only what may be repeated freely, a state or a deletion, is
 * sent again when bytes may have left; what moves money or makes something is sent once, and `journal/outcome.ts` alone sends such
 * a change again.
 *
 * | the answer | then |
 * |---|---|
 * | shows the effect | read: agrees, done; else looked at again for 8 s; else unknown (11) |
 * | no byte left | again, three times in all |
 * | 429 | look; not there: what may be repeated again, three times in all, behind the pause that is told (60 s at most); else 7 |
 * | refused | refused; in a word that is not known, or behind an ambiguous answer: look first |
 * | anything else | look; not there: what may be repeated again, three times in all; else unknown |
 */
import {
  balancesIn,
  type Evidence,
  notMadeNow,
  otherThanAnswered,
  proofOf,
  sameUrl,
  transferAgrees,
  transferShown,
  unshown,
} from '../contract/evidence.ts';
import { MADE } from '../contract/operation.ts';
import type { Answered, Attempt, CallOptions, PlannedRequest } from '../contract/service.ts';
import { READ_LAG_PAUSES } from '../contract/spans.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, centsOf } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { shellWord } from '../core/shell-quote.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import type { Target } from './encode.ts';
import { errorOf } from './errors.ts';
import { backoff, LONGEST_WAIT_MS, rest, type Wait } from './read.ts';
import { classifyUnusable } from './request.ts';

type Values = Readonly<Record<string, unknown>>;

const MOST_SENT = 3;
/** How long an answer that says "later" is followed. */
const FOLLOW_MS = 75_000;
const POLL_MS = 1_000;

export interface DirectWrite {
  readonly target: Target;
  readonly input: Values;
  readonly planned: PlannedRequest;
  readonly options: CallOptions;
  readonly attempt: (evidence: Evidence | undefined) => Promise<Attempt>;
  /** Sends a reading operation, also when the run is stopped. */
  readonly read: (operation: string, input: Values) => Promise<Values>;
  readonly clock: Clock;
  readonly random: Randomness;
  /** Most time of one request, where the user has said it, ms. */
  readonly timeoutMs: number | undefined;
  /** Readings are never behind: the built-in sandbox. */
  readonly exact: boolean;
  /** Nothing begins after it. */
  readonly stop: AbortSignal | undefined;
  readonly onWait: ((wait: Wait) => void) | undefined;
}

/** What a look has found. `final`: a later one finds nothing else. */
interface Look {
  readonly found: 'there' | 'not there' | 'cannot tell';
  readonly text?: string;
  readonly result?: Values;
  readonly final?: true;
}

/** Sends it until its outcome is known, or throws: `outcome_unknown` where it is not. */
export async function directWrite(write: DirectWrite): Promise<Answered<unknown>> {
  const { target, planned, clock, random, stop } = write;
  const { row } = target;
  let evidence = await evidenceBefore(write);
  const movesMoney = row.makes !== undefined || row.transfer !== undefined;
  const changed = row.leadsTo === undefined || evidence?.was !== row.leadsTo.value;
  let made: string | undefined;
  let ambiguous: CliError | undefined;
  let [unsent, repeated, throttled] = [0, 0, 0];
  const pausedFor = async (ms: number, because: Wait['because'], attempt: number) => {
    write.onWait?.({ ms, because, attempt });
    return rest(ms, clock, stop);
  };
  for (let attempts = 1; ; attempts += 1) {
    const sent = await write.attempt(evidence);
    ({ evidence = evidence, made = made } = sent);
    const { status = 200, requestId } = sent;
    const answered = (result: unknown, reread: boolean, isChange = changed): Answered<unknown> => {
      const told = reread && sent.status === undefined ? 200 : status;
      return { result, status: told, requestId, idempotencyKey: planned.idempotencyKey, changed: isChange, reread };
    };
    const lookFor = (pending = false) => look(write, { evidence, made, pending });
    switch (sent.class) {
      case 'done': {
        const { why, result } = await confirmed(write, sent, evidence);
        if (why === undefined) return answered(result, false);
        throw deniedError(write, sent, why);
      }
      case 'not_sent': {
        if (ambiguous !== undefined) throw ambiguous;
        unsent += 1;
        const mayHelp = sent.error?.kind === 'unreachable' && unsent < MOST_SENT && !stop?.aborted;
        if (mayHelp && (await pausedFor(backoff(100, unsent - 1, random), 'network', attempts + 1))) continue;
        throw stoppedBy(stop) ?? sent.error;
      }
      case 'refused': {
        if (ambiguous === undefined && sent.plausible !== true) throw sent.error;
        const seen = await lookFor();
        if (seen.found === 'there') return answered(seen.result, true, changed && ambiguous !== undefined);
        // Of a request that leaves no trace nobody knows more than the service says.
        const isBelieved = seen.found === 'not there' || (seen.text === NO_TRACE && !movesMoney);
        if (ambiguous === undefined && isBelieved) throw sent.error;
        throw ambiguous ?? unknownError(write, sent, seen.text);
      }
      case 'throttled': {
        throttled += 1;
        const pause = Math.max(sent.retryAfterMs ?? 0, backoff(POLL_MS, throttled - 1, random));
        const mayWait = row.repeat === 'freely' && throttled < MOST_SENT && pause <= LONGEST_WAIT_MS;
        const isOver = !mayWait || !(await pausedFor(pause, 'throttled', attempts + 1));
        const seen = await lookFor();
        if (seen.found === 'there') return answered(seen.result, true);
        // Of a request that leaves no trace nobody knows more than the service says.
        const isBelieved = seen.found === 'not there' || (seen.text === NO_TRACE && !movesMoney);
        if (ambiguous !== undefined || !isBelieved) throw ambiguous ?? unknownError(write, sent, seen.text);
        if (isOver) throw sent.error;
        continue;
      }
      case 'ambiguous': {
        const seen = await lookFor(sent.pending);
        const isSuccess = sent.status !== undefined && sent.status < 300;
        // Words of failure are not denied by a state that was there before.
        const mayHaveBeen = isSuccess && sent.result === undefined && (!changed || row.removesFrom !== undefined);
        // "Already frozen": nothing came of this very request.
        const saysNo = sent.status !== undefined && sent.status >= 400 && sent.status < 500;
        if (seen.found === 'there' && !mayHaveBeen) return answered(seen.result, true, changed && !saysNo);
        ambiguous ??= unknownError(write, sent, seen.text);
        const isBroken = sent.status === undefined || sent.status >= 500;
        repeated += 1;
        if (row.repeat !== 'freely' || !isBroken || seen.final || repeated === MOST_SENT) throw ambiguous;
        if (!(await pausedFor(backoff(100, repeated - 1, random), 'network', attempts + 1))) throw ambiguous;
      }
    }
  }
}

/**
 * What the effect is judged by. Throws as reading does, and nothing was sent then; but for a card that is not there: the
 * write's own answer counts.
 */
async function evidenceBefore(write: DirectWrite): Promise<Evidence | undefined> {
  const { target, input, options, clock, read } = write;
  const { row, name } = target;
  const evidence = { alone: true, plannedAt: clock.now() };
  // Without balances from before there is only the answer to believe.
  if (row.transfer !== undefined && options.readsBalancesBefore !== true) return undefined;
  try {
    if (row.leadsTo !== undefined) return { ...evidence, was: await stateBefore(write) };
    if (row.transfer !== undefined) return { ...evidence, before: await balancesNow(read, input['card_id']) };
    if (row.makes !== 'card' || options.readsBalancesBefore !== true) return evidence;
    return { ...evidence, wallet: money((await read('wallet.get', {}))['balance']) };
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    if (thrown.kind === 'not_found') return evidence;
    throw thrown.with({ message: `${name} was not sent: ${thrown.message}`, outcome: 'not_sent' });
  }
}

/** Undefined when it cannot be read. Throws where the key is not accepted: the change would not be either. */
async function stateBefore({ target, input, read }: DirectWrite): Promise<string | undefined> {
  const { readBack = '', leadsTo } = target.row;
  try {
    const { [leadsTo?.field ?? '']: was } = await read(readBack, paramsOf(target, input));
    return typeof was === 'string' ? was : undefined;
  } catch (failed) {
    if (!(failed instanceof CliError) || failed.facts.httpStatus === 401) throw failed;
    return undefined;
  }
}

/** The parameters of the path, by which the resource is read. */
function paramsOf({ row }: Target, input: Values): Values {
  return Object.fromEntries(Object.keys(row.params ?? {}).map(name => [name, input[name]]));
}

async function balancesNow(read: DirectWrite['read'], cardId: unknown) {
  const [card, wallet] = await Promise.all([read('cards.get', { card_id: cardId }), read('wallet.get', {})]);
  const balances = balancesIn(card['balance'], wallet['balance']);
  if (balances !== undefined) return balances;
  throw new CliError('contract_mismatch', { message: 'the balance of the card or of the wallet is not an amount' });
}

function money(value: unknown): Cents {
  const amount = typeof value === 'number' ? centsOf(value) : undefined;
  if (amount !== undefined) return amount;
  throw new CliError('contract_mismatch', { message: 'the balance of the wallet is not an amount' });
}

/** The result of an answer that shows its effect, once a reading agrees; else why none does. A replica may lag behind. */
async function confirmed(
  write: DirectWrite,
  { result }: Attempt,
  evidence: Evidence | undefined,
): Promise<{ readonly why?: string; readonly result?: unknown }> {
  const pauses = write.exact ? [] : READ_LAG_PAUSES;
  for (const pause of [...pauses, undefined]) {
    const seen = await agreeing(write, (result ?? {}) as Values, evidence).catch((failed: unknown) => {
      if (!(failed instanceof CliError)) throw failed;
      return { why: `reading it back: ${failed.message}`, final: failed.kind !== 'rate_limited' };
    });
    if (!('why' in seen)) return { result: seen.result ?? result };
    if (seen.final || pause === undefined || !(await rest(pause, write.clock, write.options.signal))) return seen;
  }
  throw new RangeError('a look has an end');
}

interface Denied {
  readonly why: string;
  readonly final?: boolean;
}

async function agreeing(
  { target, input, read }: DirectWrite,
  answer: Values,
  evidence: Evidence | undefined,
): Promise<Denied | { readonly result?: Values }> {
  const { row } = target;
  if (evidence === undefined) return {};
  if (row.leadsTo !== undefined) {
    const resource = await read(row.readBack ?? '', paramsOf(target, input));
    return unshown({ row, input }, resource, undefined) === undefined ? {} : { why: 'a read of the card does not' };
  }
  if (row.makes === 'card') {
    const card = await found(read(MADE.card.read, { [MADE.card.by]: answer['id'] }));
    if (card === undefined) return { why: `a read finds no card ${String(answer['id'])}` };
    const other = notMadeNow(card, evidence) ?? otherThanAnswered(card, answer);
    return other === undefined ? {} : { why: `a read of its id shows another card: ${other}`, final: true };
  }
  if (row.transfer === undefined || evidence.before === undefined) return {};
  const after = await balancesNow(read, input['card_id']);
  const moved = { transfer: row.transfer, amount: input['amount'] as Cents };
  const wanted = row.transfer === 'to-card' ? moved.amount : -moved.amount;
  const isSpent = after.card - evidence.before.card !== wanted;
  const isOfWallet = after.wallet - (evidence.before.wallet ?? after.wallet) === -wanted;
  if (!transferAgrees(moved, evidence, after) || !isOfWallet) return { why: 'a later read of the balances does not' };
  const balances = { card_balance: after.card / 100, wallet_balance: after.wallet / 100 };
  return { result: { ...answer, ...(isSpent ? { card_balance: balances.card_balance } : balances) } };
}

/** A replica may not have it yet. */
function found(reading: Promise<Values>): Promise<Values | undefined> {
  return reading.catch((failed: unknown) => {
    if (failed instanceof CliError && failed.kind === 'not_found') return undefined;
    throw failed;
  });
}

interface LookFor {
  readonly evidence: Evidence | undefined;
  /** The id that an answer has named. */
  readonly made: string | undefined;
  /** It was put off, so that it may take longer. */
  readonly pending: boolean;
}

/** Looks until the effect is there, or for 8 seconds; longer for what was put off. What cannot be read cannot be told. */
async function look(write: DirectWrite, lookFor: LookFor): Promise<Look> {
  const { clock, exact, timeoutMs = FOLLOW_MS, options } = write;
  const until = clock.monotonic() + timeoutMs;
  const pauses = exact ? [] : [...READ_LAG_PAUSES];
  for (;;) {
    const seen = await lookOnce(write, lookFor).catch((failed: unknown): Look => {
      if (!(failed instanceof CliError) || failed.kind === 'internal' || failed.facts.outcome === 'done') throw failed;
      return {
        found: 'cannot tell',
        text: `reading it back: ${failed.message}`,
        ...(isFinal(failed) && { final: true }),
      };
    });
    const pause = lookFor.pending && clock.monotonic() + POLL_MS <= until ? POLL_MS : pauses.shift();
    if (seen.found === 'there' || seen.final || pause === undefined) return seen;
    if (!(await rest(pause, clock, options.signal ?? write.stop))) return { ...seen, found: 'cannot tell' };
  }
}

const isFinal = ({ kind }: CliError) => kind === 'not_authenticated' || kind === 'not_found';

const NO_TRACE = 'there is no trace to look for';

async function lookOnce({ target, input, read }: DirectWrite, { evidence, made }: LookFor): Promise<Look> {
  const { row, name } = target;
  if (row.removesFrom !== undefined) {
    const { data, page } = await read(row.removesFrom.list, {});
    const total = isObject(page) ? page['total'] : undefined;
    const isWhole = Array.isArray(data) && !(typeof total === 'number' && total > data.length);
    const isListed = !isWhole || data.some(each => isObject(each) && each['id'] === input[row.removesFrom?.id ?? '']);
    return isListed ? { found: 'not there', text: 'it is still listed' } : { found: 'there', result: {} };
  }
  if (row.readBack !== undefined) {
    const resource = await read(row.readBack, paramsOf(target, input));
    if (unshown({ row, input }, resource, undefined) === undefined) return { found: 'there', result: resource };
    // Termination is permanent (§3): whatever was asked of a terminated card has not happened.
    const isOver = row.leadsTo !== undefined && resource['status'] === 'terminated';
    return { found: 'not there', text: 'a read does not show it', ...(isOver && { final: true }) };
  }
  if (row.transfer !== undefined && evidence?.before !== undefined) {
    const after = await balancesNow(read, input['card_id']);
    const amount = input['amount'] as Cents;
    const shown = transferShown({ transfer: row.transfer, amount }, evidence, after);
    if (shown === 'unchanged') return { found: 'not there', text: 'the balance of the card has not changed' };
    const wanted = row.transfer === 'to-card' ? -amount : amount;
    const isOfWallet = after.wallet - (evidence.before.wallet ?? after.wallet) === wanted;
    if (shown === 'unclear' || !isOfWallet) {
      return { found: 'cannot tell', text: 'the balances have changed, but not by this amount' };
    }
    const balances = { card_balance: after.card / 100, wallet_balance: after.wallet / 100 };
    return { found: 'there', result: { card_id: input['card_id'], amount: amount / 100, ...balances } };
  }
  if (row.makes === undefined || evidence === undefined) return { found: 'cannot tell', text: NO_TRACE, final: true };
  if (made !== undefined) return lookForMade({ target, input, read }, made, evidence);
  if (row.makes === 'webhook') {
    const { data } = await read('webhooks.list', {});
    const isThere = !Array.isArray(data) || data.some(each => isObject(each) && sameUrl(each['url'], input['url']));
    return isThere
      ? { found: 'cannot tell', text: 'a subscription to this address is there', final: true }
      : { found: 'not there', text: 'no subscription to this address is listed' };
  }
  if (evidence.wallet === undefined) return { found: 'cannot tell', text: NO_TRACE, final: true };
  const isUnspent = money((await read('wallet.get', {}))['balance']) === evidence.wallet;
  return isUnspent
    ? { found: 'not there', text: `the wallet has not changed since before ${name}` }
    : { found: 'cannot tell', text: 'the wallet has changed' };
}

/** What a create has made is read by the id that was answered. Throws where it was made, and not as it was asked for. */
async function lookForMade(
  { target, input, read }: Pick<DirectWrite, 'target' | 'input' | 'read'>,
  id: string,
  evidence: Evidence,
): Promise<Look> {
  const { row, name } = target;
  const { read: operation, by } = MADE[row.makes ?? 'card'];
  const resource = await found(read(operation, { [by]: id }));
  if (resource === undefined) return { found: 'cannot tell', text: `a read finds no ${row.makes} ${id}` };
  const { by: proof, differences } = proofOf({ row, input }, resource, evidence);
  const [difference] = differences;
  if (proof === 'nothing')
    return { found: 'cannot tell', ...(difference !== undefined && { text: difference }), final: true };
  // A generated secret stands in the answer alone, and that is lost.
  const lost = row.makes === 'webhook' ? `${id} exists, but its secret is lost` : undefined;
  const otherwise = difference && `${id} was made by this operation (it carries our marker), but ${difference}`;
  const what = otherwise ?? lost;
  if (what === undefined) return { found: 'there', result: resource };
  const hint = row.makes === 'card' ? { hint: `cardwright cards get ${shellWord(id)}` } : {};
  throw new CliError('contract_mismatch', { message: `${name}: ${what}`, operation: name, outcome: 'done', ...hint });
}

/** The error of an answer that is not believed, with what the look has found. */
function unknownError({ target, input, planned }: DirectWrite, { error, status }: Attempt, why?: string): CliError {
  const { message = '', service, hint } = error?.facts ?? {};
  if (error?.kind === 'outcome_unknown') return why === undefined ? error : withReason(error, why);
  const facts = { target, input, status, service, idempotencyKey: planned.idempotencyKey, why: message };
  const unknown = errorOf(classifyUnusable(target.row, false), facts);
  return withReason(hint === undefined ? unknown : unknown.with({ hint: unknown.facts.hint ?? hint }), why);
}

const DOUBT = '. It may or may not have happened';

function withReason(error: CliError, why: string | undefined): CliError {
  const { message } = error;
  if (why === undefined || why === NO_TRACE || message.includes(why)) return error;
  const end = message.endsWith(DOUBT) ? DOUBT : '';
  return error.with({ message: `${message.slice(0, message.length - end.length)}; ${why}${end}` });
}

function deniedError({ target, input, planned }: DirectWrite, sent: Attempt, why: string): CliError {
  const { status, requestId, made } = sent;
  const error = errorOf(classifyUnusable(target.row, false), {
    target,
    input,
    status,
    why: `the answer shows the effect, but ${why}`,
    idempotencyKey: planned.idempotencyKey,
    ...(requestId !== undefined && { service: { request_id: requestId } }),
  });
  return error.with({ evidence: { answer_shows_it: true, ...(made !== undefined && { answered_card: made }) } });
}

/** The reason of a stop that came before anything was sent. */
function stoppedBy(stop: AbortSignal | undefined): CliError | undefined {
  const reason: unknown = stop?.reason;
  return stop?.aborted && reason instanceof CliError ? reason.with({ outcome: 'not_sent' }) : undefined;
}
