/** What the records of a journal amount to: the plan, and where every row stands. */
import { CliError } from '../../core/errors.ts';
import type { RowResult } from '../row-outcome.ts';
import type { OpState } from '../shown-ops.ts';
import type {
  ApprovedRecord,
  DeniedRecord,
  EndRecord,
  ItemRecord,
  PlanRecord,
  RowRecord,
  SentRecord,
  StoredRecord,
} from './records.ts';
import { JOURNAL_VERSION } from './records.ts';

type OfKind<T extends RowRecord['t']> = Extract<RowRecord, { t: T }>;

export interface RowHistory {
  /** The attempt that counts: its bytes and key are what may be sent. */
  readonly item: ItemRecord;
  readonly state: RowResult | 'open';
  /** First and last time bytes of this attempt may have left. */
  readonly firstSent?: SentRecord | undefined;
  readonly lastSent?: SentRecord | undefined;
  readonly done?: OfKind<'DONE'> | undefined;
  readonly failed?: OfKind<'FAILED'> | undefined;
  readonly notSent?: OfKind<'NOTSENT'> | undefined;
  /** Why it is unknown. */
  readonly doubt?: OfKind<'AMBIG'> | OfKind<'ACK'> | undefined;
  readonly looks: readonly (OfKind<'LOOKED'> | OfKind<'ABSENT'>)[];
  readonly duplicate?: OfKind<'DUPLICATE'> | undefined;
  readonly resolved?: OfKind<'RESOLVED'> | undefined;
  /** Process that wrote the outcome down; undefined while there is none, and for rows of this very process. */
  readonly decidedBy?: number | undefined;
}

export interface History {
  readonly plan: PlanRecord;
  /** False when the process died before the plan was whole; then nothing was sent. */
  readonly planned: boolean;
  readonly rows: ReadonlyMap<number, RowHistory>;
  /** Writer of the latest RUN. */
  readonly holder: string | undefined;
  /** How many processes have worked on it: the first, and each that took it up again. */
  readonly runs: number;
  readonly end: EndRecord | undefined;
  /** Approvals that were brought for the request of the plan, as their texts. */
  readonly approvals: readonly string[];
  readonly approved: ApprovedRecord | undefined;
  readonly denied: DeniedRecord | undefined;
  /** ms UTC of the latest record that tells a time. */
  readonly latest: number;
}

/**
 * Reads the records in order. Undefined when there is no plan at all: a crash before the first write. Throws
 * `check_failed` for a journal of a newer version.
 */
export function historyOf(written: readonly StoredRecord[]): History | undefined {
  const [first] = written;
  if (first === undefined || first.record.t !== 'PLAN') return undefined;
  const plan = first.record;
  if (plan.version > JOURNAL_VERSION) throw newer(plan);
  const rows = new Map<number, RowHistory>();
  let [planned, latest, runs] = [false, plan.at, 0];
  let holder: string | undefined;
  const processes = new Map<string, number>();
  let end: EndRecord | undefined;
  let approved: ApprovedRecord | undefined;
  let denied: DeniedRecord | undefined;
  const approvals: string[] = [];
  for (const { by, record } of written) {
    if ('at' in record) latest = Math.max(latest, record.at);
    switch (record.t) {
      case 'PLAN':
        break;
      case 'PLANNED':
        planned = true;
        break;
      case 'RUN':
        holder = by;
        processes.set(by, record.pid);
        runs += 1;
        break;
      case 'END':
        end = record;
        break;
      case 'APPROVAL':
        approvals.push(record.envelope);
        break;
      case 'APPROVED':
        approved ??= record;
        break;
      case 'DENIED':
        denied ??= record;
        giveUp(rows, record);
        break;
      case 'ITEM':
        rows.set(record.row, openRow(record));
        break;
      case 'SENT':
        // Behind another process's RUN it is void: its writer looked before sending, and stopped.
        if (by === holder) change(rows, record);
        break;
      case 'NOTSENT':
        // Nor does its writer know what the other process has sent meanwhile.
        if (by === holder) change(rows, record, processes.get(by));
        break;
      default:
        change(rows, record, processes.get(by));
    }
  }
  return { plan, planned, rows, holder, runs, end, approvals, approved, denied, latest };
}

/** Rows of a request that came to nothing are as those that a person declared not done. */
function giveUp(rows: Map<number, RowHistory>, { note, at }: DeniedRecord): void {
  for (const [row, standing] of rows) {
    // Nobody has recorded it by hand: who has rejected the request stands in DENIED.
    if (standing.state === 'open') change(rows, { t: 'RESOLVED', row, as: 'not-done', note, who: 'operator', at });
  }
}

/** Held until other persons have agreed: nothing of it was sent. */
export function isPending({ plan, planned, approved, end }: History): boolean {
  return planned && plan.approval !== undefined && approved === undefined && end === undefined;
}

const NO_LOOKS: RowHistory['looks'] = [];

/** The card that a row made or changed: by its answer, by a look or by a person. */
export function cardOf({ done, resolved, item }: Pick<RowHistory, 'done' | 'resolved' | 'item'>): string | undefined {
  return done?.id ?? resolved?.card ?? item.card;
}

/** A row that nothing has happened to. All members, so that every row of a run has one form: there may be many. */
export function openRow(item: ItemRecord): RowHistory {
  return {
    item,
    state: 'open',
    firstSent: undefined,
    lastSent: undefined,
    done: undefined,
    failed: undefined,
    notSent: undefined,
    doubt: undefined,
    looks: NO_LOOKS,
    duplicate: undefined,
    resolved: undefined,
    decidedBy: undefined,
  };
}

function change(rows: Map<number, RowHistory>, record: RowRecord, pid?: number): void {
  const row = rows.get(record.row);
  if (row === undefined) return;
  const after = afterRecord(row, record);
  rows.set(record.row, outcomeRecordOf(after) === record ? { ...after, decidedBy: pid } : after);
}

/** The record that decided the row, for an outcome of the service; undefined where a person decided, or nobody yet. */
export function outcomeRecordOf({ state, done, failed, notSent, duplicate, resolved }: RowHistory) {
  if (resolved !== undefined) return undefined;
  if (state === 'done') return done ?? duplicate;
  if (state === 'refused') return failed;
  return state === 'not_sent' ? notSent : undefined;
}

/** Where a row stands after one more record. */
export function afterRecord(row: RowHistory, record: RowRecord): RowHistory {
  switch (record.t) {
    case 'SENT':
      return { ...sentAgain(row), firstSent: row.firstSent ?? record, lastSent: record };
    case 'DONE':
      return { ...row, state: 'done', done: record };
    case 'FAILED':
      return { ...row, state: 'refused', failed: record };
    case 'NOTSENT':
      return { ...row, state: 'not_sent', notSent: record, firstSent: undefined, lastSent: undefined };
    case 'ACK':
    case 'AMBIG':
      return { ...row, state: 'unknown', doubt: record };
    case 'LOOKED':
    case 'ABSENT':
      return { ...row, looks: [...row.looks, record] };
    case 'DUPLICATE':
      return { ...row, state: 'done', duplicate: record };
    case 'RESOLVED':
      return { ...row, state: record.as === 'done' ? 'done' : 'not_sent', resolved: record };
  }
}

/** Nothing but a look made it safe to send it again. */
export function isResentOnCheck({ done, doubt, firstSent, lastSent }: RowHistory): boolean {
  if (done?.resent_on_check ?? doubt?.resent_on_check ?? lastSent?.resent_on_check) return true;
  return firstSent?.after_429 === true;
}

/** That everything was answered 429 does not hold for what is sent now. */
function sentAgain(row: RowHistory): RowHistory {
  const { doubt } = row;
  const limited = doubt?.t === 'AMBIG' && doubt.limited;
  return { ...row, state: 'unknown', notSent: undefined, doubt: limited ? { ...doubt, limited: undefined } : doubt };
}

/** Rows that a resume would take up again, the unknown ones aside. */
export function mayBePerformed(row: RowHistory, bulk: boolean): boolean {
  if (row.state === 'open') return true;
  if (row.resolved !== undefined || !bulk) return false;
  if (row.state === 'not_sent') return true;
  return row.state === 'refused' && (row.failed?.kind === 'insufficient_funds' || row.failed?.next === true);
}

export function stateOf(history: History): Exclude<OpState, 'running' | 'untold' | 'rejected' | 'damaged' | 'newer'> {
  if (history.end !== undefined || !history.planned) return 'finished';
  if (isPending(history)) return 'pending';
  // Without END nobody has compared its rows with the service, whatever the rows say: a resume does.
  return [...history.rows.values()].some(row => row.state === 'unknown') ? 'unknown' : 'open';
}

function newer({ op, version }: PlanRecord): CliError {
  return new CliError('check_failed', {
    message: `the journal of ${op} was written by a newer cardwright (version ${version}); nothing was sent. Install that version and repeat the command`,
    outcome: 'not_sent',
    op,
  });
}
