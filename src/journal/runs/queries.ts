/** Operations as `ops list` and `ops show` tell them. Nothing here changes a file or asks the service. */

import { CliError } from '../../core/errors.ts';
import { isoSeconds } from '../../core/iso-time.ts';
import { cents } from '../../core/money.ts';
import { checksOf } from '../execution/assessment.ts';
import { ON_THIS_MACHINE, recordedNotes } from '../execution/by-hand.ts';
import { recordedOutcome } from '../execution/outcome.ts';
import { clause } from '../execution/unknown-error.ts';
import {
  type Hands,
  isDoneUntold,
  type OpDetail,
  type OpRow,
  type OpState,
  type OpSummary,
  type RecordedByHand,
} from '../shown-ops.ts';
import type { OpHead, OpStore } from '../store/op-store.ts';
import { historyNamed, isNewer, readOrError } from '../store/read-ops.ts';
import { JOURNAL_VERSION, type PlanRecord } from '../wal/records.ts';
import { cardOf, type History, type RowHistory, stateOf } from '../wal/replay.ts';
import type { JournalDependencies } from './dependencies.ts';
import { countsOf } from './run.ts';

interface Asked {
  readonly store: Pick<OpStore, 'heads' | 'read' | 'leastLength' | 'isHeld' | 'handsOf'>;
}

/** Newest first. A damaged journal is in the list with nothing but its name, a newer one with its plan. */
export async function summaries(dependencies: Asked): Promise<OpSummary[]> {
  const { store } = dependencies;
  const found: Found[] = [];
  for await (const head of store.heads()) {
    const { op } = head;
    const counted = await countedSummary(head);
    if (counted !== undefined) {
      found.push(counted);
      continue;
    }
    const history = await readOrError(store, op);
    if (history instanceof CliError) {
      const plan = await head.plan();
      found.push({ at: plan?.at ?? 0, summary: unreadable(op, plan) });
    } else if (history !== undefined) {
      found.push({ at: history.plan.at, summary: await summaryOf(dependencies, history, head) });
    }
  }
  // By the millisecond: the times that are shown are whole seconds.
  return found.sort((one, other) => other.at - one.at).map(({ summary }) => summary);
}

interface Found {
  /** When it was planned, ms UTC. */
  readonly at: number;
  readonly summary: OpSummary;
}

/** By what the store has counted; undefined where the records must be read. */
async function countedSummary({ op, counted, hands, plan: planOf }: OpHead): Promise<Found | undefined> {
  const plan = counted === undefined ? undefined : await planOf();
  if (counted === undefined || plan === undefined || plan.version > JOURNAL_VERSION) return undefined;
  const { state, at, counts } = counted;
  const { command, profile, mode, rows, total_cents } = plan;
  const times = { started_at: isoSeconds(plan.at), last_at: isoSeconds(at) };
  const summary = { op, command, ...times, profile, mode, state, rows, counts, cents: cents(total_cents), hands };
  return { at: plan.at, summary };
}

/** `unfinished`: it was not let go. */
async function summaryOf(
  { store }: Asked,
  history: History,
  { unfinished, hands }: Pick<OpHead, 'unfinished' | 'hands'>,
): Promise<OpSummary> {
  const { plan, rows, latest } = history;
  return {
    op: plan.op,
    command: plan.command,
    started_at: isoSeconds(plan.at),
    last_at: isoSeconds(latest),
    profile: plan.profile,
    mode: plan.mode,
    state:
      (unfinished || stateOf(history) !== 'finished') && (await store.isHeld(plan.op))
        ? 'running'
        : standsAt(history, unfinished),
    rows: plan.rows,
    counts: countsOf([...rows.values()]),
    cents: cents(plan.total_cents),
    hands,
  };
}

function standsAt(history: History, unfinished: boolean): OpState {
  const state = stateOf(history);
  if (isDoneUntold(state, countsOf([...history.rows.values()]))) return 'untold';
  if (state !== 'finished') return state;
  if (history.denied !== undefined) return 'rejected';
  return unfinished ? 'untold' : 'finished';
}

export async function detailOf(dependencies: JournalDependencies, op: string): Promise<OpDetail> {
  const { store } = dependencies;
  const history = await historyToShow(store, op);
  const rows = [...history.rows.values()].map(row => rowOf(row, history));
  const [unfinished, hands] = [await isUnfinished(store, op), await handsIn(store, op)];
  return {
    ...(await summaryOf(dependencies, history, { unfinished, hands })),
    origin: history.plan.origin,
    rowsInDetail: rows,
    recorded: recordedNotes(history.rows.values()),
  };
}

async function handsIn(store: Asked['store'], op: string): Promise<Hands | undefined> {
  const found = await store.handsOf?.(op);
  return found && { holder: found.holder, host: found.host };
}

/** Not ended, or its end was not shown. */
export async function isUnfinished(store: Pick<OpStore, 'heads'>, wanted: string): Promise<boolean> {
  for await (const { op } of store.heads({ unfinished: true })) if (op === wanted) return true;
  return false;
}

/** As `historyNamed`; the error for a damaged journal says how it is taken out of the way. */
export function historyToShow(
  store: Pick<OpStore, 'read' | 'leastLength' | 'setAside' | 'auditLog'>,
  op: string,
): Promise<History> {
  return historyNamed(store, op).catch(async (thrown: unknown) => {
    if (!(thrown instanceof CliError) || thrown.kind !== 'check_failed' || (await isNewer(store, op))) throw thrown;
    throw damageShown(store, op, thrown);
  });
}

/** Whoever asks for the op itself is told the way on, not this command once more. */
function damageShown(store: Pick<OpStore, 'setAside' | 'auditLog'>, op: string, damage: CliError): CliError {
  const notes = [
    ...(damage.facts.notes ?? []),
    `The audit log has a line of each operation that was begun: ${store.auditLog}`,
    `When you know what it has done, ${store.setAside(op)}`,
  ];
  return damage.with({ notes, hint: 'cardwright ops list --state damaged' });
}

function rowOf(row: RowHistory, { plan }: History): OpRow {
  const { item, done, doubt, resolved, duplicate, looks, firstSent, lastSent } = row;
  const outcome = recordedOutcome(row, plan);
  const requestId = done?.request_id ?? doubt?.request_id ?? row.failed?.service?.request_id;
  const reason =
    outcome?.outcome === 'unknown' ? clause(doubt?.reason ?? 'no answer was written down') : outcome?.error?.message;
  const checkedAt = looks.at(-1)?.at;
  const cardId = cardOf(row);
  const amount = done?.amount ?? item.amount;
  const last4 = done?.last4 ?? firstSent?.before?.last4;
  return {
    row: item.row,
    state: row.state,
    operation: item.operation,
    ...(cardId !== undefined && { cardId }),
    ...(last4 !== undefined && { last4 }),
    ...(amount !== undefined && { amount: cents(amount) }),
    ...(item.label !== undefined && { label: item.label }),
    ...(item.intent !== undefined && { intent: item.intent }),
    ...(item.key !== undefined && { idempotencyKey: item.key }),
    ...(requestId !== undefined && { requestId }),
    ...(lastSent !== undefined && { sentAt: isoSeconds(lastSent.at), serviceSentAt: lastSent.service_at }),
    ...(reason !== undefined && { reason }),
    ...(looks.length > 0 && { checks: checksOf(row), found: looks.at(-1)?.found }),
    ...(checkedAt !== undefined && { checkedAt: isoSeconds(checkedAt) }),
    ...(resolved !== undefined && { resolved: recordedOf(resolved) }),
    ...(duplicate !== undefined && { duplicate: duplicate.ids }),
  };
}

function recordedOf({ as, note, at, who }: NonNullable<RowHistory['resolved']>): RecordedByHand {
  return { as, note, at: isoSeconds(at), ...(who !== ON_THIS_MACHINE && { who }) };
}

/** What the first line of a newer version says was said by all versions. */
function unreadable(op: string, plan: PlanRecord | undefined): OpSummary {
  if (plan === undefined || !(plan.version > JOURNAL_VERSION)) return damaged(op);
  const { command, profile, mode, rows, total_cents: total, at } = plan;
  const began = isoSeconds(at);
  const seen = { command, profile, mode, rows, started_at: began, last_at: began, cents: cents(total) };
  return { ...damaged(op), ...seen, state: 'newer' };
}

/** All that can be told of an op whose journal is damaged. */
export function damagedDetail(op: string): OpDetail {
  return { ...damaged(op), origin: '', rowsInDetail: [], recorded: [] };
}

function damaged(op: string): OpSummary {
  const state: OpState = 'damaged';
  const counts = { done: 0, refused: 0, unknown: 0, not_sent: 0, open: 0 };
  const nothing = { command: '', started_at: '', last_at: '', profile: '', mode: 'test' as const, rows: 0 };
  return { op, ...nothing, state, counts, cents: cents(0) };
}
