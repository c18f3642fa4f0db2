/** Answers that do not show the effect: the resource is read and reported (reading rule 7; ). */
import { FUNDING } from '../contract/card.ts';
import { refusalNamed } from '../contract/refusals.ts';
import type { CliError } from '../errors.ts';
import { CliError as CliFailure } from '../errors.ts';
import type { Clock, Randomness } from '../host.ts';
import { type Asked, withAsked } from './answer.ts';
import type { Verdict } from './judge.ts';

type Values = Readonly<Record<string, unknown>>;
type Unverified = Extract<Verdict, { class: 'unverified' }>;

/** How long a 202 is followed. */
const FOLLOW_MS = 75_000;
const POLL_MS = 1_000;

export interface Settling {
  /** Sends a reading operation and returns its result. Throws as `send` does. */
  readonly read: (operation: string, input: Values) => Promise<Values>;
  readonly clock: Clock;
  readonly random: Randomness;
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * The resource after a write whose 2xx answer did not show it. Throws `outcome_unknown` when nothing confirms it,
 * `contract_mismatch` with outcome `done` when it certainly happened but what must be printed is lost.
 */
export async function settleWrite(asked: Asked, verdict: Unverified, settling: Settling): Promise<Values> {
  const { row } = asked.target;
  if (row.readBack !== undefined) return confirmByReading(asked, verdict, settling);
  if (row.returns.shape === FUNDING) return readBalances(asked, verdict, settling);
  // A created resource that has an id exists, whatever else its record lacks.
  const { id } = verdict.partial;
  if (verdict.doubt === 'lacking' && typeof id === 'string') throw lost(verdict.error, `${id} exists`);
  throw verdict.error;
}

/** The resource that is in the wanted state already; undefined when the identifier does not say so after all. */
export async function readAlready(asked: Asked, error: CliError, settling: Settling): Promise<Values | undefined> {
  const { row } = asked.target;
  const identifier = refusalNamed(error.facts.service?.error);
  if (row.readBack === undefined || identifier === undefined || !row.already?.includes(identifier)) return undefined;
  // "Not frozen" is also true of a terminated card. What cannot be looked at leaves the refusal as it is.
  return lookFor(asked, settling);
}

/** The resource when it shows the effect of a write whose answer was lost; undefined when it does not, or cannot be read. */
export async function lookFor(asked: Asked, settling: Settling): Promise<Values | undefined> {
  const { readBack } = asked.target.row;
  if (readBack === undefined) return undefined;
  try {
    const resource = await settling.read(readBack, paramsOf(asked));
    return shows(asked, resource) ? resource : undefined;
  } catch (failed) {
    // The write's own error is what the user must see, so any failure to look counts as nothing seen.
    if (failed instanceof CliFailure) return undefined;
    throw failed;
  }
}

async function confirmByReading(asked: Asked, verdict: Unverified, settling: Settling): Promise<Values> {
  const { readBack = '' } = asked.target.row;
  const { clock, random } = settling;
  const until = clock.monotonic() + (settling.timeoutMs ?? FOLLOW_MS);
  for (;;) {
    const resource = await readOr(verdict.error, () => settling.read(readBack, paramsOf(asked)));
    if (shows(asked, resource)) return resource;
    const wait = POLL_MS * (1 + random.fraction() / 4);
    if (verdict.doubt !== 'pending' || clock.monotonic() + wait > until) throw verdict.error;
    await clock.sleep(wait, settling.signal);
  }
}

/** The service said yes to fund or withdraw; its names for the balances are not known, so they are read. */
async function readBalances(asked: Asked, verdict: Unverified, settling: Settling): Promise<Values> {
  if (verdict.doubt !== 'no_content' && verdict.doubt !== 'lacking') throw verdict.error;
  const accepted = lost(verdict.error, 'the money moved, but the balances could not be read');
  const { card_id: cardId } = asked.input;
  const card = await readOr(accepted, () => settling.read('cards.get', { card_id: cardId }));
  const wallet = await readOr(accepted, () => settling.read('wallet.get', {}));
  return {
    ...withAsked(asked, verdict.partial),
    card_id: cardId,
    card_balance: card['balance'],
    wallet_balance: wallet['balance'],
  };
}

/** A read that fails says nothing about the write before it: the write's own error stands. */
async function readOr(error: CliError, read: () => Promise<Values>): Promise<Values> {
  try {
    return await read();
  } catch (failed) {
    const why = failed instanceof Error ? `; reading it back: ${failed.message}` : '';
    throw error.with({ message: `${error.message}${why}`, cause: failed });
  }
}

function lost(error: CliError, what: string): CliError {
  const { facts } = error;
  return new CliFailure('contract_mismatch', { ...facts, message: `${facts.operation}: ${what}`, outcome: 'done' });
}

function paramsOf({ target, input }: Asked): Values {
  return Object.fromEntries(Object.keys(target.row.params ?? {}).map(name => [name, input[name]]));
}

/** The state the operation leads to; for an update, every member that was sent. */
function shows({ target, input }: Asked, resource: Values): boolean {
  const { leadsTo, body } = target.row;
  if (leadsTo) return resource[leadsTo.field] === leadsTo.value;
  const sent = Object.keys(body ?? {}).filter(name => input[name] !== undefined);
  return sent.every(name => sameValue(resource[name], input[name]));
}

function sameValue(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown) => JSON.stringify(Array.isArray(value) ? [...value].sort() : value);
  return sorted(one) === sorted(other);
}
