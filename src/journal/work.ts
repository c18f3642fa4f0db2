/** What the changes of one run share: the op that is held, the service, time, and what a look needs. */
import { CALLS, type WriteName } from '../contract/calls.ts';
import type { Operation } from '../contract/operation.ts';
import type { Reader, ReadOptions, Service } from '../contract/service.ts';
import { RECENT } from '../contract/spans.ts';
import { DAY } from '../core/durations.ts';
import { CliError } from '../core/errors.ts';
import type { Clock, Randomness } from '../platform/host.ts';
import type { Capability } from './account.ts';
import type { HeldOp } from './changes.ts';
import { MARKER_KEY } from './names.ts';
import type { Change } from './records.ts';

type Values = Readonly<Record<string, unknown>>;

interface CardsWithMarker {
  readonly cards: readonly Values[];
  /** Ids of cards of which no metadata is shown, and which are young enough to be any of the plan's. */
  readonly unreadable: readonly string[];
  /** Cards as young that carry no marker of cardwright: a service may drop it. */
  readonly unmarked: readonly Values[];
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

/** The work of an op; what is not given is as for a change that nothing is known of. */
export function workOn(
  given: Pick<Work, 'database' | 'self' | 'op' | 'service' | 'clock' | 'random' | 'stop' | 'cut' | 'quietMs'> &
    Partial<Work>,
): Work {
  const { op, service, clock, stop, cut } = given;
  const sleep = (ms: number) => clock.sleep(ms, stop);
  const plain = readerOf(service, () => ({ readBack: stop.aborted ? 'once' : 'retried', signal: cut }));
  const reader = patientReader(plain, sleep);
  return {
    before: patientReader(readerOf(service), sleep),
    reader,
    marked: createMarkerIndex(reader, { prefix: op.plan.markerPrefix ?? `${op.id}.`, since: op.created }),
    alone: !op.bulk,
    exact: op.mode === 'sandbox',
    resendAbsent: false,
    lookOnly: false,
    resumed: false,
    markers: { isHidden: false },
    serviceNow: () => undefined,
    capability: () => ({ key: 'unknown' }),
    begunAt: clock.monotonic(),
    ...given,
  };
}

const MOST_LIMITED = 5;

/** Waits for as long as the service asks it to: a rate limit must not make an effect unknown. */
function patientReader(reader: Reader, sleep: (ms: number) => Promise<void>): Reader {
  return {
    pages: reader.pages,
    async read(operation, input, options) {
      for (let left = MOST_LIMITED; ; left -= 1) {
        try {
          return await reader.read(operation, input, options);
        } catch (thrown) {
          if (!(thrown instanceof CliError) || thrown.kind !== 'rate_limited' || left === 0) throw thrown;
          await sleep(Math.max(1_000, thrown.facts.retryAfterMs ?? 0)).catch(() => {
            throw thrown;
          });
        }
      }
    },
  };
}

// Cards by the marker of their row. Rows that are looked for at the same time share one reading of the list: after a crash there may
// be many of them, and an account may have thousands of cards.

interface Found extends Omit<CardsWithMarker, 'cards'> {
  readonly byMarker: ReadonlyMap<string, readonly Values[]>;
}

const MOST_SINGLE_READS = 200;

/** What its markers begin with; no card of it is older, ms UTC. */
type MarkedPlan = { readonly prefix: string; readonly since: number };

export function createMarkerIndex(reader: Reader, plan: MarkedPlan): MarkerIndex {
  /** The latest reading of a BIN that has begun. */
  const latest = new Map<string, Promise<unknown>>();
  /** The reading of a BIN that has not begun yet. */
  const waiting = new Map<string, Promise<Found>>();

  /** A reading that begins after now: one that is under way may be past the page on which the card now stands. */
  function nextReading(binId: string): Promise<Found> {
    const shared = waiting.get(binId);
    if (shared !== undefined) return shared;
    const reading = (latest.get(binId) ?? Promise.resolve())
      // Whoever asked for the reading before this one is told how it failed.
      .catch(() => undefined)
      .then(() => {
        waiting.delete(binId);
        return readWhole(reader, plan, binId);
      });
    waiting.set(binId, reading);
    latest.set(binId, reading);
    return reading;
  }

  return async (marker, binId) => {
    const { byMarker, ...facts } = await nextReading(binId);
    return { cards: byMarker.get(marker) ?? [], ...facts };
  };
}

/** A list that others add to while its pages are read is read again, twice at most. */
async function readWhole(reader: Reader, plan: MarkedPlan, binId: string): Promise<Found> {
  for (let left = 2; ; left -= 1) {
    const found = await readMarked(reader, plan, binId);
    if (found.incomplete === undefined || left === 0) return found;
  }
}

async function readMarked(reader: Reader, plan: MarkedPlan, binId: string): Promise<Found> {
  const byMarker = new Map<string, Values[]>();
  const unshown: string[] = [];
  const unmarked: Values[] = [];
  const keep = (card: Values & { readonly metadata?: Readonly<Record<string, string>> | null | undefined }) => {
    const marker = card.metadata?.[MARKER_KEY];
    if (marker?.startsWith(plan.prefix)) byMarker.set(marker, [...(byMarker.get(marker) ?? []), card]);
    const isYoung = Date.parse(String(card['created_at'] ?? '')) >= plan.since - RECENT;
    if (isYoung && card.metadata && marker === undefined) unmarked.push(card);
  };
  let incomplete: string | undefined;
  const onIncomplete = (why: string) => {
    incomplete = why;
  };
  for await (const { data } of reader.pages('cards.list', { bin_id: binId, per_page: 100 }, { onIncomplete })) {
    for (const card of data) {
      keep(card);
      // A card made a day before the plan cannot be ours, however far the clocks are apart.
      const old = Date.parse(card.created_at ?? '') < plan.since - DAY;
      if (card.metadata === undefined && !old) unshown.push(card.id);
    }
  }
  // A list that carries no metadata: the cards that are young enough are read one by one.
  if (unshown.length > MOST_SINGLE_READS) {
    throw new CliError('contract_mismatch', {
      message: `the list of cards carries no metadata, and ${unshown.length} are too many to read one by one`,
    });
  }
  const unreadable: string[] = [];
  for (const id of unshown) {
    const card = await reader.read('cards.get', { card_id: id });
    keep(card);
    if (card.metadata === undefined || card.metadata === null) unreadable.push(id);
  }
  return { byMarker, unreadable, unmarked, incomplete };
}
