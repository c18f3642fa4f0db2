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
 * | 429 | look; not there: what may be repeated again, three times in all, behind the pause that the service names (60 s at most); else 7 |
 * | refused | look, but where what was read before explains it, or it leaves no trace; not there: refused; a state that is there: done; else unknown |
 * | anything else | look; not there: what may be repeated again, three times in all; else unknown |
 */
import type { Table } from '../contract/calls.ts';
import {
  balancesIn,
  type Evidence,
  isSubscribed,
  notMadeNow,
  otherThanAnswered,
  proofOf,
  transferAgrees,
  transferShown,
  unshown,
} from '../contract/evidence.ts';
import { MADE } from '../contract/operation.ts';
import { isExplained } from '../contract/refusals.ts';
import type { Answered, Attempt, CallOptions, PlannedRequest } from '../contract/service.ts';
import { READ_LAG_PAUSES } from '../contract/spans.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, centsOf } from '../core/money.ts';
import { isObject } from '../core/objects.ts';
import { rest } from '../platform/time.ts';
import type { Target } from './encode.ts';
import { errorOf } from './errors.ts';
import { backoff, LONGEST_WAIT_MS, type Wait } from './read.ts';
import type { ServiceSettings } from './request.ts';

type Values = Readonly<Record<string, unknown>>;

const MOST_SENT = 3;
/** How long an answer that says "later" is followed. */
const FOLLOW_MS = 75_000;
const POLL_MS = 1_000;

interface DirectWrite {
  readonly target: Target;
  readonly input: Values;
  readonly planned: PlannedRequest;
  readonly options: CallOptions;
  readonly settings: ServiceSettings<Table>;
  readonly attempt: (evidence: Evidence | undefined) => Promise<Attempt>;
  /** Sends a reading operation, also when the run is stopped. */
  readonly read: (operation: string, input: Values) => Promise<Values>;
  /** Nothing begins after it. */
  readonly stop: AbortSignal | undefined;
}

/** What is known of what was sent. */
interface Known {
  readonly evidence: Evidence | undefined;
  /** The id that an answer has named. */
  readonly made?: string | undefined;
  /** An answer that shows the effect. */
  readonly answer?: Values | undefined;
  /** It was put off, so that it may take longer. */
  readonly pending?: boolean | undefined;
}

/** What a look has found. `final`: a later one finds nothing else. */
interface Look {
  readonly found: 'there' | 'not there' | 'cannot tell';
  readonly text?: string;
  readonly result?: Values;
  readonly final?: boolean;
  /** Why the service refused the reading. */
  readonly refusedAs?: CliError['kind'];
}

/** Sends it until its outcome is known, or throws: `outcome_unknown` where it is not. */
export async function directWrite(write: DirectWrite): Promise<Answered<unknown>> {
  const { target, planned, stop, settings } = write;
  const { clock, random, onWait } = settings;
  const { row } = target;
  let evidence = await evidenceBefore(write);
  const movesMoney = row.makes !== undefined || row.transfer !== undefined;
  const wasElse = row.leadsTo === undefined || evidence?.was !== row.leadsTo.value;
  let made: string | undefined;
  let ambiguous: CliError | undefined;
  const counts = { not_sent: 0, throttled: 0, ambiguous: 0 };
  const pausedFor = async (ms: number, because: Wait['because']) => {
    onWait?.({ ms, because, attempt: counts.not_sent + counts.throttled + counts.ambiguous + 1 });
    return rest(ms, clock, stop);
  };
  for (;;) {
    const sent = await write.attempt(evidence);
    ({ evidence = evidence, made = made } = sent);
    const { status = 200, requestId } = sent;
    const { idempotencyKey } = planned;
    if (sent.class === 'done') {
      const isState = row.leadsTo !== undefined || row.removesFrom !== undefined;
      const isRead = isState || row.makes === 'card' || evidence?.before !== undefined;
      const answer = (sent.result ?? {}) as Values;
      const seen: Look = isRead ? await look(write, { evidence, made, answer }) : { found: 'there' };
      if (seen.found !== 'there') throw deniedError(write, sent, seen.text);
      const result = row.transfer === undefined ? sent.result : (seen.result ?? answer);
      return { result, status, requestId, idempotencyKey, changed: wasElse, reread: false };
    }
    if (sent.class !== 'refused') counts[sent.class] += 1;
    if (sent.class === 'not_sent') {
      if (ambiguous !== undefined) throw ambiguous;
      const mayHelp = sent.error?.kind === 'unreachable' && counts.not_sent < MOST_SENT && !stop?.aborted;
      if (mayHelp && (await pausedFor(backoff(100, counts.not_sent - 1, random), 'network'))) continue;
      throw stoppedBy(stop) ?? sent.error;
    }
    const isPlain = sent.class === 'refused' && ambiguous === undefined && sent.plausible !== true;
    // What was not listed before is not deleted by it.
    const isGone = row.removesFrom !== undefined && sent.refusal === 'not_found' && evidence?.was === UNLISTED;
    const before = { wallet: evidence?.wallet, ...evidence?.before, status: evidence?.was };
    const isExpected = !wasElse || isGone || isExplained(sent.refusal, row, Number(write.input['amount']), before);
    if (isPlain && isExpected) throw sent.error;
    let mayRepeat = row.repeat === 'freely' && sent.class !== 'refused' && counts[sent.class] < MOST_SENT;
    if (sent.class === 'throttled' && mayRepeat) {
      const pause = Math.max(sent.retryAfterMs ?? 0, backoff(POLL_MS, counts.throttled - 1, random));
      mayRepeat = pause <= LONGEST_WAIT_MS && (await pausedFor(pause, 'throttled'));
    }
    const seen = await look(write, { evidence, made, pending: sent.pending });
    // Words of failure are not denied by a state that was there before.
    const isDenied =
      sent.class === 'ambiguous' && sent.result === undefined && sent.status !== undefined && status < 300;
    const isOfOthers = isPlain
      ? row.leadsTo === undefined && (row.removesFrom === undefined || sent.refusal !== 'not_found')
      : isDenied && (!wasElse || row.removesFrom !== undefined);
    if (seen.found === 'there' && !isOfOthers) {
      // "Already frozen": nothing came of this very request.
      const isOurs = isPlain || ambiguous !== undefined || status < 400 || status >= 500 || status === 429;
      return { result: seen.result, status, requestId, idempotencyKey, changed: wasElse && isOurs, reread: true };
    }
    if (sent.class === 'ambiguous') {
      ambiguous ??= unknownError(write, sent, seen.text);
      const isBroken = sent.status === undefined || status >= 500;
      if (!mayRepeat || !isBroken || seen.final) throw ambiguous;
      if (!(await pausedFor(backoff(100, counts.ambiguous - 1, random), 'network'))) throw ambiguous;
      continue;
    }
    // Of a request that leaves no trace nobody knows more than the service says.
    const isAgreed = isPlain && seen.refusedAs !== undefined && seen.refusedAs === sent.error?.kind;
    const isUntraced = seen.text === NO_TRACE && (isPlain || !movesMoney);
    const isBelieved = seen.found === 'not there' || isAgreed || isUntraced;
    if (ambiguous !== undefined || !isBelieved) throw ambiguous ?? unknownError(write, sent, seen.text);
    if (!mayRepeat) throw sent.error;
  }
}

/**
 * What the effect is judged by. Throws as reading does, and nothing was sent then; but for a card that is not there: the
 * write's own answer counts.
 */
async function evidenceBefore(write: DirectWrite): Promise<Evidence | undefined> {
  const { target, input, options, settings, read } = write;
  const { row, name } = target;
  const evidence = { alone: true, plannedAt: settings.clock.now() };
  if (row.makes === 'webhook') await refuseSubscribed(write);
  if (row.removesFrom !== undefined) {
    const seen = await lookOnce(write, { evidence }).catch(unread);
    return { ...evidence, ...(seen.found === 'there' && { was: UNLISTED }) };
  }
  // Without balances from before there is only the answer to believe.
  if (row.transfer !== undefined && options.readsBalancesBefore !== true) return undefined;
  try {
    if (row.leadsTo !== undefined) {
      const { [row.leadsTo.field]: was } = await read(row.readBack ?? '', paramsOf(target, input));
      return { ...evidence, was: typeof was === 'string' ? was : undefined };
    }
    if (row.transfer !== undefined) return { ...evidence, before: await balancesNow(write) };
    if (row.makes !== 'card' || options.readsBalancesBefore !== true) return evidence;
    return { ...evidence, wallet: money((await read('wallet.get', {}))['balance']) };
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    // A state that cannot be read is no reason not to set it, but for a key that is not accepted.
    const isNoReason = row.leadsTo !== undefined && thrown.facts.httpStatus !== 401;
    if (isNoReason || thrown.kind === 'not_found') return evidence;
    throw thrown.with({ message: `${name} was not sent: ${thrown.message}`, outcome: 'not_sent' });
  }
}

/** What is to be deleted was not listed before. */
const UNLISTED = 'unlisted';

/** Two subscriptions of one endpoint deliver each event twice. Throws `guarded` where an earlier command has made such a one. */
async function refuseSubscribed({ target, input, read }: DirectWrite): Promise<void> {
  const { data } = await read('webhooks.list', {});
  const there = (Array.isArray(data) ? data : []).find(each => isObject(each) && isSubscribed(each, input));
  if (!isObject(there)) return;
  throw new CliError('guarded', {
    message: `${there['id']} has this address and these events already, so each event would come twice. Nothing was sent`,
    reason: 'subscribed',
    notes: [`Its secret is shown once, when it is made. For another one: cardwright webhooks delete ${there['id']}`],
    hint: `cardwright webhooks get ${there['id']}`,
    operation: target.name,
    outcome: 'not_sent',
  });
}

/** The parameters of the path, by which the resource is read. */
function paramsOf({ row }: Target, input: Values): Values {
  return Object.fromEntries(Object.keys(row.params ?? {}).map(name => [name, input[name]]));
}

async function balancesNow({ read, input }: DirectWrite) {
  const [card, wallet] = await Promise.all([read('cards.get', { card_id: input['card_id'] }), read('wallet.get', {})]);
  const balances = balancesIn(card['balance'], wallet['balance']);
  if (balances !== undefined) return balances;
  throw new CliError('contract_mismatch', { message: 'the balance of the card or of the wallet is not an amount' });
}

function money(value: unknown): Cents {
  const amount = typeof value === 'number' ? centsOf(value) : undefined;
  if (amount !== undefined) return amount;
  throw new CliError('contract_mismatch', { message: 'the balance of the wallet is not an amount' });
}

/** Looks until the effect is there, or for 8 seconds; longer for what was put off. What cannot be read cannot be told. */
async function look(write: DirectWrite, known: Known): Promise<Look> {
  const { settings, options, stop } = write;
  const { clock, mode, timeoutMs = FOLLOW_MS } = settings;
  const until = clock.monotonic() + timeoutMs;
  // Readings of a sandbox are never behind.
  const pauses = mode === 'sandbox' ? [] : [...READ_LAG_PAUSES];
  for (;;) {
    const seen = await lookOnce(write, known).catch(unread);
    const pause = known.pending && clock.monotonic() + POLL_MS <= until ? POLL_MS : pauses.shift();
    if (seen.found === 'there' || seen.final || pause === undefined) return seen;
    if (!(await rest(pause, clock, options.signal ?? stop))) return { ...seen, found: 'cannot tell' };
  }
}

function unread(failed: unknown): Look {
  if (!(failed instanceof CliError) || failed.kind === 'internal' || failed.facts.outcome === 'done') throw failed;
  const final = failed.kind === 'not_found' || failed.kind === 'not_authenticated';
  return {
    found: 'cannot tell',
    text: `reading it back: ${failed.message}`,
    final,
    ...(final && { refusedAs: failed.kind }),
  };
}

const NO_TRACE = 'there is no trace to look for';

async function lookOnce(write: DirectWrite, { evidence, made, answer }: Known): Promise<Look> {
  const { target, input, read } = write;
  const { row, name } = target;
  if (row.removesFrom !== undefined) {
    const { id } = row.removesFrom;
    const { data, page } = await read(row.removesFrom.list, {});
    const total = isObject(page) ? page['total'] : undefined;
    // Of several pages the first says nothing but that an answer is not denied.
    const isCut = answer === undefined && Array.isArray(data) && typeof total === 'number' && total > data.length;
    const isListed = isCut || !Array.isArray(data) || data.some(each => isObject(each) && each['id'] === input[id]);
    return isListed ? { found: 'not there', text: 'it is still listed' } : { found: 'there', result: {} };
  }
  if (row.readBack !== undefined) {
    const resource = await read(row.readBack, paramsOf(target, input));
    if (unshown({ row, input }, resource, undefined) === undefined) return { found: 'there', result: resource };
    // Termination is permanent (§3): whatever was asked of a terminated card has not happened.
    const final = row.leadsTo !== undefined && resource['status'] === 'terminated';
    return { found: 'not there', text: 'a read does not show it', final };
  }
  if (row.transfer !== undefined && evidence?.before !== undefined) {
    const after = await balancesNow(write);
    const moved = { transfer: row.transfer, amount: input['amount'] as Cents };
    const shown = transferShown(moved, evidence, after);
    if (shown === 'unchanged') return { found: 'not there', text: 'the balance of the card has not changed' };
    const wanted = row.transfer === 'to-card' ? -moved.amount : moved.amount;
    const isOfWallet = after.wallet - (evidence.before.wallet ?? after.wallet) === wanted;
    // Of a fund that its answer shows, some may be spent by now.
    const isShown = answer === undefined ? shown === 'shown' : transferAgrees(moved, evidence, after);
    if (!isShown || !isOfWallet) {
      return { found: 'cannot tell', text: 'the balances have changed, but not by this amount' };
    }
    const balances = { card_balance: after.card / 100, wallet_balance: after.wallet / 100 };
    return {
      found: 'there',
      result: { card_id: input['card_id'], amount: moved.amount / 100, ...answer, ...balances },
    };
  }
  if (row.makes === undefined || evidence === undefined) return { found: 'cannot tell', text: NO_TRACE, final: true };
  if (made !== undefined) return lookForMade(write, made, evidence, answer);
  if (row.makes === 'webhook') {
    const { data } = await read('webhooks.list', {});
    const isOurs = (each: unknown) => isObject(each) && proofOf({ row, input }, each, evidence).by === 'fields';
    return !Array.isArray(data) || data.some(isOurs)
      ? { found: 'cannot tell', text: 'such a subscription is there', final: true }
      : { found: 'not there', text: 'no such subscription is listed' };
  }
  if (evidence.wallet === undefined) return { found: 'cannot tell', text: NO_TRACE, final: true };
  return money((await read('wallet.get', {}))['balance']) === evidence.wallet
    ? { found: 'not there', text: `the wallet has not changed since before ${name}` }
    : { found: 'cannot tell', text: 'the wallet has changed' };
}

/** What a create has made is read by the id that was answered. Throws where it was made, and its secret is lost. */
async function lookForMade(
  { target, input, read }: DirectWrite,
  id: string,
  evidence: Evidence,
  answer: Values | undefined,
): Promise<Look> {
  const { row, name } = target;
  const { read: operation, by } = MADE[row.makes ?? 'card'];
  // A replica may not have it yet.
  const resource = await read(operation, { [by]: id }).catch((failed: unknown) => {
    if (failed instanceof CliError && failed.kind === 'not_found') return undefined;
    throw failed;
  });
  if (resource === undefined) return { found: 'cannot tell', text: `a read finds no ${row.makes} ${id}` };
  const other =
    answer === undefined
      ? proofOf({ row, input }, resource, evidence).differences[0]
      : (notMadeNow(resource, evidence) ?? otherThanAnswered(resource, answer));
  if (other !== undefined)
    return { found: 'cannot tell', text: `a read of ${id} shows another: ${other}`, final: true };
  if (row.makes !== 'webhook') return { found: 'there', result: resource };
  // A generated secret stands in the answer alone.
  const message = `${name}: ${id} exists, but its secret is lost`;
  throw new CliError('contract_mismatch', { message, operation: name, outcome: 'done' });
}

/** The error of an answer that is not believed, with what the look has found. */
function unknownError(write: DirectWrite, { error, status }: Attempt, why: string | undefined): CliError {
  const { message = '', service } = error?.facts ?? {};
  const unknown =
    error?.kind === 'outcome_unknown'
      ? error
      : errorOf({ class: 'ambiguous', kind: 'outcome_unknown', why: message, status, service }, requestOf(write));
  return why === undefined || why === NO_TRACE ? unknown : unknown.with({ message: `${unknown.message}: ${why}` });
}

function deniedError(write: DirectWrite, { status, requestId }: Attempt, text: string | undefined): CliError {
  const why = `the answer shows the effect, but ${text}`;
  const service = requestId === undefined ? undefined : { request_id: requestId };
  return errorOf({ class: 'ambiguous', kind: 'outcome_unknown', why, status, service }, requestOf(write));
}

const requestOf = ({ target, input, planned: { idempotencyKey } }: DirectWrite) => ({ target, input, idempotencyKey });

/** The reason of a stop that came before anything was sent. */
function stoppedBy(stop: AbortSignal | undefined): CliError | undefined {
  const reason: unknown = stop?.reason;
  return stop?.aborted && reason instanceof CliError ? reason.with({ outcome: 'not_sent' }) : undefined;
}
