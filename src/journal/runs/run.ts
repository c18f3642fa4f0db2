/** A run under its lock: rows to outcomes, several at once, then the audit and the end. */
import { CliError } from '../../core/errors.ts';
import { type Cents, cents, sumCents } from '../../core/money.ts';
import { doneRecord } from '../execution/done-record.ts';
import { executeRow } from '../execution/execute-row.ts';
import { recordedOutcome } from '../execution/outcome.ts';
import { isShown, type MadeCard, type RowIndex, type Standing } from '../execution/row-index.ts';
import type { RunContext } from '../execution/run-context.ts';
import { duplicateNotes } from '../execution/unknown-error.ts';
import { type Audit, auditRun, type Misnamed } from '../execution/verify-run.ts';
import { resentOnCheck, walletFindings } from '../execution/verify-wallet.ts';
import type { Counts, RowOutcome } from '../row-outcome.ts';
import type { Finished, PlannedRow, RowState, Run, RunPlan, SendPermit } from '../types.ts';
import type { EndRecord, ItemRecord } from '../wal/records.ts';
import { mayBePerformed, outcomeRecordOf, type RowHistory } from '../wal/replay.ts';
import type { Log } from '../wal/writer.ts';
import type { MovedMeanwhile } from './moved-meanwhile.ts';
import type { Release } from './release.ts';

export interface OpenRun {
  readonly context: RunContext;
  readonly plan: RunPlan;
  readonly log: Log | undefined;
  readonly release: Release;
  readonly notice: (text: string) => void;
  /** What other operations of this machine have moved since it began; asked where the wallet does not add up. */
  readonly others: () => Promise<readonly MovedMeanwhile[]>;
  /** What the journal says at its END, where it has one. */
  readonly end: EndRecord | undefined;
  /** Who has approved it, where it was held. */
  readonly approvedBy?: readonly string[] | undefined;
  /** See `Run.isReleased`. */
  readonly isReleased?: boolean | undefined;
  /** By the command that has begun it. What another one takes up, and cannot send either, stays open for the next resume. */
  readonly isNew: boolean;
}

export function createRun(open: OpenRun): Run {
  const { context, plan, log } = open;
  const { op } = context.plan;
  const lanes = new Map<string, Promise<unknown>>();
  let pending = 0;
  let idle: (() => void) | undefined;
  let failure: unknown;
  /** Why the latest row was not sent. */
  let unsent: CliError | undefined;
  let [ended, staysUntold] = [open.end !== undefined, false];

  /**
   * One operation a card that moves its balance: evidence of two at once would be worth nothing. A create has no such
   * card, and each is performed once at a time.
   */
  function inTurn(item: ItemRecord, work: () => Promise<RowOutcome>): Promise<RowOutcome> {
    const lane = item.card === undefined ? undefined : `card ${item.card}`;
    const before = lane === undefined ? undefined : lanes.get(lane);
    const turn = before === undefined ? work() : before.then(work, work);
    if (lane !== undefined) lanes.set(lane, turn);
    pending += 1;
    const leave = () => {
      if (lane !== undefined && lanes.get(lane) === turn) lanes.delete(lane);
      pending -= 1;
      if (pending === 0) idle?.();
    };
    turn.then(leave, leave);
    return turn;
  }

  async function performNow(number: number, permit: SendPermit | undefined): Promise<RowOutcome> {
    // After the first failure of the journal nothing may be sent any more.
    if (failure !== undefined) throw failure;
    const before = plan.bulk ? undefined : [...plan.rows].find(({ row }) => row === number)?.before;
    const onStop = () => open.notice(`Stopping: 1 request is on its way. Ctrl-C again leaves it to ops resume.`);
    // A run of many rows says how many there are.
    if (!plan.bulk && !context.lookOnly) context.stop.addEventListener('abort', onStop, { once: true });
    try {
      const outcome = await executeRow(context, number, { before, permit });
      if (outcome.outcome === 'not_sent') unsent = outcome.error;
      return outcome;
    } catch (thrown) {
      failure ??= thrown;
      if (thrown instanceof CliError) unsent = thrown;
      throw thrown;
    } finally {
      context.rowIndex.rest(number);
      if (!plan.bulk) context.stop.removeEventListener('abort', onStop);
    }
  }

  async function finish(): Promise<Finished> {
    const { rowIndex } = context;
    if (open.isNew && !plan.bulk && !ended) await settleUnsent(context, unsent);
    if (ended || log === undefined) {
      const { open: _open, ...counts } = countsIn(rowIndex);
      // What was objected to at the end is not settled by asking again.
      const objections = open.end?.objections ?? [];
      return { counts, cents: movedIn(rowIndex), objections, remarks: [], doubted: [], ended };
    }
    const audit = await auditOf(context, open.notice);
    await nameRightCards(context, audit?.misnamed ?? []);
    const doubted = await doubtUnread(context, audit?.unread ?? []);
    const { open: unopened, ...counts } = countsIn(rowIndex);
    const moved = movedIn(rowIndex);
    const unsettled = counts.unknown + unopened > 0 || [...rowIndex.held()].some(row => mayBePerformed(row, plan.bulk));
    if (audit === undefined) return { counts, cents: moved, objections: [], remarks: [], doubted, ended };
    const maybe = sumOf([...rowIndex.held()].filter(({ state }) => state === 'unknown'));
    const wallet = await walletFindings(context, { moved, maybe, isSettled: !unsettled }, open.others);
    const objections = [...audit.objections, ...wallet.objections];
    if (unsettled) return { counts, cents: moved, objections, remarks: [], doubted, ended };
    const { done, refused, not_sent } = counts;
    const objected = objections.length > 0 ? { objections } : {};
    const end = { t: 'END', done, refused, not_sent, cents: moved, ...objected, at: context.clock.now() } as const;
    if (!context.hasEnded()) await log.append(end);
    ended = true;
    return { counts, cents: moved, objections, remarks: wallet.remarks, doubted, ended };
  }

  return {
    op,
    plan,
    approvedBy: open.approvedBy,
    isReleased: open.isReleased,
    total: cents(context.plan.total_cents),
    rows: {
      length: context.rowIndex.size,
      *[Symbol.iterator]() {
        for (const row of context.rowIndex.all()) yield stateOfRow(row, context);
      },
    },
    perform: (number, permit) => inTurn(context.row(number).item, () => performNow(number, permit)),
    finish,
    leaveUntold() {
      staysUntold = true;
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>(resolve => {
        if (pending === 0) resolve();
        else idle = resolve;
      });
      try {
        // Also after what was thrown before anything was sent. A journal that takes nothing more leaves the op open.
        if (open.isNew && !plan.bulk && !ended) await finish();
      } catch (thrown) {
        failure ??= thrown;
      }
      await log?.close();
      await open.release(ended && !staysUntold);
    },
  };
}

/**
 * The only row of a command that ends by itself, still open: no SENT of it is durable, so nothing left. Written down, the
 * same command may be run again; a command that is killed does not come here.
 */
async function settleUnsent(context: RunContext, reason: CliError | undefined): Promise<void> {
  for (const { row, state, history } of context.rowIndex.all()) {
    if (state !== 'open') continue;
    const { kind = 'unreachable', message = `${history().item.operation} was not sent` } = reason ?? {};
    await context.write({ t: 'NOTSENT', row, kind, message, at: context.clock.now() });
  }
}

/** Undefined when the audit could not be made: then the run must stay open for another. */
async function auditOf(context: RunContext, notice: (text: string) => void): Promise<Audit | undefined> {
  const held = [...context.rowIndex.held()];
  const plain =
    resentOnCheck(context.rowIndex).length === 0 &&
    held.every(({ done, duplicate }) => duplicate === undefined && (done === undefined || isShown(done.via)));
  // One row whose own answer showed the card has nothing to be compared with.
  if (!context.plan.bulk && plain) return { objections: [], unread: [], misnamed: [] };
  try {
    return await auditRun(context);
  } catch (thrown) {
    notice(`warning: the audit of ${context.plan.op} could not be made: ${(thrown as CliError).message}`);
    const found = held.filter(({ duplicate }) => duplicate !== undefined).flatMap(duplicateNotes);
    return found.length > 0 ? { objections: found, unread: [], misnamed: [] } : undefined;
  }
}

/** What the journal says of a row is the card that it has made, and not the one in its answer. */
async function nameRightCards(context: RunContext, misnamed: readonly Misnamed[]): Promise<void> {
  for (const { row, card: result } of misnamed) {
    const requestId = context.row(row).done?.request_id;
    await context.write(doneRecord(context, row, { result, via: 'marker', changed: true, requestId }));
  }
}

/** Rows that came back as done with a card that no reading shows: they are looked for like any other unknown one. */
async function doubtUnread(context: RunContext, unread: readonly MadeCard[]): Promise<readonly RowOutcome[]> {
  const doubted: RowOutcome[] = [];
  for (const { row, id } of unread) {
    const reason = `the answer shows the effect, but a read finds no card ${id}`;
    const { request_id } = context.row(row).done ?? {};
    await context.write({ t: 'ACK', row, id, shown: true, reason, request_id, at: context.clock.now() });
    const outcome = recordedOutcome(context.row(row), context.plan);
    if (outcome !== undefined) doubted.push(outcome);
  }
  return doubted;
}

/** Where nothing has happened yet, not a word more is read of a row than is asked for. */
function stateOfRow({ row, state, history }: Standing, { plan }: RunContext): RowState {
  const open = state === 'open' || mayBePerformed(history(), plan.bulk);
  return {
    row,
    state: open ? 'open' : state,
    get cardId() {
      return makesCards(plan) ? undefined : history().item.card;
    },
    get planned() {
      return plannedOf(history().item);
    },
    get outcome() {
      return open ? undefined : recordedOutcome(history(), plan);
    },
    get decided() {
      const record = open ? undefined : outcomeRecordOf(history());
      return record && { at: record.at, pid: history().decidedBy };
    },
  };
}

/** Its rows have no card yet. */
function makesCards({ capability }: RunContext['plan']): boolean {
  const [only, ...others] = Object.keys(capability);
  return only === 'cards.create' && others.length === 0;
}

export function plannedOf(item: ItemRecord): PlannedRow {
  const { row, operation, input, amount, card, label, intent, asked, phase, needs } = item;
  return {
    row,
    operation,
    input,
    ...(amount !== undefined && { amount: cents(amount) }),
    ...(card !== undefined && { cardId: card }),
    ...(label !== undefined && { label }),
    ...(intent !== undefined && { intent }),
    ...(asked && { asked }),
    ...(phase !== undefined && { phase }),
    ...(needs !== undefined && { needs }),
  };
}

export function countsOf(rows: readonly RowHistory[]): Counts & { readonly open: number } {
  const count = (state: RowHistory['state']) => rows.filter(row => row.state === state).length;
  return {
    done: count('done'),
    refused: count('refused'),
    unknown: count('unknown'),
    not_sent: count('not_sent'),
    open: count('open'),
  };
}

function countsIn(rowIndex: RowIndex): Counts & { readonly open: number } {
  const { open, done } = rowIndex.resting();
  const counts = countsOf([...rowIndex.held()]);
  return { ...counts, open: counts.open + open, done: counts.done + done };
}

/** Amounts of the done rows. */
function movedIn(rowIndex: RowIndex): Cents {
  return cents(sumOf([...rowIndex.held()].filter(({ state }) => state === 'done')) + rowIndex.resting().cents);
}

export function sumOf(rows: readonly RowHistory[]): Cents {
  return sumCents(rows.map(({ item, done }) => cents(done?.amount ?? item.amount ?? 0)));
}
