/** What the work on one op shares: its records so far, its log, the service, and what time it is. */
import type { Reader, ReadOptions, Service } from '../../contract/service.ts';
import { CliError } from '../../core/errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { Capability } from '../idempotency-support.ts';
import type { TakeUp } from '../types.ts';
import type { DoneRecord, ItemRecord, PlanRecord, RowRecord } from '../wal/records.ts';
import { afterRecord, openRow, type RowHistory } from '../wal/replay.ts';
import type { Log } from '../wal/writer.ts';
import { type AnsweredBefore, createAnsweredCards } from './answered-cards.ts';
import { checkForEffect, traceOf } from './evidence.ts';
import { createMarkerIndex, type MarkerIndex } from './marker-index.ts';
import type { Meanwhile } from './meanwhile.ts';
import type { OtherMoves } from './other-moves.ts';
import { ownEnd } from './own-end.ts';
import { type KeyAge, keyIsFresh, keyIsSure, type Moment } from './policy.ts';
import type { RowIndex } from './row-index.ts';

/** A row of another operation that has made the card. */
export interface MadeBefore {
  readonly op: string;
  readonly row: number;
  readonly key: string | undefined;
  /** ms UTC by the clock of the service. */
  readonly madeAt: number | undefined;
  /** ms UTC by the clock of this machine. */
  readonly doneAt: number;
}

/** All rows of other operations that have made this card. */
export type MadeBeforeBy = (id: string) => Promise<readonly MadeBefore[]>;

/** Another op that a row belongs to by now. */
export interface RowOwner {
  readonly op: string;
  /** It is about the same change, and neither knew of the other: who has begun it, and when. Undefined where it has the name of the row. */
  readonly begun?: string | undefined;
}

export interface Elsewhere {
  readonly meanwhile?: Meanwhile | undefined;
  readonly takeUp?: TakeUp | undefined;
}

/** The other op that a row belongs to by now, where there is one: then the row is not sent. */
export type RowOwners = (row: number) => Promise<RowOwner | undefined>;

export interface RunContextSettings {
  readonly plan: PlanRecord;
  readonly rowIndex: RowIndex;
  readonly latest: number;
  /** Undefined when this process only looks. */
  readonly log: Log | undefined;
  readonly service: Service;
  readonly clock: Clock;
  /** The clock of the service by its newest answer, ms UTC; undefined while none told the time. */
  readonly serviceNow: () => number | undefined;
  readonly capability: (operation: ItemRecord['operation']) => Capability;
  /** No row is begun and no wait goes on after it. */
  readonly stop: AbortSignal;
  /** Whether the op is still in our hands; asked between SENT and its first byte. */
  readonly mayLeave: () => Promise<boolean>;
  /** Cuts off what is on the wire; comes after `stop`. */
  readonly cut: AbortSignal;
  readonly notice: (text: string) => void;
  /** Which other operations have made a card. */
  readonly madeBefore: MadeBeforeBy;
  /** What other operations of the account have moved. */
  readonly otherMoves: OtherMoves;
  /** When this command began, ms UTC. */
  readonly begunAt: number;
  readonly quietPeriodMs: number;
  /** Until when another process that had the op may have sent a row, ms UTC by our clock; 0 where its SENT tells it. */
  readonly sentUntil: (row: number) => number;
  readonly rowOwner: RowOwners;
  /** Where a row stands in other hands, and what goes on with the op there; neither while it is in ours, or nobody can tell. */
  readonly elsewhere: (row: number) => Promise<Elsewhere>;
  readonly resendAbsent: boolean;
  /** What goes on with the op, where this run has it not in hand: it only looks. */
  readonly takeUp?: TakeUp | undefined;
  /** It was begun by an earlier command. */
  readonly resumed: boolean;
}

export interface RunContext extends Omit<RunContextSettings, 'log'> {
  readonly reader: Reader;
  readonly marked: MarkerIndex;
  /** Readings that look what came of a request: a stopped run makes them too, once each. */
  readonly aside: { readonly reader: Reader; readonly marked: MarkerIndex };
  readonly lookOnly: boolean;
  /** Looks at a row that no record of their own tells of, since its last doubt was written down. */
  readonly unrecordedLooks: Map<number, number>;
  /** What was said about rows that are waited for, and when, on the monotonic clock. */
  readonly waitsTold: Map<string, number>;
  row(row: number): RowHistory;
  /**
   * Makes a record durable, with END where the op is over by it, then counts on it. Rejects with `guarded` as the log does, and
   * with `OutdatedFacts`.
   */
  write(record: RowRecord): Promise<void>;
  /** END went with an outcome. */
  hasEnded(): boolean;
  /** A new attempt of a row after a definite refusal: new key, same bytes. */
  writeItem(item: ItemRecord): Promise<void>;
  moment(): Moment;
  /** Asks the service for its time where the age of the key of a row needs it and no answer has told it yet. */
  askTime(row: number): Promise<void>;
  /**
   * Whether the key of a row is surely remembered now. The clock of a sandbox may have been moved a moment ago, so there the
   * service is asked for its time; where that is not told, no.
   */
  keyUsable(row: number): Promise<boolean>;
  /** Whether the life of that key was told or proved, and not only trusted in. */
  keySure(row: number): boolean;
  /** Facts about the age of the key of a row. */
  keyAge(row: number): KeyAge;
  readonly answeredBefore: AnsweredBefore;
  /** Created cards of this run give the marker back, as far as seen. */
  markerUsable(): boolean;
  /** A created card of this run was seen with its marker. */
  markerSeen(): boolean;
}

export function createRunContext(settings: RunContextSettings): RunContext {
  const { clock, log, service, plan, notice, rowIndex } = settings;
  const reader = readerOf(service);
  const aside = readerOf(service, () => ({ aside: settings.stop.aborted ? 'once' : 'patient', signal: settings.cut }));
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  const markers = markersOf(rowIndex);
  let [warned, hasEnded] = [markers.isHidden(), false];
  /** Rows whose first sending was by this process: their age is reckoned without the clock of the service too. */
  const sentHere = new Set<number>();
  const context: RunContext = {
    ...settings,
    reader,
    marked: createMarkerIndex(reader, plan),
    aside: { reader: aside, marked: createMarkerIndex(aside, plan) },
    lookOnly: log === undefined,
    unrecordedLooks: new Map(),
    waitsTold: new Map(),
    row(number) {
      const row = rowIndex.row(number);
      if (row === undefined) throw new RangeError(`${plan.op} has no row ${number}`);
      return row;
    },
    async write(record) {
      if (log === undefined) return;
      const end = rowIndex.size === 1 ? ownEnd(record, { plan, row: context.row(record.row) }) : undefined;
      const [place] = await Promise.all([log.append(record), end && log.append(end)]);
      hasEnded ||= end !== undefined;
      if (record.t === 'SENT') sentHere.add(record.row);
      else if (record.t !== 'AMBIG' && record.t !== 'ACK') sentHere.delete(record.row);
      rowIndex.set(kept(afterRecord(context.row(record.row), record)), record.t === 'DONE' ? place : undefined);
      if (record.t === 'DONE') markers.learn(record);
      if (warned || !markers.isHidden()) return;
      warned = true;
      notice('warning: the service does not give the metadata of a new card back; nothing of this run is sent twice');
    },
    hasEnded: () => hasEnded,
    async writeItem(item) {
      await log?.append(item);
      rowIndex.set(openRow(item));
    },
    moment() {
      const now = clock.now();
      return { now, drift: now - wall - (clock.monotonic() - monotonic) };
    },
    async askTime(number) {
      if (!sentHere.has(number)) await askTime(context, number);
    },
    async keyUsable(number) {
      const row = context.row(number);
      if (clockMoves(context, row) && !(await timeTold(context, row))) return false;
      return keyIsFresh(context.capability(row.item.operation), context.keyAge(number));
    },
    keySure: number => keyIsSure(context.capability(context.row(number).item.operation), context.keyAge(number)),
    keyAge(number) {
      const row = context.row(number);
      const { firstSent } = row;
      const sentAt = firstSent?.at ?? 0;
      const [there, now] = [firstSent?.service_at, settings.serviceNow()];
      const times = there !== undefined && now !== undefined ? { sentAt: there, now } : undefined;
      // The clock of a sandbox is moved by hand, and an earlier process cannot have seen it.
      const lost = clockMoves(context, row) && firstSent !== undefined && !sentHere.has(number);
      return { sentAt, latest: settings.latest, ...context.moment(), service: times ?? (lost ? 'unknown' : undefined) };
    },
    answeredBefore: createAnsweredCards(rowIndex),
    markerUsable: () => plan.marker && !markers.isHidden(),
    markerSeen: markers.isSeen,
  };
  return context;
}

/** What created cards show of their markers. Kept, not looked up: a run of many rows asks for it at each of them. */
function markersOf(rowIndex: RowIndex) {
  let [seen, hidden] = [false, false];
  const learn = ({ echo }: Pick<DoneRecord, 'echo'>) => {
    seen ||= echo === true;
    hidden ||= echo === false;
  };
  for (const { done } of rowIndex.held()) if (done !== undefined) learn(done);
  return { learn, isSeen: () => seen, isHidden: () => hidden };
}

/** Whether it is the clock of a sandbox, of this machine or elsewhere. */
function clockMoves({ plan, capability }: Pick<RunContext, 'plan' | 'capability'>, { item }: RowHistory): boolean {
  const known = capability(item.operation);
  return plan.mode === 'sandbox' || (known.key === 'honoured' && known.clock_moves === true);
}

async function askTime(context: RunContext, number: number): Promise<void> {
  const { reader, row, serviceNow } = context;
  const { firstSent } = row(number);
  if (!clockMoves(context, row(number)) || firstSent?.service_at === undefined || serviceNow() !== undefined) return;
  try {
    await reader.read('wallet.get', {});
  } catch (thrown) {
    // A time that is not told is told as such; the row itself may still be settled by looking.
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
  }
}

/** The time of a sandbox, asked anew. A create before which none was told is looked for instead: its list is exact. */
async function timeTold(context: RunContext, row: RowHistory): Promise<boolean> {
  const trace = traceOf(row, context.markerUsable());
  if (row.firstSent?.service_at === undefined && trace === 'marker') {
    return (await checkForEffect(row, trace, { plan: context.plan, ...context.aside })).found === 'nothing';
  }
  try {
    await context.aside.reader.read('wallet.get', {});
    return true;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.kind === 'internal') throw thrown;
    return false;
  }
}

/** When a done row was sent matters to nobody but the verification, and a run keeps every one of its rows. */
function kept(row: RowHistory): RowHistory {
  return row.state === 'done' && row.done?.resent_on_check === undefined
    ? Object.assign(row, { firstSent: undefined, lastSent: undefined })
    : row;
}

/** Reading operations alone, the bare results. */
export function readerOf(service: Service, always: () => ReadOptions = () => ({})): Reader {
  return {
    read: async (operation, input, options) =>
      (await service.send(operation, input as never, { ...always(), ...options })).result as never,
    pages: (operation, input, options) => service.pages(operation, input, { ...always(), ...options }),
  };
}
