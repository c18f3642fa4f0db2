/** What the changes of one run share: the op that is held, the service, time, and what a look needs. */
import type { WriteName } from '../contract/calls.ts';
import type { Operation } from '../contract/operation.ts';
import { CALLS } from '../contract/raw.ts';
import type { Reader, ReadOptions, Service } from '../contract/service.ts';
import { DAY } from '../core/durations.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import type { Capability } from './account.ts';
import type { HeldOp } from './changes.ts';
import type { Change } from './records.ts';

type Values = Readonly<Record<string, unknown>>;

interface CardsWithMarker {
  readonly cards: readonly Values[];
  /** Ids of cards of which no metadata is shown, and which are young enough to be any of the plan's. */
  readonly unreadable: readonly string[];
  /** Why the list may be incomplete: that a card is not in it shows nothing. */
  readonly incomplete?: string | undefined;
}

/** The cards of a BIN that carry a marker, from a reading of the list that began after this call. */
export type MarkerIndex = (marker: string, binId: string) => Promise<CardsWithMarker>;

export interface Work extends HeldOp {
  readonly service: Service;
  /** Readings before a change is sent. */
  readonly before: Reader;
  /** Readings that belong to a write: also made when the run is stopped, and patient with a rate limit. */
  readonly reader: Reader;
  readonly marked: MarkerIndex;
  readonly clock: Clock;
  readonly random: Randomness;
  /** No change is begun after it. */
  readonly stop: AbortSignal;
  /** Cuts off what is on the wire; comes after `stop`. */
  readonly cut: AbortSignal;
  /** It is the only change of its run: the wallet is evidence too. */
  readonly alone: boolean;
  /** Readings are never behind: the built-in sandbox. */
  readonly exact: boolean;
  /** `--resend-absent`. */
  readonly resendAbsent: boolean;
  /** Neither writes nor sends: for dry runs. */
  readonly lookOnly: boolean;
  /** It was begun by an earlier command. */
  readonly resumed: boolean;
  /** Whether a created card did not show a marker that follows from an intention: no further card is made then. */
  readonly markers: { isHidden: boolean };
  /** The clock of the service by its newest answer, ms UTC. */
  readonly serviceNow: () => number | undefined;
  readonly capability: (operation: WriteName) => Capability;
  /** When this command began, ms of the clock that nobody sets. */
  readonly begunAt: number;
  /** Time after which nothing of a request can be on its way any more, ms. */
  readonly quietMs: number;
}

export function rowOf(operation: WriteName): Operation {
  return CALLS[operation];
}

/** ms UTC by the clock of the store, by which the times of changes are written. */
export function timeOf({ database }: Pick<Work, 'database'>): Promise<number> {
  return database.read(tx => tx.now());
}

/** Whether the service is known to honour the key of a change, and surely remembers it still. */
export async function isKeyUsable(work: Pick<Work, 'capability' | 'database'>, change: Change): Promise<boolean> {
  const known = work.capability(change.operation);
  if (known.key !== 'honoured' || change.key === undefined || rowOf(change.operation).repeat === 'never') return false;
  const life = known.ttl_ms === null ? (known.proved_ms ?? 0) : Math.min(known.ttl_ms, DAY) / 2;
  const now = await timeOf(work);
  const age = now - (change.sentAt ?? now);
  // A clock that was set back proves nothing.
  return age >= 0 && age < life;
}

/** Reading operations alone, the bare results. */
export function readerOf(service: Service, always: () => ReadOptions = () => ({})): Reader {
  return {
    read: async (operation, input, options) =>
      (await service.send(operation, input as never, { ...always(), ...options })).result as never,
    pages: (operation, input, options) => service.pages(operation, input, { ...always(), ...options }),
  };
}
