/**
 * Finds out what the idempotency key is worth, by using one twice (docs/design/reliability.md, section 4). Writes and
 * cleans up.
 */
import type { WriteName } from '../contract/calls.ts';
import type { Attempt, PlannedRequest, Reader, Service } from '../contract/service.ts';
import { MINUTE } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import { type Cents, cents, toCents } from '../core/money.ts';
import type { Clock } from '../platform/host.ts';
import { failedReading } from './look.ts';
import { MARKER_KEY, markerOf } from './names.ts';
import type { AroundWrite, PlannedRow, Probed } from './types.ts';
import { createMarkerIndex } from './work.ts';

type Values = Readonly<Record<string, unknown>>;

export interface Probing {
  readonly service: Service;
  readonly reader: Reader;
  /** A card is issued from it. */
  readonly binId: string;
  /** Random text for keys, marker and label. */
  readonly token: string;
  readonly clock: Clock;
  /** Ends the waiting; what was made is terminated all the same. */
  readonly stop: AbortSignal;
  /** How long to wait before the last look, ms: an effect may show late. */
  readonly quietPeriodMs: number;
  readonly around: AroundWrite;
}

type Move = 'cards.fund' | 'cards.withdraw';

const DOLLAR: Cents = cents(100);
const MOVED: Readonly<Record<Move, Cents>> = { 'cards.fund': DOLLAR, 'cards.withdraw': cents(50) };
const MOVES: readonly Move[] = ['cards.fund', 'cards.withdraw'];

/** What a probe sends at most to a service that ignores keys: both cards, and each of them ended. */
export function probeRows(binId: string, token: string): readonly PlannedRow[] {
  const create = { operation: 'cards.create', input: createInput(binId, token), amount: DOLLAR } as const;
  const moves = MOVES.flatMap(operation => {
    const amount = MOVED[operation];
    const row = { operation, input: { card_id: NEW_CARD, amount }, amount };
    return [row, row];
  });
  const end = { operation: 'cards.terminate', input: { card_id: NEW_CARD } } as const;
  return [create, create, ...moves, end, end].map((row, index) => ({ row: index + 1, ...row }));
}

/** Stands for the id of the card that is not made yet. */
const NEW_CARD = 'NEW_CARD';

/** The requests of a probe of a service that honours keys, as they would be sent. */
export function probeRequests(service: Service, binId: string, token: string): readonly PlannedRequest[] {
  const rows = probeRows(binId, token).slice(0, -1);
  return rows.map(({ operation, input }) => service.plan(operation, input as never, { key: keyOf(token, operation) }));
}

/**
 * Creates a $1.00 card, funds and withdraws; a minute later sends the same again under the same keys, and terminates what it made.
 * Throws the service's refusal when the first use of a key is not answered with a success; what was made until then is terminated all
 * the same. A card is touched only when it carries the marker or the label of this probe.
 */
export async function probeKeys(probing: Probing): Promise<readonly Probed[]> {
  const made = new Set<string>();
  try {
    return await usedTwice(probing, made);
  } finally {
    // It may have been made whatever was answered, and a second one by the second request.
    await seen(() => marked(probing, made));
    await endAll(probing, made);
  }
}

/** A first use of a key that was answered with a success; `at` is when, by the clock of this process, ms. */
interface Used {
  readonly operation: WriteName;
  readonly input: Values;
  readonly first: Attempt;
  readonly at: number;
}

async function usedTwice(probing: Probing, made: Set<string>): Promise<readonly Probed[]> {
  const { binId, token, clock, quietPeriodMs, stop, reader } = probing;
  const uses: Used[] = [];
  const useFirst = async (operation: WriteName, input: Values) => {
    uses.push({ operation, input, first: await first(probing, operation, input), at: clock.monotonic() });
  };
  await useFirst('cards.create', createInput(binId, token));
  const card = String((uses[0]?.first.result as Values | undefined)?.['id']);
  const shown = await seen(() => marked(probing, made));
  if (shown !== 1 || !made.has(card)) {
    const why = typeof shown === 'string' ? `the marker could not be looked for: ${shown}` : NOT_LISTED;
    const text = `${why}; card ${card} of the answer is not touched`;
    return (['cards.create', ...MOVES] as const).map(operation => ({
      operation,
      text,
      capability: { key: 'unknown' },
    }));
  }
  const before = await seen(() => balanceOf(reader, card));
  for (const operation of MOVES) await useFirst(operation, { card_id: card, amount: MOVED[operation] });
  const once = await seen(() => balanceOf(reader, card));
  const wait = Math.min(PROVED_MS, quietPeriodMs) - (clock.monotonic() - (uses.at(-1)?.at ?? 0));
  if (wait > 0) await clock.sleep(wait, stop);
  const twice: (Used & { readonly second: Attempt; readonly proved: number })[] = [];
  for (const each of uses) {
    const proved = clock.monotonic() - each.at;
    twice.push({ ...each, proved, second: await use(probing, each.operation, each.input) });
  }
  // Whoever learns from half of it sends money twice: what shows late has shown by then.
  if (quietPeriodMs > 0) await clock.sleep(quietPeriodMs, stop);
  const cards = await seen(() => marked(probing, made));
  const balance = await seen(() => balanceOf(reader, card));
  return twice.map(({ operation, first, second, proved }) => {
    const isCreate = operation === 'cards.create';
    const effects = isCreate ? cards : effectsOf(operation as Move, { before, once, balance });
    const why = notHonoured(first, second, effects, isCreate ? ['id'] : ['card_balance', 'wallet_balance']);
    const at = clock.now();
    if (effects === 2)
      return { operation, text: 'one key used twice: 2 effects', capability: { key: 'ignored', at } } as const;
    if (why !== undefined) return { operation, text: why, capability: { key: 'unknown' } } as const;
    const text = 'one key used twice: 1 effect, and the second answer repeats the first';
    return { operation, text, capability: { key: 'honoured', ttl_ms: null, proved_ms: proved, at } } as const;
  });
}

/**
 * `honoured` takes a second success with the result of the first, and one effect by reading: a service that refuses, throttles or
 * loses the second request has not shown it. `shown` tells one effect from another in an answer.
 */
function notHonoured(
  first: Attempt,
  second: Attempt,
  effects: number | string,
  shown: readonly string[],
): string | undefined {
  if (typeof effects === 'string') return `the effect could not be read: ${effects}`;
  if (effects !== 1) return `one key used twice: ${effects} effects show, where 1 or 2 can be explained`;
  if (second.class !== 'done')
    return `the second request was not answered with a success: ${second.error?.message ?? second.class}`;
  const [one, other] = [first, second].map(({ result }) => (result ?? {}) as Values);
  const isOther = shown.some(name => one?.[name] === undefined || one[name] !== other?.[name]);
  return isOther ? 'the second answer does not repeat the first' : undefined;
}

const NOT_LISTED = 'the list of cards does not show the marker of the new card';

/** So old a key is when it is used again: longer than a lost answer is looked for. */
const PROVED_MS = MINUTE;

type Read = Cents | string;

/** How often a transfer was done, by the balance of its card; in words where that cannot be told. */
function effectsOf(
  operation: Move,
  { before, once, balance }: Readonly<Record<'before' | 'once' | 'balance', Read>>,
): number | string {
  const unread = [before, once, balance].find(each => typeof each === 'string');
  if (unread !== undefined) return String(unread);
  const [fund, withdraw] = [MOVED['cards.fund'], MOVED['cards.withdraw']];
  if (Number(once) - Number(before) !== fund - withdraw)
    return 'the balance of the card does not show the first requests';
  const second = Number(balance) - Number(once);
  // Of neither, one or both of them.
  const isFunded = second === fund || second === fund - withdraw;
  const isWithdrawn = second === -withdraw || second === fund - withdraw;
  if (second !== 0 && !isFunded && !isWithdrawn) return 'the balance of the card was moved by something else';
  return (operation === 'cards.fund' ? isFunded : isWithdrawn) ? 2 : 1;
}

/** Each under a key of its own: the one of the first card would be refused for the second. All are tried. */
async function endAll(probing: Probing, cards: Iterable<string>): Promise<void> {
  const left: unknown[] = [];
  for (const [nth, card] of [...cards].entries()) {
    // By number: with an id of the service a key would be longer than the 64 characters it may have.
    const each = { ...probing, token: `${probing.token}_${nth}` };
    await first(each, 'cards.terminate', { card_id: card }).catch((thrown: unknown) => left.push(thrown));
  }
  if (left.length > 0) throw left[0];
}

function createInput(binId: string, token: string): Values {
  const metadata = { [MARKER_KEY]: markerOf(nameOf(token), 1) };
  return { bin_id: binId, amount: DOLLAR, label: `cardwright probe ${token}`, metadata };
}

function nameOf(token: string): string {
  return `probe_${token}`;
}

function keyOf(token: string, operation: WriteName): string {
  return `probe_${token}_${operation}`;
}

/** Cards with the marker of this probe, as the list shows them; adds them to those it has made. */
async function marked({ reader, binId, token, clock }: Probing, made: Set<string>): Promise<number> {
  const op = nameOf(token);
  const { cards } = await createMarkerIndex(reader, { prefix: `${op}.`, since: clock.now() })(markerOf(op, 1), binId);
  for (const { id } of cards) made.add(String(id));
  return new Set(cards.map(({ id }) => String(id))).size;
}

/** What was read, or why it could not be. */
async function seen<T extends number>(read: () => Promise<T>): Promise<T | string> {
  try {
    return await read();
  } catch (thrown) {
    return failedReading(thrown).message;
  }
}

/** The first use of a key. Throws when it was not answered with a success: then there is nothing to compare. */
async function first(probing: Probing, operation: WriteName, input: Values): Promise<Attempt> {
  const attempt = await use(probing, operation, input);
  if (attempt.class === 'done') return attempt;
  throw attempt.error ?? new CliError('internal', { message: `${operation}: no error` });
}

/** Sends equal bytes under one key each time. A throttled request is asked for again as everywhere, no other is. */
const THROTTLE_MS = 75_000;

async function use(
  { service, token, around, clock, stop }: Probing,
  operation: WriteName,
  input: Values,
): Promise<Attempt> {
  const key = keyOf(token, operation);
  const planned = service.plan(operation, input as never, { key });
  return around({ operation, input, key }, async () => {
    for (let waited = 0; ; ) {
      const attempt = await service.attempt(planned, input);
      const pause = attempt.retryAfterMs ?? 1_000;
      if (attempt.class !== 'throttled' || waited + pause > THROTTLE_MS) return attempt;
      await clock.sleep(pause, stop);
      waited += pause;
    }
  });
}

async function balanceOf(reader: Reader, cardId: string): Promise<Cents> {
  return toCents((await reader.read('cards.get', { card_id: cardId })).balance);
}
